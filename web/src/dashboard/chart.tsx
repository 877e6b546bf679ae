import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChannelSeries } from '../api.ts';
import type { Clock } from './address.ts';
import type { ChartGroup } from './chart-group.ts';
import { chartOptions } from './chart-options.ts';
import type { Words } from './curve.ts';
import { axisWords, heights, valueAt } from './curve.ts';
import type { Panel, TimeSpan } from './model.ts';
import { legendName } from './model.ts';
import { formatMoment } from './time.ts';

const chartHeight = 210;
const colours = 8;
/** When the colours run out, curves differ by their dashes. */
const dashes = [[], [8, 4], [2, 4], [12, 4, 2, 4]];

export interface ChartProps {
  panel: Panel;
  /** The machine of these curves, when several are side by side. */
  lead?: string;
  /** The least range of the axis, for charts that are compared. */
  scale?: { min: number; max: number } | null;
  series: ReadonlyMap<string, ChannelSeries>;
  span: TimeSpan;
  originMs: number;
  clock: Clock;
  dark: boolean;
  group: ChartGroup;
  busy: boolean;
  onZoom: (span: TimeSpan) => void;
  onReset: () => void;
  onRemove: (channelKey: string) => void;
  /** Announces a sentence to screen readers. */
  onSpeak: (sentence: string) => void;
}

/** One panel: its legend with the values at the cursor, and its curves. */
export function Chart(props: ChartProps) {
  const { panel, group } = props;
  const described = props.lead === undefined ? describe(panel) : `${props.lead}: ${describe(panel)}`;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const values = useRef(new Map<string, HTMLElement>());
  const live = useRef(props);
  live.current = props;

  const curves = panel.channels.map((channel) => props.series.get(channel.key));
  const words = useRef<Words>([]);
  const data = useMemo(
    () => alignCurves(curves, words.current, props.originMs),
    [...curves, curves.length, props.originMs],
  );
  const newest = useRef(data);
  newest.current = data;

  // The title of a panel with one channel is that channel's name already.
  const isNamed = panel.channels.length === 1 && panel.title === panel.channels[0]?.name;
  const identity = panel.channels.map((channel) => channel.key).join('\n');
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const options = chartOptions({
      channels: panel.channels,
      style: (index) => curveStyle(index),
      width: element.clientWidth,
      height: chartHeight,
      clock: props.clock,
      syncKey: group.syncKey,
      scale: () => live.current.scale ?? null,
      words: () => axisWords(panel.channels, words.current),
      span: () => live.current.span,
      originMs: props.originMs,
      onZoom: (span) => live.current.onZoom(span),
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
      if (element.clientWidth > 0) chart.setSize({ width: element.clientWidth, height: chartHeight });
    });
    resize.observe(element);
    const wheel = (event: WheelEvent) => group.wheel(event, chart, props.originMs);
    chart.over.addEventListener('wheel', wheel, { passive: false });
    return () => {
      leave();
      resize.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [identity, props.clock, props.originMs, props.dark, group]);

  useEffect(() => {
    const chart = plot.current;
    if (chart === null) return;
    chart.batch(() => {
      chart.setData(data, false);
      chart.setScale('x', { min: props.span.fromMs - props.originMs, max: props.span.toMs - props.originMs });
    });
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
  ]);

  return (
    <section class="chart" aria-label={described} aria-busy={props.busy}>
      <header class="chart-head">
        {props.lead !== undefined && <span class="chart-lead">{props.lead}</span>}
        <h2>
          {panel.title}
          {panel.unit !== '' && <span class="chart-unit">{panel.unit}</span>}
        </h2>
        <ul class="legend">
          {panel.channels.map((channel, index) => (
            <li
              key={channel.key}
              class="legend-item"
              onMouseEnter={() => plot.current?.setSeries(index + 1, { focus: true })}
              onMouseLeave={() => plot.current?.setSeries(null, { focus: true })}
            >
              <Swatch index={index} />
              <span class={isNamed ? 'visually-hidden' : 'legend-name'}>
                {legendName(channel, panel.channels)}
              </span>
              <span
                class="legend-value"
                data-channel={channel.key}
                ref={(element) => {
                  if (element === null) values.current.delete(channel.key);
                  else values.current.set(channel.key, element);
                }}
              />
              <button
                type="button"
                class="legend-remove"
                aria-label={`Take ${channel.name} away`}
                title="Take away"
                onClick={() => props.onRemove(channel.key)}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      </header>
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes keys, so it must be reachable by them
        tabIndex={0}
        class="chart-plot"
        ref={frame}
        role="application"
        aria-roledescription="chart"
        aria-label={`Curves of ${described}. Arrow keys move the cursor, plus and minus zoom, Escape shows everything.`}
        data-points={data[0]?.length ?? 0}
        onKeyDown={(event) => {
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

function curveStyle(index: number): { stroke: string; dash: number[] } {
  const style = getComputedStyle(document.documentElement);
  return {
    stroke: style.getPropertyValue(`--series-${(index % colours) + 1}`).trim(),
    dash: dashes[Math.floor(index / colours) % dashes.length] ?? [],
  };
}

/** The sample of a curve's line in its legend. */
function Swatch(props: { index: number }) {
  const dash = dashes[Math.floor(props.index / colours) % dashes.length] ?? [];
  return (
    <svg class={`swatch series-${(props.index % colours) + 1}`} viewBox="0 0 18 8" aria-hidden="true">
      <path d="M1 4h16" {...(dash.length > 0 ? { 'stroke-dasharray': dash.join(' ') } : {})} />
    </svg>
  );
}

/** All curves over the union of their times; a curve without a sample at a time just continues. */
function alignCurves(
  curves: (ChannelSeries | undefined)[],
  words: Words,
  originMs: number,
): uPlot.AlignedData {
  const drawn = curves.map((curve) => ({
    times: curve?.times ?? [],
    heights: curve === undefined ? [] : heights(curve, words),
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
  const moment = formatMoment(timeMs, props.clock, props.originMs, props.span.toMs - props.span.fromMs);
  const values = props.panel.channels.map(
    (channel) => `${channel.name} ${valueAt(props.series.get(channel.key), channel, timeMs)} ${channel.unit}`,
  );
  return `${moment}: ${values.join(', ')}`;
}
