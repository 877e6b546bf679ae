import { useState } from 'preact/hooks';
import type { ChannelSeries } from '../../api.ts';
import { askSeries, askStatistics } from '../../dashboard-api.ts';
import { useResource } from '../../hooks.ts';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Failure } from '../../ui/notice.tsx';
import { Chart, type World } from '../chart.tsx';
import type { Channel } from '../model.ts';
import { CursorTable } from './cursor-table.tsx';
import {
  binQuestion,
  channelsNamed,
  type LayoutForm,
  merged,
  moved,
  type PanelForm,
  pair,
  panelOf,
  separated,
  traceOf,
  withPanel,
} from './model.ts';
import { PanelDialog } from './panel-form.tsx';
import { Bars, Plot } from './plot.tsx';

/** Charts get as many points as a screen has columns, XY and track more. */
const pointsOf = (kind: PanelForm['kind']) => (kind === 'xy' || kind === 'track' ? 10_000 : 2000);

interface GridProps {
  dimensionId: string;
  channels: Channel[];
  layout: LayoutForm;
  onLayout: (layout: LayoutForm) => void;
  world: World & { dark: boolean };
}

/** The panels of a layout, in twelve columns. */
export function PanelGrid(props: GridProps) {
  const [edited, setEdited] = useState<number | null>(null);
  const { layout, onLayout } = props;
  const panel = edited === null ? undefined : layout.panels[edited];
  return (
    <div class="panel-grid">
      {layout.panels.map((form, index) => (
        <div
          key={`${index} ${form.kind} ${form.channels.join('\n')}`}
          class="panel-cell"
          style={{ '--panel-width': form.width }}
        >
          <PanelView {...props} form={form} index={index} />
          <Menu
            label={`Arrange panel ${index + 1}`}
            items={arrangements(props, form, index, () => setEdited(index))}
          />
        </div>
      ))}
      {edited !== null && panel !== undefined && (
        <PanelDialog
          channels={props.channels}
          layout={layout}
          panel={panel}
          onPanel={(next) => onLayout(withPanel(layout, edited, next))}
          onClose={() => setEdited(null)}
        />
      )}
    </div>
  );
}

function arrangements(
  { layout, onLayout }: GridProps,
  form: PanelForm,
  index: number,
  edit: () => void,
): MenuItem[] {
  const { kind, width, height } = form;
  const next = layout.panels[index + 1];
  const sized = (change: Partial<PanelForm>) => () => onLayout(withPanel(layout, index, change));
  const items: (MenuItem | false)[] = [
    { label: 'Edit panel', icon: 'plus', act: edit },
    index > 0 && { label: 'Move forward', icon: 'left', act: () => onLayout(moved(layout, index, -1)) },
    next !== undefined && { label: 'Move back', icon: 'right', act: () => onLayout(moved(layout, index, 1)) },
    width > 3 && { label: 'Narrower', icon: 'minus', act: sized({ width: width - 3 }) },
    width < 12 && { label: 'Wider', icon: 'plus', act: sized({ width: Math.min(12, width + 3) }) },
    height > 160 && { label: 'Lower', icon: 'minus', act: sized({ height: height - 80 }) },
    height < 800 && { label: 'Higher', icon: 'plus', act: sized({ height: height + 80 }) },
    kind === 'lines' &&
      next?.kind === 'lines' && {
        label: 'Merge with the next',
        icon: 'columns',
        act: () => onLayout(merged(layout, index)),
      },
    kind === 'lines' &&
      form.channels.length > 1 && {
        label: 'A panel for each channel',
        icon: 'columns',
        act: () => onLayout(separated(layout, index)),
      },
    layout.panels.length > 1 && {
      label: 'Remove panel',
      icon: 'cross',
      danger: true,
      act: () => onLayout({ ...layout, panels: layout.panels.filter((_, at) => at !== index) }),
    },
  ];
  return items.filter((item) => item !== false);
}

function PanelView(props: GridProps & { form: PanelForm; index: number }) {
  const { dimensionId, channels, layout, form, world } = props;
  const members = form.channels.flatMap((name) => channelsNamed(name, channels, layout.derived));
  const isOverX = form.kind === 'lines' && (layout.x !== null || layout.split !== null);
  const used = layout.derived.filter(
    ({ name }) => form.channels.includes(`=${name}`) || (isOverX && layout.x === `=${name}`),
  );
  const stored = members.map(({ key }) => key).filter((key) => !key.startsWith('='));
  const question = {
    channels: stored,
    from: new Date(world.span.fromMs).toISOString(),
    to: new Date(world.span.toMs).toISOString(),
    derived: used,
    maxPoints: pointsOf(form.kind),
    ...(isOverX && layout.x !== null ? { x: layout.x } : {}),
    ...(isOverX && layout.split !== null ? { split: layout.split } : {}),
  };
  const isEmpty = members.length === 0;
  const read = useResource(
    JSON.stringify([dimensionId, question]),
    async (signal) => (isEmpty ? [] : (await askSeries(dimensionId, question, signal)).series),
    { keepWhileLoading: true },
  );
  const title =
    form.title || [...new Set(members.map(({ name }) => name))].join(', ') || form.channels.join(', ');
  if (read.error !== null)
    return <Failure what={`${title} could not be read.`} error={read.error} retry={read.reload} />;
  const series = (read.data ?? []).filter(
    ({ channel }) => form.channels.includes(channel) || !channel.startsWith('='),
  );
  const byKey = new Map(series.map((one) => [one.channel, one]));
  if (form.kind === 'lines' && !isOverX) {
    return (
      <Chart
        {...world}
        panel={panelOf(form, props.index, members)}
        series={byKey}
        busy={read.loading}
        onSpeak={() => undefined}
        onRemove={(key) => {
          const gone = members.find((member) => member.key === key);
          const kept = form.channels.filter((name) => name !== key && name !== gone?.name);
          if (kept.length > 0) props.onLayout(withPanel(layout, props.index, { channels: kept }));
        }}
      />
    );
  }
  return (
    <section class="chart" aria-label={title} aria-busy={read.loading}>
      <header class="chart-head">
        <h2>{title}</h2>
      </header>
      {isEmpty ? (
        <p class="faint plot-none">This dashboard has none of its channels.</p>
      ) : (
        <PanelBody {...props} members={members} byKey={byKey} series={series} isOverX={isOverX} />
      )}
    </section>
  );
}

interface BodyProps extends GridProps {
  form: PanelForm;
  members: Channel[];
  byKey: ReadonlyMap<string, ChannelSeries>;
  series: readonly ChannelSeries[];
  isOverX: boolean;
}

function PanelBody(props: BodyProps) {
  const { form, members, byKey, series, layout, world } = props;
  const { group } = world;
  const labelled = (one: Channel | undefined) =>
    one === undefined ? '' : one.unit === '' ? one.name : `${one.name} [${one.unit}]`;
  const [first, second] = members;
  const shared = { height: form.height, group };
  if (form.kind === 'table') return <CursorTable members={members} byKey={byKey} group={group} />;
  if (form.kind === 'histogram')
    return (
      <>
        {members.map((member) => (
          <Histogram key={member.key} {...props} member={member} label={labelled(member)} />
        ))}
      </>
    );
  if (props.isOverX) {
    const across = layout.x ?? 'seconds of each trace';
    const traces = series.map(traceOf);
    return (
      <>
        <Plot
          {...shared}
          label={`${members.map(({ name }) => name).join(', ')} over ${across}`}
          traces={traces}
          as="line"
          across={across}
          up={labelled(first)}
        />
        <ul class="plot-legend">
          {traces.map((trace, index) => (
            <li key={trace.name} class={`plot-key plot-key-${(index % 8) + 1}`}>
              {trace.name}
            </li>
          ))}
        </ul>
      </>
    );
  }
  const [across, up] = [byKey.get(first?.key ?? ''), byKey.get(second?.key ?? '')];
  if (across === undefined || up === undefined) return null;
  if (form.kind === 'track')
    return (
      <Plot
        {...shared}
        label={`Track of ${first?.name} and ${second?.name}`}
        traces={[pair(up, across, 'track')]}
        isMap
        as="line"
        across={labelled(second)}
        up={labelled(first)}
      />
    );
  const traces = members.slice(1).flatMap(({ key, name }) => {
    const one = byKey.get(key);
    return one === undefined ? [] : [pair(across, one, name)];
  });
  return (
    <Plot
      {...shared}
      label={`${members
        .slice(1)
        .map(({ name }) => name)
        .join(', ')} over ${first?.name}`}
      traces={traces}
      as="dots"
      across={labelled(first)}
      up={labelled(second)}
    />
  );
}

/** Counted over every row of the window, by the means of channels that are 1 within a bin. */
function Histogram(props: BodyProps & { member: Channel; label: string }) {
  const { dimensionId, layout, world, member } = props;
  const window = {
    from: new Date(world.span.fromMs).toISOString(),
    to: new Date(world.span.toMs).toISOString(),
  };
  const isDerived = member.key.startsWith('=');
  const found = useResource(
    JSON.stringify([dimensionId, member.key, layout.derived, window]),
    async (signal) => {
      const whole = await askStatistics(
        dimensionId,
        {
          ...window,
          channels: isDerived ? [] : [member.key],
          derived: layout.derived.filter(({ name }) => `=${name}` === member.key),
        },
        signal,
      );
      const { min, max } = whole.statistics[0] ?? {};
      if (min == null || max == null) return null;
      const scale =
        min.value < max.value
          ? { min: min.value, max: max.value }
          : { min: min.value - 0.5, max: max.value + 0.5 };
      const derived = binQuestion(member.key, layout.derived, scale);
      const { statistics } = await askStatistics(dimensionId, { ...window, channels: [], derived }, signal);
      return { scale, shares: statistics.map(({ mean }) => mean ?? 0) };
    },
  );
  if (found.error !== null)
    return <Failure what="The values could not be counted." error={found.error} retry={found.reload} />;
  if (found.data === null)
    return <p class="faint plot-none">{found.loading ? 'Counting values' : 'No values in this range.'}</p>;
  return (
    <Bars
      label={`How often each value of ${member.name} is`}
      scale={found.data.scale}
      shares={found.data.shares}
      across={props.label}
      height={props.form.height}
    />
  );
}
