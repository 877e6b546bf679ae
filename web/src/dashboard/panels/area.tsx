import { useEffect, useState } from 'preact/hooks';
import '../../styles/panels.css';
import type { Dashboard, LayoutHead } from '../../api.ts';
import { deleteLayout, listFittingLayouts, readLayout } from '../../dashboard-api.ts';
import { useAction, useDarkScheme, useResource } from '../../hooks.ts';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Failure } from '../../ui/notice.tsx';
import type { World } from '../chart.tsx';
import type { Channel, Panel } from '../model.ts';
import { DerivedForm } from './derived-form.tsx';
import { formOf, type LayoutForm, readForm } from './model.ts';
import { PanelDialog } from './panel-form.tsx';
import { PanelGrid } from './panel-grid.tsx';
import { Playback } from './playback.tsx';
import { SaveLayout } from './save-layout.tsx';

type Open = 'panel' | 'derived' | 'save' | null;
const scopeNames = { mine: 'mine', template: 'template', project: 'project', everyone: 'everyone' };

/** Layouts: which one is open, its panels, and what changes and saves them. Null: the channels of the address. */
export function PanelArea(props: {
  dashboard: Dashboard;
  channels: Channel[];
  /** What stands there without a layout. */
  drawn: Panel[];
  layout: LayoutForm | null;
  onLayout: (layout: LayoutForm | null) => void;
  world: World;
}) {
  const { dashboard, channels, layout, onLayout, world } = props;
  const dimensionId = String(dashboard.id);
  const list = useResource(dimensionId, (signal) => listFittingLayouts(dimensionId, signal));
  const [head, setHead] = useState<LayoutHead | null>(null);
  const [open, setOpen] = useState<Open>(null);
  const [isOpened, setIsOpened] = useState(false);
  const action = useAction();
  const dark = useDarkScheme();
  useEffect(() => {
    const first = list.data?.opens;
    if (isOpened || list.data === null) return;
    setIsOpened(true);
    // An address that chooses channels shows those to whoever opens it.
    if (first == null || new URLSearchParams(location.search).has('channels')) return;
    setHead(first);
    onLayout(readForm(first.layout));
  }, [list.data]);
  const choose = (text: string) =>
    action.run(async () => {
      const chosen = text === '' ? null : await readLayout(Number(text));
      setHead(chosen);
      onLayout(chosen === null ? null : readForm(chosen.layout));
    });
  const form = layout ?? formOf(props.drawn);
  const numbers = [...new Set(channels.filter(({ kind }) => kind === 'number').map(({ name }) => name))];
  const steps = [...new Set(channels.map(({ name }) => name))];
  return (
    <>
      <div class="layout-bar" role="toolbar" aria-label="Layout">
        <label class="layout-choice">
          Layout
          <select
            class="select"
            aria-label="Layout"
            value={String(head?.id ?? '')}
            onChange={(event) => void choose(event.currentTarget.value)}
          >
            <option value="">{layout !== null && head === null ? 'Not saved' : 'None'}</option>
            {list.data?.layouts.map(({ id, name, scope }) => (
              <option key={id} value={String(id)}>
                {`${name} (${scopeNames[scope]})`}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="button button-small" onClick={() => setOpen('panel')}>
          <Icon name="plus" />
          Add panel
        </button>
        <button type="button" class="button button-small" onClick={() => setOpen('derived')}>
          Derived channels
        </button>
        {layout !== null && (
          <>
            <AxisChoice
              label="X axis"
              none="Time"
              value={layout.x}
              options={[...numbers, ...layout.derived.map(({ name }) => `=${name}`)]}
              onValue={(x) => onLayout({ ...layout, x })}
            />
            <AxisChoice
              label="Split by"
              none="Nothing"
              value={layout.split}
              options={steps}
              onValue={(split) => onLayout({ ...layout, split })}
            />
            <button type="button" class="button button-small" onClick={() => setOpen('save')}>
              Save layout
            </button>
            <Menu
              label="More for this layout"
              items={[
                { label: 'Close layout', icon: 'cross', act: () => void choose('') },
                ...(head?.mayChange === true
                  ? [
                      {
                        label: `Delete ${head.name}`,
                        icon: 'cross' as const,
                        danger: true,
                        act: () =>
                          void action.run(async () => {
                            await deleteLayout(head.id);
                            setHead(null);
                            onLayout(null);
                            list.reload();
                          }),
                      },
                    ]
                  : []),
              ]}
            />
          </>
        )}
        <Playback group={world.group} span={world.span} />
        <FullScreen />
        <span role="status">{action.problem}</span>
      </div>
      {list.error !== null && (
        <Failure what="The layouts could not be read." error={list.error} retry={list.reload} />
      )}
      {layout !== null && (
        <PanelGrid
          dimensionId={dimensionId}
          channels={channels}
          layout={layout}
          onLayout={onLayout}
          world={{ ...world, dark }}
        />
      )}
      {open === 'panel' && (
        <PanelDialog
          channels={channels}
          layout={form}
          panel={null}
          onClose={() => setOpen(null)}
          onPanel={(panel) => onLayout({ ...form, panels: [...form.panels, panel] })}
        />
      )}
      {open === 'derived' && (
        <DerivedForm
          dimensionId={dimensionId}
          layout={form}
          onClose={() => setOpen(null)}
          onLayout={onLayout}
        />
      )}
      {open === 'save' && layout !== null && (
        <SaveLayout
          dashboard={dashboard}
          head={head}
          layout={layout}
          onClose={() => setOpen(null)}
          onSaved={(saved) => {
            setHead(saved);
            onLayout(readForm(saved.layout));
            list.reload();
          }}
        />
      )}
    </>
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
