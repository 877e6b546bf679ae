import { useEffect, useState } from 'preact/hooks';
import '../../styles/dashboard/panels.css';
import type { Dashboard } from '../../api.ts';
import { useDarkScheme } from '../../hooks.ts';
import { isMissing } from '../../http.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Empty, Failure, Notice, Placeholder } from '../../ui/notice.tsx';
import { noLayout } from '../address.ts';
import type { World } from '../chart/props.ts';
import { type Channel, fullSpan, type Panel } from '../model.ts';
import { DeleteLayout } from './delete-layout.tsx';
import { DerivedForm } from './derived-form.tsx';
import { type Drawn, drawnBy, formOf, type LayoutForm, shownName } from './model.ts';
import { PanelDialog } from './panel-form.tsx';
import { PanelGrid } from './panel-grid.tsx';
import { Playback } from './playback.tsx';
import { SaveLayout } from './save-layout.tsx';
import { type OpenLayout, useLayout } from './use-layout.ts';

const nothing: Drawn = { keys: [], derived: [] };
type Open = 'panel' | 'derived' | 'save' | 'delete' | null;
const scopeNames = { mine: 'mine', template: 'template', project: 'project', everyone: 'everyone' };

/** Layouts: which one is open, its panels, and what changes and saves them. Without one: the channels of the address. */
export function PanelArea(props: {
  dashboard: Dashboard;
  channels: Channel[];
  /** What stands there without a layout. */
  drawn: Panel[];
  /** In the address; null: none. */
  link: string | null;
  hasChannels: boolean;
  /** @param replaces the layout before, to which Back does not lead then */
  onLink: (link: string, replaces: boolean) => void;
  /** Tells the keys of the stored channels of the panels, and their derived ones. */
  onDrawn: (drawn: Drawn) => void;
  world: World;
}) {
  const { dashboard, channels, world, link } = props;
  const layout = useLayout({ ...props, dimensionId: String(dashboard.id) });
  const { form, list } = layout;
  const [open, setOpen] = useState<Open>(null);
  useEffect(() => props.onDrawn(form === null ? nothing : drawnBy(form, channels)), [form, channels]);
  return (
    <>
      <LayoutBar layout={layout} link={link} channels={channels} onOpen={setOpen} world={world} />
      {list.error !== null && (
        <Failure what="The layouts could not be read." error={list.error} retry={list.reload} />
      )}
      <OpenPanels dashboard={dashboard} channels={channels} layout={layout} link={link} world={world} />
      <LayoutDialog
        dashboard={dashboard}
        channels={channels}
        layout={layout}
        base={form ?? formOf(props.drawn)}
        open={open}
        onClose={() => setOpen(null)}
      />
    </>
  );
}

/** The panels of the open layout, or why they are not there. */
function OpenPanels(props: {
  dashboard: Dashboard;
  channels: Channel[];
  layout: OpenLayout;
  link: string | null;
  world: World;
}) {
  const { dashboard, channels, layout, link } = props;
  const { form, error, retry } = layout;
  const dark = useDarkScheme();
  const kind = channels[0]?.timeKind ?? 'absolute';
  const ofRelative = props.world.clock === 'rows' ? ('rows' as const) : ('elapsed' as const);
  const session = {
    sessionId: dashboard.sessionId,
    startMs: fullSpan(dashboard, kind)?.fromMs ?? 0,
    axis: kind === 'absolute' ? ('clock' as const) : ofRelative,
  };
  return (
    <>
      {error !== null && <NotShown error={error} retry={retry} close={layout.close} />}
      {form?.panels.length === 0 && (
        <Empty title="No panels left">
          <p>Add a panel, or close the layout.</p>
        </Empty>
      )}
      {form !== null && (
        <PanelGrid
          dimensionId={String(dashboard.id)}
          session={session}
          channels={channels}
          layout={form}
          onLayout={layout.change}
          world={{ ...props.world, dark }}
        />
      )}
      {form === null && error === null && link !== null && link !== noLayout && (
        <Placeholder rows={4} label="Loading the layout" />
      )}
    </>
  );
}

/** Why a layout is not there: it is tried again, or closed where that would fail again. */
function NotShown(props: { error: Error; retry: OpenLayout['retry']; close: () => void }) {
  const { error, retry, close } = props;
  const what = 'The layout could not be shown.';
  const isGone = isMissing(error);
  if (retry !== null && !isGone) return <Failure what={what} error={error} retry={retry} />;
  const closing = (
    <button type="button" class="button button-small" onClick={close}>
      Close layout
    </button>
  );
  return (
    <Notice tone="error" action={closing}>
      <strong>{what}</strong> {isGone ? 'It was deleted, or it is no longer shared with you.' : error.message}
    </Notice>
  );
}

/** The window that changes or saves the layout. */
function LayoutDialog(props: {
  dashboard: Dashboard;
  channels: readonly Channel[];
  layout: OpenLayout;
  /** The layout, or what is shown without one. */
  base: LayoutForm;
  open: Open;
  onClose: () => void;
}) {
  const { dashboard, channels, layout, base, open, onClose } = props;
  return (
    <>
      {open === 'panel' && (
        <PanelDialog
          channels={channels}
          layout={base}
          panel={null}
          onClose={onClose}
          onPanel={(panel) => layout.change({ ...base, panels: [...base.panels, panel] })}
        />
      )}
      {open === 'derived' && (
        <DerivedForm
          dimensionId={String(dashboard.id)}
          layout={base}
          onClose={onClose}
          onLayout={layout.change}
        />
      )}
      {open === 'save' && layout.form !== null && (
        <SaveLayout
          dashboard={dashboard}
          head={layout.head}
          layout={layout.form}
          onClose={onClose}
          onSaved={layout.saved}
        />
      )}
      {open === 'delete' && layout.head !== null && (
        <DeleteLayout head={layout.head} remove={layout.remove} onClose={onClose} />
      )}
    </>
  );
}

function LayoutBar(props: {
  layout: OpenLayout;
  link: string | null;
  channels: readonly Channel[];
  onOpen: (open: Open) => void;
  world: World;
}) {
  const { layout, channels, onOpen, world } = props;
  const { form, head, list } = layout;
  const isNone = props.link === null || props.link === noLayout;
  const items: MenuItem[] = [{ label: 'Close layout', icon: 'cross', act: layout.close }];
  if (head?.mayChange === true)
    items.push({ label: `Delete ${head.name}`, icon: 'bin', danger: true, act: () => onOpen('delete') });
  const saved = list.data?.layouts.map(({ id, name, scope }) => ({
    value: String(id),
    label: `${name} (${scopeNames[scope]})`,
  }));
  return (
    <div class="layout-bar" role="toolbar" aria-label="Layout">
      <BarChoice
        label="Layout"
        none={form !== null && head === null ? 'Not saved' : 'None'}
        value={head === null ? null : String(head.id)}
        options={saved ?? []}
        onValue={(id) => (id === null ? layout.close() : layout.choose(Number(id)))}
      />
      <button type="button" class="button button-small" onClick={() => onOpen('panel')}>
        <Icon name="plus" />
        Add panel
      </button>
      <button type="button" class="button button-small" onClick={() => onOpen('derived')}>
        Derived channels
      </button>
      {form !== null && (
        <>
          <AxisChoices form={form} channels={channels} change={layout.change} />
          <button type="button" class="button button-small" onClick={() => onOpen('save')}>
            Save layout
          </button>
        </>
      )}
      {!isNone && <Menu label="More for this layout" items={items} />}
      <Playback group={world.group} span={world.span} hasRows={world.clock === 'rows'} />
      <FullScreen />
      <span role="status">{layout.action.problem}</span>
    </div>
  );
}

/** What the panels of curves are drawn over, and by what they are split into traces. */
function AxisChoices(props: {
  form: LayoutForm;
  channels: readonly Channel[];
  change: (form: LayoutForm) => void;
}) {
  const { form, channels, change } = props;
  const namesOf = (some: readonly Channel[]) => [...new Set(some.map(({ name }) => name))];
  const numbers = namesOf(channels.filter(({ kind }) => kind === 'number'));
  const named = (names: readonly string[]) => names.map((name) => ({ value: name, label: shownName(name) }));
  return (
    <>
      <BarChoice
        label="X axis"
        none="Time"
        value={form.x}
        options={named([...numbers, ...form.derived.map(({ name }) => `=${name}`)])}
        onValue={(x) => change({ ...form, x })}
      />
      <BarChoice
        label="Split by"
        none="Nothing"
        value={form.split}
        options={named(namesOf(channels))}
        onValue={(split) => change({ ...form, split })}
      />
    </>
  );
}

/** A select of the bar. Its first entry is none of the options: null. */
function BarChoice(props: {
  label: string;
  none: string;
  value: string | null;
  options: readonly { value: string; label: string }[];
  onValue: (value: string | null) => void;
}) {
  return (
    <label class="layout-choice">
      {props.label}
      <select
        class="select"
        aria-label={props.label}
        value={props.value ?? ''}
        onChange={(event) => props.onValue(event.currentTarget.value || null)}
      >
        <option value="">{props.none}</option>
        {props.options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The charts alone on the whole screen. */
function FullScreen() {
  if (!document.fullscreenEnabled) return null;
  return (
    <button
      type="button"
      class="button button-small"
      onClick={(event) => {
        const charts = event.currentTarget.closest('.charts');
        // A browser that refuses leaves the page as it is.
        const done =
          document.fullscreenElement === null ? charts?.requestFullscreen() : document.exitFullscreen();
        done?.catch(() => undefined);
      }}
    >
      Full screen
    </button>
  );
}
