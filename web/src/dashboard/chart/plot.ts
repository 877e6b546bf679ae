/** A chart of uPlot in the page: it lives as long as its channels, its clock and its height stay. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { legendName } from '../model.ts';
import { curveStyle, type ValueScale } from './head.tsx';
import { drawInSight, watchSight } from './in-sight.ts';
import { chartOptions } from './options.ts';
import type { ChartProps } from './props.ts';

interface Range {
  readonly min: number;
  readonly max: number;
}

interface PlotSettings {
  readonly chart: ChartProps;
  readonly data: uPlot.AlignedData;
  /** In pixels. */
  readonly height: number;
  readonly scale: ValueScale;
  /** Words of the states in place of numbers; null: curves of numbers. */
  readonly words: () => readonly string[] | null;
  /** Null when the cursor has left all charts. */
  readonly onCursor: (timeMs: number | null) => void;
  /** The axis is to show these values from now on. */
  readonly onHold: (range: Range) => void;
}

export interface Plot {
  /** The element that the chart is drawn into. */
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly plot: { readonly current: uPlot | null };
  /** The values on the axis now; null while there are none. */
  readonly shownRange: () => Range | null;
  /** The range of values is to be `factor` times as long; `around` keeps its place, null: the middle does. */
  readonly zoomValues: (factor: number, around: number | null) => void;
}

/** Draws `data` into `frame`. What the chart calls later is always that of the newest render. */
export function usePlot(given: PlotSettings): Plot {
  const { chart: props, data, height, scale } = given;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const live = useRef(given);
  live.current = given;
  const identity = props.panel.channels.map((channel) => channel.key).join('\n');
  const built = [identity, props.clock, props.originMs, props.dark, props.group, scale.logarithmic, height];
  useEffect(() => {
    if (frame.current === null) return;
    const [chart, end] = createPlot(frame.current, live);
    plot.current = chart;
    return () => {
      end();
      plot.current = null;
    };
  }, built);
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
  }, [...built, data, props.span.fromMs, props.span.toMs, props.scale?.min, props.scale?.max, scale]);
  useEffect(() => plot.current?.redraw(false, false), [props.marks.a, props.marks.b, props.annotations]);
  return {
    frame,
    plot,
    shownRange: () => shownRange(plot.current),
    zoomValues: (factor, around) => zoomValues(plot.current, live, factor, around),
  };
}

type Live = { readonly current: PlotSettings };

function createPlot(element: HTMLElement, live: Live): [uPlot, end: () => void] {
  const { chart: props, data, height } = live.current;
  const chart = new uPlot(optionsOf(live, element.clientWidth), data, element);
  const leave = props.group.join({ chart, originMs: props.originMs });
  const resize = new ResizeObserver(() => {
    if (element.clientWidth > 0) chart.setSize({ width: element.clientWidth, height });
  });
  resize.observe(element);
  const unwatch = watchSight(element);
  // Paper has the light colours, and the screen its own again. At once: Firefox prints before any microtask.
  const redraw = () => chart.batch(() => chart.redraw(false, false));
  for (const moment of ['beforeprint', 'afterprint']) window.addEventListener(moment, redraw);
  listenToPointer(chart, live);
  const end = () => {
    leave();
    unwatch();
    for (const moment of ['beforeprint', 'afterprint']) window.removeEventListener(moment, redraw);
    resize.disconnect();
    chart.destroy();
  };
  return [chart, end];
}

function optionsOf(live: Live, width: number): uPlot.Options {
  const { chart: props, height, scale } = live.current;
  const { panel, group, clock, originMs } = props;
  const newest = () => live.current.chart;
  return chartOptions({
    channels: panel.channels,
    style: (index) => curveStyle(panel.channels[index]?.colour ?? index),
    width,
    height,
    clock,
    syncKey: group.syncKey,
    scale: () => newest().scale ?? null,
    held: () => live.current.scale.held,
    logarithmic: scale.logarithmic,
    words: () => live.current.words(),
    rows: panel.channels.map((channel) => legendName(channel, panel.channels)),
    marks: () => newest().marks,
    annotations: () => newest().annotations,
    span: () => newest().span,
    originMs,
    onZoom: (span) => (group.isAnnotating ? group.annotate(span) : newest().onZoom(span)),
    onReset: () => newest().onReset(),
    onCursor: (timeMs) => {
      live.current.onCursor(timeMs);
      group.cursorMoved(timeMs);
    },
  });
}

function listenToPointer(chart: uPlot, live: Live): void {
  const { group, originMs } = live.current.chart;
  const wheel = (event: WheelEvent) => {
    if (!event.shiftKey || event.ctrlKey) return group.wheel(event, chart, originMs);
    event.preventDefault();
    const top = event.clientY - chart.over.getBoundingClientRect().top;
    zoomValues(chart, live, (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, chart.posToVal(top, 'y'));
  };
  chart.over.addEventListener('wheel', wheel, { passive: false });
  chart.over.addEventListener('mousedown', (event) => group.press(event));
  chart.over.addEventListener('click', (event) => group.click(event, chart, originMs));
}

function shownRange(chart: uPlot | null): Range | null {
  const { min, max } = chart?.scales.y ?? {};
  return min == null || max == null ? null : { min, max };
}

/** States have no range. */
function zoomValues(chart: uPlot | null, live: Live, factor: number, around: number | null): void {
  const { words, scale, onHold } = live.current;
  const shown = shownRange(chart);
  if (shown !== null && words() === null) onHold(zoomRange(shown, factor, around, scale.logarithmic));
}

/** A range that is `factor` times as long; `around` keeps its place, else the middle does. */
function zoomRange({ min, max }: Range, factor: number, around: number | null, logarithmic: boolean): Range {
  const [to, from] = logarithmic ? [Math.log10, (power: number) => 10 ** power] : [Number, Number];
  const [low, high] = [to(min), to(max)];
  const at = around === null ? (low + high) / 2 : to(around);
  return { min: from(at - (at - low) * factor), max: from(at + (high - at) * factor) };
}
