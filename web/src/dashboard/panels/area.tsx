import { useEffect, useState } from 'preact/hooks';
import '../../styles/dashboard/panels.css';
import type { Dashboard } from '../../api.ts';
import { useDarkScheme } from '../../hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Failure, Placeholder } from '../../ui/notice.tsx';
import { noLayout } from '../address.ts';
import type { World } from '../chart/props.ts';
import { type Channel, fullSpan, type Panel } from '../model.ts';
import { DerivedForm } from './derived-form.tsx';
import { type Drawn, drawnBy, formOf } from './model.ts';
import { PanelDialog } from './panel-form.tsx';
import { PanelGrid } from './panel-grid.tsx';
import { Playback } from './playback.tsx';
import { SaveLayout } from './save-layout.tsx';
import { type OpenLayout, useLayout } from './use-layout.ts';

const nothing: Drawn = { keys: [], derived: [] };
type Open = 'panel' | 'derived' | 'save' | null;
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
  onLink: (link: string) => void;
  /** Tells the keys of the stored channels of the panels, and their derived ones. */
  onDrawn: (drawn: Drawn) => void;
  world: World;
}) {
  const { dashboard, channels, world, link } = props;
  const dimensionId = String(dashboard.id);
  const layout = useLayout({ ...props, dimensionId });
  const { form, list } = layout;
  const [open, setOpen] = useState<Open>(null);
  const dark = useDarkScheme();
  useEffect(() => props.onDrawn(form === null ? nothing : drawnBy(form, channels)), [form, channels]);
  const kind = channels[0]?.timeKind ?? 'absolute';
  const session = { sessionId: dashboard.sessionId, startMs: fullSpan(dashboard, kind)?.fromMs ?? 0 };
  const base = form ?? formOf(props.drawn);
  const close = () => setOpen(null);
  return (
    <>
      <LayoutBar layout={layout} link={link} channels={channels} onOpen={setOpen} world={world} />
      {list.error !== null && (
        <Failure what="The layouts could not be read." error={list.error} retry={list.reload} />
      )}
      {layout.error !== null && (
        <Failure
          what="The layout could not be shown."
          error={layout.error}
          {...(layout.retry === null ? {} : { retry: layout.retry })}
        />
      )}
      {form !== null && (
        <PanelGrid
          dimensionId={dimensionId}
          session={session}
          channels={channels}
          layout={form}
          onLayout={layout.change}
          world={{ ...world, dark }}
        />
      )}
      {form === null && layout.error === null && link !== null && link !== noLayout && (
        <Placeholder rows={4} label="Loading the layout" />
      )}
      {open === 'panel' && (
        <PanelDialog
          channels={channels}
          layout={base}
          panel={null}
          onClose={close}
          onPanel={(panel) => layout.change({ ...base, panels: [...base.panels, panel] })}
        />
      )}
      {open === 'derived' && (
        <DerivedForm dimensionId={dimensionId} layout={base} onClose={close} onLayout={layout.change} />
      )}
      {open === 'save' && form !== null && (
        <SaveLayout
          dashboard={dashboard}
          head={layout.head}
          layout={form}
          onClose={close}
          onSaved={layout.saved}
        />
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
  const { form, head, list, change } = layout;
  const isNone = props.link === null || props.link === noLayout;
  const numbers = [...new Set(channels.filter(({ kind }) => kind === 'number').map(({ name }) => name))];
  const steps = [...new Set(channels.map(({ name }) => name))];
  const items: MenuItem[] = [{ label: 'Close layout', icon: 'cross', act: layout.close }];
  if (head?.mayChange === true)
    items.push({ label: `Delete ${head.name}`, icon: 'cross', danger: true, act: layout.remove });
  return (
    <div class="layout-bar" role="toolbar" aria-label="Layout">
      <label class="layout-choice">
        Layout
        <select
          class="select"
          aria-label="Layout"
          value={String(head?.id ?? '')}
          onChange={(event) => {
            const { value } = event.currentTarget;
            if (value === '') layout.close();
            else layout.choose(Number(value));
          }}
        >
          <option value="">{form !== null && head === null ? 'Not saved' : 'None'}</option>
          {list.data?.layouts.map(({ id, name, scope }) => (
            <option key={id} value={String(id)}>
              {`${name} (${scopeNames[scope]})`}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="button button-small" onClick={() => onOpen('panel')}>
        <Icon name="plus" />
        Add panel
      </button>
      <button type="button" class="button button-small" onClick={() => onOpen('derived')}>
        Derived channels
      </button>
      {form !== null && (
        <>
          <AxisChoice
            label="X axis"
            none="Time"
            value={form.x}
            options={[...numbers, ...form.derived.map(({ name }) => `=${name}`)]}
            onValue={(x) => change({ ...form, x })}
          />
          <AxisChoice
            label="Split by"
            none="Nothing"
            value={form.split}
            options={steps}
            onValue={(split) => change({ ...form, split })}
          />
          <button type="button" class="button button-small" onClick={() => onOpen('save')}>
            Save layout
          </button>
        </>
      )}
      {!isNone && <Menu label="More for this layout" items={items} />}
      <Playback group={world.group} span={world.span} />
      <FullScreen />
      <span role="status">{layout.action.problem}</span>
    </div>
  );
}

function AxisChoice(props: {
  label: string;
  none: string;
  value: string | null;
  options: readonly string[];
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
        {props.options.map((name) => (
          <option key={name} value={name}>
            {name}
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
