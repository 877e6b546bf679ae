import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { FittingLayouts, Layout, LayoutHead } from '../../api.ts';
import { deleteLayout, listFittingLayouts, readLayout } from '../../dashboard-api.ts';
import { type Action, type Resource, useAction, useResource } from '../../hooks.ts';
import { noLayout } from '../address.ts';
import { readLink, writeLink } from './link.ts';
import { type LayoutForm, readForm } from './model.ts';
import { most } from './read-form.ts';

export interface OpenLayout {
  list: Resource<FittingLayouts>;
  /** The head of the saved layout that is open. */
  head: LayoutHead | null;
  /** Null: none. */
  form: LayoutForm | null;
  /** Why the layout of the address is not shown. */
  error: Error | null;
  /** Null where it would fail again. */
  retry: (() => void) | null;
  action: Action;
  change: (form: LayoutForm) => void;
  choose: (id: number) => void;
  saved: (layout: Layout) => void;
  close: () => void;
  /** Deletes the saved layout that is open. */
  remove: () => Promise<void>;
}

/** @throws {Error} for a layout that no address and no platform takes */
function linkOf(id: number | null, form: LayoutForm): string {
  const text = writeLink({ id, form });
  if (text === null) throw new Error('The layout is too large. Remove panels or channels.');
  if (readLink(text) === null) throw new Error(tooMuch);
  return text;
}

const tooMuch = `A layout has at most ${most.panels} panels, ${most.channels} channels in each, and ${most.derived} derived channels.`;

/** The layout that the address names; without one, that with which the dashboard opens. */
export function useLayout(props: {
  dimensionId: string;
  /** Null: the address names none. */
  link: string | null;
  /** The address chooses channels: everyone who opens it sees those. */
  hasChannels: boolean;
  /** @param replaces the layout before, to which Back does not lead then */
  onLink: (link: string, replaces: boolean) => void;
}): OpenLayout {
  const { dimensionId, link } = props;
  const list = useResource(dimensionId, (signal) => listFittingLayouts(dimensionId, signal));
  const action = useAction();
  const { id, saved, keep, ...linked } = useLinked(link);
  const show = (layout: Layout, replaces: boolean) => {
    keep(layout);
    // One's own cannot be read by a colleague who opens the address.
    const whole =
      layout.scope === 'mine' ? writeLink({ id: layout.id, form: readForm(layout.layout) }) : null;
    props.onLink(whole ?? String(layout.id), replaces);
  };
  useEffect(() => {
    const first = list.data?.opens;
    if (first != null && link === null && !props.hasChannels) show(first, true);
  }, [list.data, link]);
  return {
    list,
    head: saved ?? list.data?.layouts.find((one) => one.id === id) ?? null,
    ...linked,
    action,
    change: (next) =>
      void action.run(async () => {
        // Back brings removed panels back.
        const loses = linked.form !== null && next.panels.length < linked.form.panels.length;
        props.onLink(linkOf(id, next), !loses);
      }),
    // Back leads to the panels before: they may not be saved.
    choose: (chosen) => void action.run(async () => show(await readLayout(chosen), false)),
    saved: (layout) => {
      show(layout, true);
      list.reload();
    },
    close: () => props.onLink(noLayout, false),
    remove: async () => {
      if (id === null) return;
      await deleteLayout(id);
      props.onLink(noLayout, true);
      list.reload();
    },
  };
}

/** The layout that a link names, as it is saved or as it was changed. What is kept is not read again. */
function useLinked(link: string | null) {
  const known = useRef(new Map<number, Layout>());
  const keep = (layout: Layout) => known.current.set(layout.id, layout);
  const linked = useMemo(() => (link === null ? null : readLink(link)), [link]);
  const isBroken = link !== null && linked === null;
  const storedId = linked?.form === null ? linked.id : null;
  const stored = useResource(storedId === null ? '' : `layout ${storedId}`, async (signal) => {
    if (storedId === null) return null;
    const held = known.current.get(storedId) ?? (await readLayout(storedId, signal));
    keep(held);
    return held;
  });
  const saved = storedId === null ? null : stored.data;
  const form = useMemo(() => linked?.form ?? (saved && readForm(saved.layout)), [linked, saved]);
  return {
    id: linked?.id ?? null,
    /** Null for one that was changed, and until it is read. */
    saved,
    form,
    error: isBroken ? new Error('The address holds no layout that can be read.') : stored.error,
    retry: isBroken ? null : stored.reload,
    keep,
  };
}
