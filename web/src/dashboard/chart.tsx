import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Annotation, ChannelSeries } from '../api.ts';
import type { Clock } from './address.ts';
import type { ChartGroup } from './chart-group.ts';
import { ChartHead, curveStyle, type ValueScale } from './chart-head.tsx';
import { chartOptions } from './chart-options.ts';
import type { Words } from './curve.ts';
import { heights, stateWords, valueAt } from './curve.ts';
import { drawInSight, watchSight } from './in-sight.ts';
import type { Marks } from './marks.ts';
import type { Panel, TimeSpan } from './model.ts';
import { legendName } from './model.ts';
import { formatMoment } from './time.ts';

const curvesHeight = 210;
const stripHeight = 32;
const axisHeight = 46;
const followsData: ValueScale = { logarithmic: false, held: null };

export interface ChartProps {
  panel: Panel;
  /** The machine of these curves, when several are side by side. */
  lead?: string;
  /** The least range of the axis, for charts that are compared. */
  scale?: { min: number; max: number } | null;
  /** Of curves, in pixels. */
  height?: number;
  series: ReadonlyMap<string, ChannelSeries>;
  span: TimeSpan;
  originMs: number;
  clock: Clock;
  dark: boolean;
  group: ChartGroup;
  busy: boolean;
  marks: Marks;
  annotations: readonly Annotation[];
  onZoom: (span: TimeSpan) => void;
  onReset: () => void;
  onRemove: (channelKey: string) => void;
  /** Announces a sentence to screen readers. */
  onSpeak: (sentence: string) => void;
}

/** What all charts of a dashboard share. */
export type World = Omit<ChartProps, 'panel' | 'lead' | 'scale' | 'height' | 'dark' | 'onRemove' | 'onSpeak'>;

/** One panel: its legend with the values at the cursor, and its curves. */
export function Chart(props: ChartProps) {
  const { panel, group } = props;
  const described = props.lead === undefined ? describe(panel) : `${props.lead}: ${describe(panel)}`;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const values = useRef(new Map<string, HTMLElement>());
  const [scale, setScale] = useState(followsData);
  const live = useRef({ ...props, held: scale.held });
  live.current = { ...props, held: scale.held };

  const curves = panel.channels.map((channel) => props.series.get(channel.key));
  const words = useRef<Words>([]);
  const { logarithmic } = scale;
  const data = useMemo(
    () => alignCurves(curves, words.current, props.originMs, logarithmic),
    [...curves, curves.length, props.originMs, logarithmic],
  );
  const height = panel.channels.some(({ kind }) => kind === 'number')
    ? (props.height ?? curvesHeight)
    : axisHeight + stripHeight * panel.channels.length;
  const newest = useRef(data);
  newest.current = data;

  const identity = panel.channels.map((channel) => channel.key).join('\n');
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const options = chartOptions({
      channels: panel.channels,
      style: (index) => curveStyle(panel.channels[index]?.colour ?? index),
      width: element.clientWidth,
      height,
      clock: props.clock,
      syncKey: group.syncKey,
      scale: () => live.current.scale ?? null,
      held: () => live.current.held,
      logarithmic,
      words: () => stateWords(panel.channels, words.current),
      rows: panel.channels.map((channel) => legendName(channel, panel.channels)),
      marks: () => live.current.marks,
      annotations: () => live.current.annotations,
      span: () => live.current.span,
      originMs: props.originMs,
      onZoom: (span) => (group.isAnnotating ? group.annotate(span) : live.current.onZoom(span)),
      onReset: () => live.current.onReset(),
      onCursor: (timeMs) => {
        showValues(values.current, live.current, timeMs);
        group.cursorMoved(timeMs);
      },
    });
    const chart = new uPlot(options, newest.current, element);
    plot.current = chart;
    const leave = group.join({ chart, originMs: props.originMs });
    const resize = new ResizeObserver(() => {
      if (element.clientWidth > 0) chart.setSize({ width: element.clientWidth, height });
    });
    resize.observe(element);
    const unwatch = watchSight(element);
    // Paper has the light colours, and the screen its own again.
    const redraw = () => chart.redraw(false, false);
    for (const moment of ['beforeprint', 'afterprint']) window.addEventListener(moment, redraw);
    const wheel = (event: WheelEvent) => {
      if (!event.shiftKey || event.ctrlKey) return group.wheel(event, chart, props.originMs);
      event.preventDefault();
      const top = event.clientY - chart.over.getBoundingClientRect().top;
      zoomValues((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, chart.posToVal(top, 'y'));
    };
    chart.over.addEventListener('wheel', wheel, { passive: false });
    chart.over.addEventListener('mousedown', (event) => group.press(event));
    chart.over.addEventListener('click', (event) => group.click(event, chart, props.originMs));
    return () => {
      leave();
      unwatch();
      for (const moment of ['beforeprint', 'afterprint']) window.removeEventListener(moment, redraw);
      resize.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [identity, props.clock, props.originMs, props.dark, group, logarithmic, height]);

  useEffect(() => {
    const [chart, place] = [plot.current, frame.current];
    if (chart === null || place === null) return;
    const [min, max] = [props.span.fromMs - props.originMs, props.span.toMs - props.originMs];
    drawInSight(place, () =>
      chart.batch(() => {
        if (chart.data !== data) chart.setData(data, false);
        chart.setScale('x', { min, max });
      }),
    );
  }, [
    data,
    props.span.fromMs,
    props.span.toMs,
    props.scale?.min,
    props.scale?.max,
    props.originMs,
    props.clock,
    props.dark,
    identity,
    scale,
  ]);
  useEffect(() => plot.current?.redraw(false, false), [props.marks.a, props.marks.b, props.annotations]);

  const shownRange = () => {
    const { min, max } = plot.current?.scales.y ?? {};
    return min == null || max == null ? null : { min, max };
  };
  const zoomValues = (factor: number, around: number | null) => {
    const shown = shownRange();
    if (shown === null || stateWords(panel.channels, words.current) !== null) return;
    setScale((before) => ({ ...before, held: zoomRange(shown, factor, around, before.logarithmic) }));
  };

  return (
    <section class="chart" aria-label={described} aria-busy={props.busy}>
      <ChartHead
        panel={panel}
        lead={props.lead}
        series={props.series}
        marks={props.marks}
        scale={scale}
        onLog={() => setScale({ logarithmic: !logarithmic, held: null })}
        onLock={() => setScale({ logarithmic, held: scale.held === null ? shownRange() : null })}
        onFocus={(index) => plot.current?.setSeries(index === null ? null : index + 1, { focus: true })}
        onRemove={props.onRemove}
        valueElement={(key, element) => {
          if (element === null) values.current.delete(key);
          else values.current.set(key, element);
        }}
      />
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes keys, so it must be reachable by them
        tabIndex={0}
        class="chart-plot"
        style={{ minHeight: `${height}px` }}
        ref={frame}
        role="application"
        aria-roledescription="chart"
        aria-label={`Curves of ${described}. Arrow keys move the cursor, plus and minus zoom, A and B put cursors, M annotates, Escape shows everything.`}
        data-points={data[0]?.length ?? 0}
        onKeyDown={(event) => {
          if (event.shiftKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
            event.preventDefault();
            zoomValues(event.key === 'ArrowUp' ? 0.8 : 1.25, null);
            return;
          }
          if (group.key(event, live.current.span) && group.cursorMs !== null) {
            props.onSpeak(spokenValues(live.current, group.cursorMs));
          }
        }}
      />
      {curves.every((curve) => curve !== undefined && curve.times.length === 0) && (
        <p class="chart-none">No values in this range.</p>
      )}
    </section>
  );
}

function describe(panel: Panel): string {
  const names = panel.channels.map((channel) => channel.name).join(', ');
  return panel.unit === '' ? names : `${names} in ${panel.unit}`;
}

/** A range that is `factor` times as long; `around` keeps its place, else the middle does. */
function zoomRange(
  { min, max }: { min: number; max: number },
  factor: number,
  around: number | null,
  logarithmic: boolean,
): { min: number; max: number } {
  const [to, from] = logarithmic ? [Math.log10, (power: number) => 10 ** power] : [Number, Number];
  const [low, high] = [to(min), to(max)];
  const at = around === null ? (low + high) / 2 : to(around);
  return { min: from(at - (at - low) * factor), max: from(at + (high - at) * factor) };
}

/** All curves over the union of their times; a curve without a sample at a time just continues. */
function alignCurves(
  curves: (ChannelSeries | undefined)[],
  words: Words,
  originMs: number,
  logarithmic: boolean,
): uPlot.AlignedData {
  // A logarithm has no place for zero and below.
  const placed = (values: (number | null)[]) =>
    logarithmic ? values.map((value) => (value !== null && value > 0 ? value : null)) : values;
  const drawn = curves.map((curve) => ({
    times: curve?.times ?? [],
    heights: curve === undefined ? [] : placed(heights(curve, words)),
  }));
  const shift = (times: readonly number[]) =>
    originMs === 0 ? [...times] : times.map((time) => time - originMs);
  const first = drawn[0];
  if (first !== undefined && drawn.every((curve) => sameTimes(curve.times, first.times))) {
    return [shift(first.times), ...drawn.map((curve) => curve.heights)];
  }
  return uPlot.join(drawn.map((curve) => [shift(curve.times), curve.heights]));
}

function sameTimes(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((time, index) => time === b[index]));
}

/** Written directly into the DOM: the cursor moves far more often than the page should render. */
function showValues(elements: Map<string, HTMLElement>, props: ChartProps, timeMs: number | null): void {
  for (const channel of props.panel.channels) {
    const element = elements.get(channel.key);
    if (element === undefined) continue;
    const text = timeMs === null ? '' : valueAt(props.series.get(channel.key), channel, timeMs);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** The text for screen readers after a key moved the cursor. */
function spokenValues(props: ChartProps, timeMs: number): string {
  const stepMs = Math.min(...props.panel.channels.map((channel) => channel.stepMs));
  const moment = formatMoment(timeMs, props.clock, props.originMs, stepMs);
  const values = props.panel.channels.map(
    (channel) =>
      `${legendName(channel, props.panel.channels)} ${valueAt(props.series.get(channel.key), channel, timeMs)} ${channel.unit}`,
  );
  return `${moment}: ${values.join(', ')}`;
}
