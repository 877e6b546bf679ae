import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { FittingLayouts, Layout, LayoutHead } from '../../api.ts';
import { deleteLayout, listFittingLayouts, readLayout } from '../../dashboard-api.ts';
import { type Action, type Resource, useAction, useResource } from '../../hooks.ts';
import { noLayout } from '../address.ts';
import { readLink, writeLink } from './link.ts';
import { type LayoutForm, readForm } from './model.ts';

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

/** The layout that the address names; without one, that with which the dashboard opens. */
export function useLayout(props: {
  dimensionId: string;
  /** Null: the address names none. */
  link: string | null;
  /** The address chooses channels: everyone who opens it sees those. */
  hasChannels: boolean;
  onLink: (link: string) => void;
}): OpenLayout {
  const { dimensionId, link } = props;
  const list = useResource(dimensionId, (signal) => listFittingLayouts(dimensionId, signal));
  const action = useAction();
  const { id, saved, keep, ...linked } = useLinked(link);
  const show = (layout: Layout) => {
    keep(layout);
    // One's own cannot be read by a colleague who opens the address.
    const whole =
      layout.scope === 'mine' ? writeLink({ id: layout.id, form: readForm(layout.layout) }) : null;
    props.onLink(whole ?? String(layout.id));
  };
  useEffect(() => {
    const first = list.data?.opens;
    if (first != null && link === null && !props.hasChannels) show(first);
  }, [list.data, link]);
  return {
    list,
    head: saved ?? list.data?.layouts.find((one) => one.id === id) ?? null,
    ...linked,
    action,
    change: (next) =>
      void action.run(async () => {
        const text = writeLink({ id, form: next });
        if (text === null) throw new Error('The layout is too large. Remove panels or channels.');
        props.onLink(text);
      }),
    choose: (chosen) => void action.run(async () => show(await readLayout(chosen))),
    saved: (layout) => {
      show(layout);
      list.reload();
    },
    close: () => props.onLink(noLayout),
    remove: async () => {
      if (id === null) return;
      await deleteLayout(id);
      props.onLink(noLayout);
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
