import uPlot from 'uplot';
import type { Annotation } from '../../api.ts';
import { formatValue } from '../../format.ts';
import type { Clock } from '../address.ts';
import { formatElapsed } from '../figure-texts.ts';
import type { Marks } from '../marks.ts';
import type { Channel, TimeSpan } from '../model.ts';
import { dayOf, elapsedStepsMs, monthNames as months, rowSteps } from '../time.ts';
import { gapsIn, lonelyPoints } from './curve.ts';
import { drawAnnotations, drawMarks, drawStrips } from './drawing.ts';
import { numberSplits } from './splits.ts';
import { UtcDate } from './utc-date.ts';

export interface ChartSettings {
  channels: Channel[];
  style: (index: number) => { stroke: string; dash: number[] };
  width: number;
  height: number;
  clock: Clock;
  syncKey: string;
  span: () => TimeSpan;
  /** The least range of the axis; null: that of its own curves. */
  scale: () => { min: number; max: number } | null;
  /** The range that a person holds; null: that of the data. */
  held: () => { min: number; max: number } | null;
  logarithmic: boolean;
  /** Words of the states in place of numbers; null: curves of numbers. */
  words: () => readonly string[] | null;
  /** Names of the rows of states. */
  rows: readonly string[];
  marks: () => Marks;
  annotations: () => readonly Annotation[];
  /** Subtracted from every time on the axis; 0 for clock times. */
  originMs: number;
  onZoom: (span: TimeSpan) => void;
  onReset: () => void;
  /** Null when the cursor has left all charts. */
  onCursor: (timeMs: number | null) => void;
}

/** The same on every panel, so that one moment is on one vertical line. */
const valueAxisWidth = 76;
const minDrag = 6;

/** uPlot's options for one panel. The x axis counts milliseconds. */
export function chartOptions(settings: ChartSettings): uPlot.Options {
  return {
    width: settings.width,
    height: settings.height,
    ms: 1,
    padding: [8, 24, 0, 0],
    ...(settings.clock === 'utc' ? { tzDate: (time: number) => new UtcDate(time) } : {}),
    fmtDate: (pattern) => clockFormatter(pattern, () => spansDays(settings)),
    legend: { show: false },
    focus: { alpha: 0.25 },
    scales: {
      x: {
        time: isOfDay(settings.clock),
        auto: false,
        range: (_chart, min, max) => (min === null || max === null ? wholeSpan(settings) : [min, max]),
        min: settings.span().fromMs - settings.originMs,
        max: settings.span().toMs - settings.originMs,
      },
      y: {
        distr: settings.logarithmic ? 3 : 1,
        range: (_chart, min, max) => rangeOf(settings, min, max),
      },
    },
    axes: [timeAxis(settings), valueAxis(settings)],
    series: [{}, ...settings.channels.map((channel, index) => curve(channel, () => settings.style(index)))],
    cursor: cursorOptions(settings),
    hooks: {
      ...cursorHooks(settings),
      draw: [
        (chart) => {
          const words = settings.words();
          if (words !== null) drawStrips(chart, words, settings.channels[0]?.kind === 'state');
          drawAnnotations(chart, settings.annotations(), settings.originMs);
          drawMarks(chart, settings.marks(), settings.originMs);
        },
      ],
    },
  };
}

/** Colours are read at each drawing: on paper they are others than on the screen. */
const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function baseAxis(): uPlot.Axis {
  return {
    stroke: () => colour('--chart-axis'),
    font: `12px ${colour('--font')}`,
    grid: { stroke: () => colour('--chart-grid'), width: 1 },
    ticks: { show: false },
  };
}

const isOfDay = (clock: Clock) => clock === 'utc' || clock === 'local';

function timeAxis({ clock }: ChartSettings): uPlot.Axis {
  const size = (_chart: uPlot, values: string[]) =>
    values?.some((value) => value?.includes('\n')) === true ? 46 : 30;
  if (isOfDay(clock)) return { ...baseAxis(), size, gap: 6, space: 72 };
  const write = clock === 'rows' ? formatValue : formatElapsed;
  return {
    ...baseAxis(),
    size,
    gap: 6,
    space: 84,
    incrs: clock === 'rows' ? rowSteps : elapsedStepsMs,
    values: (_chart, splits, _index, _space, step) => splits.map((split) => write(split, step)),
  };
}

/** Within one day the date beside the range is enough, and the axis needs no second line. */
function spansDays(settings: ChartSettings): boolean {
  const { fromMs, toMs } = settings.span();
  return dayOf(fromMs, settings.clock) !== dayOf(toMs, settings.clock);
}

function wholeSpan(settings: ChartSettings): [number, number] {
  const span = settings.span();
  return [span.fromMs - settings.originMs, span.toMs - settings.originMs];
}

function rangeOf(settings: ChartSettings, min: number | null, max: number | null): uPlot.Range.MinMax {
  if (settings.words() !== null) return [0, settings.channels.length];
  const held = settings.held();
  if (held !== null) return [held.min, held.max];
  if (settings.logarithmic)
    return min === null || max === null ? [1, 10] : uPlot.rangeLog(min, max, 10, false);
  const scale = settings.scale();
  return valueRange(scale?.min ?? min, scale?.max ?? max);
}

/** A margin above and below; a constant curve is in the middle. */
function valueRange(min: number | null, max: number | null): uPlot.Range.MinMax {
  if (min === null || max === null) return [0, 1];
  if (min === max) {
    const air = Math.abs(min) > 0 ? Math.abs(min) * 0.1 : 1;
    return [min - air, max + air];
  }
  const air = (max - min) * 0.06;
  return [min - air, max + air];
}

/** Numbers, or the rows of states from above. */
function valueAxis(settings: ChartSettings): uPlot.Axis {
  const { rows } = settings;
  const axis = { ...baseAxis(), size: valueAxisWidth, gap: 8, space: 28 };
  if (settings.words() !== null) {
    return {
      ...axis,
      splits: () => rows.map((_, row) => rows.length - row - 0.5),
      values: () => (rows.length < 2 ? rows.map(() => '') : rows.map(shortened)),
      grid: { show: false },
    };
  }
  const values = (chart: uPlot, splits: (number | null)[]) => {
    const isShown = hasRange(settings) || hasValues(chart);
    return splits.map((split) => (split === null || !isShown ? '' : formatValue(split)));
  };
  if (settings.logarithmic) return { ...axis, values };
  return { ...axis, splits: (_chart, _axis, min, max, step) => numberSplits(min, max, step), values };
}

const hasRange = (settings: ChartSettings) => settings.held() !== null || settings.scale() !== null;

/** A chart that is not loaded yet, or has no value in its time, says nothing of values. */
const hasValues = ({ data: [, ...curves] }: uPlot) =>
  curves.some((values) => values.some((value) => typeof value === 'number'));

const longestWord = 9;

function shortened(word: string): string {
  return word.length > longestWord ? `${word.slice(0, longestWord - 1)}…` : word;
}

function curve(channel: Channel, style: () => { stroke: string; dash: number[] }): uPlot.Series {
  const stroke = () => style().stroke;
  const { dash } = style();
  if (channel.kind !== 'number') {
    // Drawn as strips.
    return { label: channel.name, stroke, paths: () => null, points: { show: false } };
  }
  return {
    label: channel.name,
    stroke,
    width: 1.5,
    ...(dash.length > 0 ? { dash } : {}),
    gaps: wholeGaps,
    points: { size: 5, width: 0, fill: stroke, filter: withoutLine },
  };
}

/** uPlot itself ends a gap at the next point, which may be one of another curve. */
const wholeGaps = (chart: uPlot, index: number): uPlot.Series.Gaps => {
  const pixel = (place: number) => Math.round(chart.valToPos(chart.data[0][place]!, 'x', true));
  return gapsIn(chart.data[index]!).map(([from, to]) => [pixel(from), pixel(to)]);
};

/** The points of a curve that no line connects; null where all points are shown. */
export const withoutLine = (chart: uPlot, index: number, show: boolean): number[] | null =>
  show ? null : lonelyPoints(chart.data[index]!);

function cursorOptions(settings: ChartSettings): uPlot.Cursor {
  return {
    y: false,
    sync: { key: settings.syncKey, scales: ['x', null] },
    drag: { x: true, y: false, setScale: false, dist: minDrag },
    points: settings.words() === null ? { size: 8, width: 2 } : { show: false },
    bind: {
      dblclick: () => () => {
        settings.onReset();
        return null;
      },
    },
  };
}

function cursorHooks(settings: ChartSettings): uPlot.Hooks.Arrays {
  const clear = (chart: uPlot) => chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  return {
    setCursor: [
      (chart) => {
        const left = chart.cursor.left ?? -1;
        settings.onCursor(left < 0 ? null : Math.round(chart.posToVal(left, 'x') + settings.originMs));
      },
    ],
    setSelect: [
      (chart) => {
        const { left, width } = chart.select;
        if (width < minDrag) return clear(chart);
        const fromMs = chart.posToVal(left, 'x') + settings.originMs;
        const toMs = chart.posToVal(left + width, 'x') + settings.originMs;
        clear(chart);
        settings.onZoom({ fromMs, toMs });
      },
    ],
  };
}

/** uPlot passes a pattern for each size of step; day before month, and 24 hours. */
export function clockFormatter(pattern: string, withDays: () => boolean): (date: Date) => string {
  const pad = (value: number, length = 2) => String(value).padStart(length, '0');
  const day = (date: Date) => `${date.getDate()} ${months[date.getMonth()]}`;
  const minutes = (date: Date) => `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  const year = (date: Date) => `${day(date)} ${date.getFullYear()}`;
  const lines = pattern.split('\n').map((line, index): ((date: Date) => string) => {
    if (line.includes('{D}')) return line.includes('{YY') ? year : day;
    // The second line shows the change of a larger unit: a day, a month, a year; it never repeats the time.
    if (index > 0 && line.includes('{mm}')) return () => '';
    if (line.includes('{fff}')) {
      return (date) => `${minutes(date)}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
    }
    if (line.includes('{ss}')) return (date) => `${minutes(date)}:${pad(date.getSeconds())}`;
    if (line.includes('{mm}') || line.includes('{h}')) return minutes;
    if (line.includes('{MMM}')) return (date) => months[date.getMonth()] ?? '';
    if (line.includes('{YYYY}')) return (date) => String(date.getFullYear());
    return () => '';
  });
  return (date) =>
    (withDays() ? lines : lines.slice(0, 1))
      .map((line) => line(date))
      .filter((text) => text !== '')
      .join('\n');
}
