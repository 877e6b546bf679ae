import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../../client/errors.ts';
import type { ChannelSeries } from '../../api.ts';
import { askSeries } from '../../dashboard-api.ts';
import { useResource } from '../../hooks.ts';
import { textOf } from '../../http.ts';
import { Failure } from '../../ui/notice.tsx';
import { Chart } from '../chart/chart.tsx';
import type { ChartGroup } from '../chart/group.ts';
import { ChartTool, Swatch } from '../chart/head.tsx';
import type { World } from '../chart/props.ts';
import { MediaPanel } from '../media/media-panel.tsx';
import type { AxisKind } from '../media/model.ts';
import { type Channel, legendName } from '../model.ts';
import { PanelSection } from '../panel-section.tsx';
import { CursorTable } from './cursor-table.tsx';
import { eachRecording, type Member } from './derived-members.ts';
import { type Drawing, drawingOf, type Held, labelled, wholeOf } from './drawing.ts';
import { Histogram } from './histogram.tsx';
import { channelsNamed, type LayoutForm, type PanelForm, panelOf, titleOf, withPanel } from './model.ts';
import { Plot } from './plot.tsx';
import { TextPanel } from './text-panel.tsx';

/** One channel is drawn over another. */
const isPaired = (kind: PanelForm['kind']) => kind === 'xy' || kind === 'track';
/** Charts get as many points as a screen has columns, XY and track more. */
const pointsOf = (kind: PanelForm['kind']) => (isPaired(kind) ? 10_000 : 2000);

/** What all panels of a layout are given. */
export interface GridProps {
  dimensionId: string;
  session: { sessionId: string; startMs: number; axis: AxisKind };
  channels: Channel[];
  layout: LayoutForm;
  onLayout: (layout: LayoutForm) => void;
  world: World & { dark: boolean };
  /** Tells why a panel cannot be drawn over the x axis of the layout; null: it can. */
  onAxisFault: (index: number, fault: string | null) => void;
}

/** A panel with its place in the layout. */
export interface PanelProps extends GridProps {
  form: PanelForm;
  index: number;
  /** `, panel 2` where another panel may have the same name; else empty. */
  place: string;
}

/** Stays the same when the panel moves. */
export function draftKey({ dimensionId, layout, form, index }: PanelProps): string {
  const same = layout.panels.filter((one, at) => one.kind === 'text' && one.text === form.text && at < index);
  return `panel ${dimensionId} ${same.length} ${form.text}`;
}

/** A panel of any kind. */
export function PanelView(props: PanelProps) {
  const { form, world } = props;
  if (form.kind === 'text') {
    return (
      <TextPanel
        title={titleOf(form, [], [])}
        place={props.place}
        text={form.text}
        height={form.height}
        draftKey={draftKey(props)}
        onText={(text) => props.onLayout(withPanel(props.layout, props.index, { text }))}
      />
    );
  }
  if (form.kind !== 'media') return <ChannelPanel {...props} />;
  return (
    <MediaPanel
      {...props.session}
      title={titleOf(form, [], [])}
      place={props.place}
      part={form.output}
      height={form.height}
      group={world.group}
      span={world.span}
    />
  );
}

function ChannelPanel(props: PanelProps) {
  const { channels, layout, form } = props;
  const content = contentOf(props);
  const { members, drawn, isOverX } = content;
  const read = usePoints(props, content);
  const title = titleOf(form, channels, layout.derived);
  const named = { title, place: props.place, busy: read.loading };
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
  if (form.kind === 'lines' && !isOverX)
    return <CurvesPanel {...props} {...eachRecording(members, series, channels)} busy={read.loading} />;
  if (drawn.length === 0) {
    const text =
      members.length > 0 ? 'Words are drawn over time only.' : 'This dashboard has none of its channels.';
    return <EmptyPanel title={title} text={text} />;
  }
  const drawing = drawingOf({
    ...props,
    members: drawn,
    series,
    isOverX,
    hasRows: props.world.clock === 'rows',
  });
  if (drawing !== null) {
    return (
      <PlotSection
        key={`${layout.x} ${layout.split}`}
        {...named}
        drawing={drawing}
        height={form.height}
        group={props.world.group}
      />
    );
  }
  return (
    <PanelSection {...named}>
      <PanelBody {...props} {...eachRecording(drawn, series, channels)} />
    </PanelSection>
  );
}

/** The channels of a panel, and those of them that it draws. */
function contentOf({ channels, layout, form }: PanelProps) {
  const members = form.channels.flatMap((name) => channelsNamed(name, channels, layout.derived));
  const isOverX = form.kind === 'lines' && (layout.x !== null || layout.split !== null);
  // Words are no curve over another channel.
  const drawn = isOverX || isPaired(form.kind) ? members.filter((member) => member.kind !== 'text') : members;
  return { members, drawn, isOverX };
}

/** Reads the points of what a panel draws, over the x axis of the layout where it is drawn over that. */
function usePoints(
  { dimensionId, layout, form, world }: PanelProps,
  { drawn, isOverX }: ReturnType<typeof contentOf>,
) {
  const used = layout.derived.filter(
    ({ name }) => form.channels.includes(`=${name}`) || (isOverX && layout.x === `=${name}`),
  );
  const question = {
    channels: drawn.map(({ key }) => key).filter((key) => !key.startsWith('=')),
    from: new Date(world.span.fromMs).toISOString(),
    to: new Date(world.span.toMs).toISOString(),
    derived: used,
    maxPoints: pointsOf(form.kind),
    ...(isPaired(form.kind) ? { sameRows: true } : {}),
    ...(isOverX && layout.x !== null ? { x: layout.x } : {}),
    ...(isOverX && layout.split !== null ? { split: layout.split } : {}),
  };
  const isEmpty = drawn.length === 0;
  return useResource(
    JSON.stringify([dimensionId, question]),
    async (signal) => (isEmpty ? [] : (await askSeries(dimensionId, question, signal)).series),
    { keepWhileLoading: true },
  );
}

/** Curves over time. A channel that is removed from its legend leaves the panel, unless it is the last one. */
function CurvesPanel(
  props: PanelProps & { members: Member[]; byKey: ReadonlyMap<string, ChannelSeries>; busy: boolean },
) {
  const { layout, form, index, members } = props;
  return (
    <Chart
      {...props.world}
      panel={panelOf(form, index, members)}
      place={props.place}
      height={form.height}
      series={props.byKey}
      busy={props.busy}
      onSpeak={() => undefined}
      onRemove={(key) => {
        const gone = members.find((member) => member.key === key);
        const names = gone?.asked.startsWith('=') ? [gone.asked] : [key, gone?.name];
        const kept = form.channels.filter((name) => !names.includes(name));
        if (kept.length > 0) props.onLayout(withPanel(layout, index, { channels: kept }));
      }}
    />
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
  place: string;
  busy: boolean;
  drawing: Drawing;
  height: number;
  group: ChartGroup;
}) {
  const { title, drawing } = props;
  const { traces } = drawing;
  const [held, setHeld] = useState<Held | null>(null);
  return (
    <PanelSection
      title={title}
      place={props.place}
      busy={props.busy}
      tools={
        <div class="chart-tools">
          <ChartTool
            label="Lock"
            of={title + props.place}
            isOn={held !== null}
            title="Keep the range of both axes. Drag a box to zoom, double-click for everything."
            onClick={() => setHeld(held === null ? wholeOf(drawing) : null)}
          />
        </div>
      }
    >
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
    </PanelSection>
  );
}

function PanelBody(props: PanelProps & { members: Member[]; byKey: ReadonlyMap<string, ChannelSeries> }) {
  const { form, byKey, world } = props;
  const members = props.members.map((one) => ({ ...one, name: legendName(one, props.members) }));
  if (form.kind === 'table') return <CursorTable members={members} byKey={byKey} group={world.group} />;
  return (
    <>
      {members.map((member) => (
        <Histogram key={member.key} {...props} member={member} label={labelled(member)} />
      ))}
    </>
  );
}
