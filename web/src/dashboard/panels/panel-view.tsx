import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../../client/errors.ts';
import type { ChannelSeries } from '../../api.ts';
import { askSeries } from '../../dashboard-api.ts';
import { useResource } from '../../hooks.ts';
import { textOf } from '../../http.ts';
import { Failure } from '../../ui/notice.tsx';
import { Chart } from '../chart/chart.tsx';
import type { ChartGroup } from '../chart/group.ts';
import { Swatch } from '../chart/head.tsx';
import type { World } from '../chart/props.ts';
import { MediaPanel } from '../media/media-panel.tsx';
import type { Channel } from '../model.ts';
import { CursorTable } from './cursor-table.tsx';
import { Histogram } from './histogram.tsx';
import {
  channelsNamed,
  type LayoutForm,
  type PanelForm,
  pair,
  panelOf,
  titleOf,
  traceOf,
  withPanel,
} from './model.ts';
import { type Drawing, type Held, Plot, wholeOf } from './plot.tsx';
import { TextPanel } from './text-panel.tsx';

/** Charts get as many points as a screen has columns, XY and track more. */
const pointsOf = (kind: PanelForm['kind']) => (kind === 'xy' || kind === 'track' ? 10_000 : 2000);

export interface GridProps {
  dimensionId: string;
  session: { sessionId: string; startMs: number };
  channels: Channel[];
  layout: LayoutForm;
  onLayout: (layout: LayoutForm) => void;
  world: World & { dark: boolean };
  /** Tells why a panel cannot be drawn over the x axis of the layout; null: it can. */
  onAxisFault: (index: number, fault: string | null) => void;
}

export function PanelView(props: GridProps & { form: PanelForm; index: number }) {
  const { form, world } = props;
  if (form.kind === 'text') {
    return (
      <TextPanel
        title={titleOf(form, [], [])}
        text={form.text}
        height={form.height}
        onText={(text) => props.onLayout(withPanel(props.layout, props.index, { text }))}
      />
    );
  }
  if (form.kind !== 'media') return <ChannelPanel {...props} />;
  return (
    <MediaPanel
      {...props.session}
      title={titleOf(form, [], [])}
      part={form.output}
      height={form.height}
      group={world.group}
      span={world.span}
    />
  );
}

function ChannelPanel(props: GridProps & { form: PanelForm; index: number }) {
  const { dimensionId, channels, layout, form, world } = props;
  const members = form.channels.flatMap((name) => channelsNamed(name, channels, layout.derived));
  const isOverX = form.kind === 'lines' && (layout.x !== null || layout.split !== null);
  const used = layout.derived.filter(
    ({ name }) => form.channels.includes(`=${name}`) || (isOverX && layout.x === `=${name}`),
  );
  // Words are no curve over another channel.
  const drawn = isOverX ? members.filter((member) => member.kind !== 'text') : members;
  const stored = drawn.map(({ key }) => key).filter((key) => !key.startsWith('='));
  const question = {
    channels: stored,
    from: new Date(world.span.fromMs).toISOString(),
    to: new Date(world.span.toMs).toISOString(),
    derived: used,
    maxPoints: pointsOf(form.kind),
    ...(isOverX && layout.x !== null ? { x: layout.x } : {}),
    ...(isOverX && layout.split !== null ? { split: layout.split } : {}),
  };
  const isEmpty = drawn.length === 0;
  const read = useResource(
    JSON.stringify([dimensionId, question]),
    async (signal) => (isEmpty ? [] : (await askSeries(dimensionId, question, signal)).series),
    { keepWhileLoading: true },
  );
  const title = titleOf(form, channels, layout.derived);
  // All panels over this axis have it: it is said once, above them.
  const axisFault = isOverX && isRefused(read.error) ? textOf(read.error) : null;
  useEffect(() => {
    props.onAxisFault(props.index, axisFault);
    return () => props.onAxisFault(props.index, null);
  }, [axisFault]);
  if (axisFault !== null) return <EmptyPanel title={title} text="Not drawn over this axis." />;
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
        height={form.height}
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
  const body = { ...props, members: drawn, byKey, series, isOverX };
  const drawing = isEmpty ? null : drawingOf(body);
  if (drawing !== null) {
    return (
      <PlotSection
        key={`${layout.x} ${layout.split}`}
        title={title}
        busy={read.loading}
        drawing={drawing}
        height={form.height}
        group={world.group}
      />
    );
  }
  if (isEmpty) {
    const text =
      members.length > 0 ? 'Words are drawn over time only.' : 'This dashboard has none of its channels.';
    return <EmptyPanel title={title} text={text} />;
  }
  return (
    <section class="chart" aria-label={title} aria-busy={read.loading}>
      <header class="chart-head">
        <h2>{title}</h2>
      </header>
      <PanelBody {...body} />
    </section>
  );
}

const isRefused = (error: Error | null): error is ApiError =>
  error instanceof ApiError && error.status === 400;

function EmptyPanel({ title, text }: { title: string; text: string }) {
  return (
    <section class="chart">
      <header class="chart-head">
        <h2>{title}</h2>
      </header>
      <p class="faint plot-none">{text}</p>
    </section>
  );
}

/** A plot with its title, legend and the lock of its axes. */
function PlotSection(props: {
  title: string;
  busy: boolean;
  drawing: Drawing;
  height: number;
  group: ChartGroup;
}) {
  const { title, drawing } = props;
  const { traces } = drawing;
  const [held, setHeld] = useState<Held | null>(null);
  const whole = wholeOf(drawing);
  return (
    <section class="chart" aria-label={title} aria-busy={props.busy}>
      <header class="chart-head">
        <h2>{title}</h2>
        <div class="chart-tools">
          <button
            type="button"
            class="chart-tool"
            aria-pressed={held !== null}
            title="Keep the range of both axes. Drag a box to zoom, double-click for everything."
            onClick={() => setHeld(held === null ? whole : null)}
          >
            Lock
          </button>
        </div>
      </header>
      <Plot drawing={drawing} height={props.height} group={props.group} held={held} onHold={setHeld} />
      {traces.length > 1 && (
        <ul class="plot-legend">
          {traces.map(({ name }, index) => (
            <li key={name} class="plot-key">
              <Swatch index={index % 8} />
              <span>{name}</span>
            </li>
          ))}
        </ul>
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

const labelled = (one: Channel | undefined) =>
  one === undefined ? '' : one.unit === '' ? one.name : `${one.name} [${one.unit}]`;

function PanelBody(props: BodyProps) {
  const { form, members, byKey, world } = props;
  if (form.kind === 'table') return <CursorTable members={members} byKey={byKey} group={world.group} />;
  return (
    <>
      {members.map((member) => (
        <Histogram key={member.key} {...props} member={member} label={labelled(member)} />
      ))}
    </>
  );
}

/** What is drawn over another channel; null for panels of other kinds. */
function drawingOf({ form, members, byKey, series, layout, isOverX }: BodyProps): Drawing | null {
  const [first, second] = members;
  const names = (channels: readonly Channel[]) => channels.map(({ name }) => name).join(', ');
  if (isOverX) {
    const across = layout.x ?? 'seconds of each trace';
    const label = `${names(members)} over ${across}`;
    const traces = series.map((one) => traceOf(one, layout.split, members.length === 1));
    return { label, traces, as: 'line', across, up: labelled(first), isMap: false };
  }
  if (form.kind !== 'track' && form.kind !== 'xy') return null;
  const [across, up] = [byKey.get(first?.key ?? ''), byKey.get(second?.key ?? '')];
  if (form.kind === 'track') {
    return {
      label: `Track of ${first?.name} and ${second?.name}`,
      traces: across === undefined || up === undefined ? [] : [pair(up, across, 'track')],
      as: 'line',
      across: labelled(second),
      up: labelled(first),
      isMap: true,
    };
  }
  const traces = members.slice(1).flatMap(({ key, name }) => {
    const one = byKey.get(key);
    return one === undefined || across === undefined ? [] : [pair(across, one, name)];
  });
  const label = `${names(members.slice(1))} over ${first?.name}`;
  return { label, traces, as: 'dots', across: labelled(first), up: labelled(second), isMap: false };
}
