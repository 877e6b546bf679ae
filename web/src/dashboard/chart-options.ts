import uPlot from 'uplot';
import { formatElapsed, formatValue } from '../format.ts';
import type { Clock } from './address.ts';
import type { Channel, TimeSpan } from './model.ts';
import { dayOf, elapsedStepsMs, monthNames as months } from './time.ts';

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
  /** Words of the value axis in place of numbers. */
  words: () => readonly string[] | null;
  /** Subtracted from every time on the axis; 0 for clock times. */
  originMs: number;
  onZoom: (span: TimeSpan) => void;
  onReset: () => void;
  /** Null when the cursor has left all charts. */
  onCursor: (timeMs: number | null) => void;
}

/** The same on every panel, so that one moment is on one vertical line. */
const valueAxisWidth = 76;
const shortestDrag = 6;

/** uPlot's options for one panel. The x axis counts milliseconds. */
export function chartOptions(settings: ChartSettings): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--chart-axis'),
    font: `12px ${colour('--font')}`,
    grid: { stroke: colour('--chart-grid'), width: 1 },
    ticks: { show: false },
  };
  const elapsed = settings.clock === 'elapsed';
  return {
    width: settings.width,
    height: settings.height,
    ms: 1,
    padding: [8, 24, 0, 0],
    ...(settings.clock === 'utc'
      ? { tzDate: (time: number) => uPlot.tzDate(new Date(time), 'Etc/UTC') }
      : {}),
    fmtDate: (pattern) => clockFormatter(pattern, () => spansDays(settings)),
    legend: { show: false },
    focus: { alpha: 0.25 },
    scales: {
      x: {
        time: !elapsed,
        auto: false,
        range: (_chart, min, max) => (min === null || max === null ? wholeSpan(settings) : [min, max]),
        min: settings.span().fromMs - settings.originMs,
        max: settings.span().toMs - settings.originMs,
      },
      y: {
        range: (_chart, min, max) => {
          const scale = settings.scale();
          return valueRange(settings.words(), scale?.min ?? min, scale?.max ?? max);
        },
      },
    },
    axes: [
      {
        ...axis,
        size: (_chart, values) => (values?.some((value) => value?.includes('\n')) === true ? 46 : 30),
        gap: 6,
        space: elapsed ? 84 : 72,
        ...(elapsed
          ? {
              incrs: elapsedStepsMs,
              values: (_chart, splits, _index, _space, step) =>
                splits.map((split) => formatElapsed(split, step)),
            }
          : {}),
      },
      {
        ...axis,
        size: valueAxisWidth,
        gap: 8,
        space: 28,
        splits: (_chart, _axis, min, max, step) => {
          const words = settings.words();
          return words === null ? numberSplits(min, max, step) : wordSplits(words);
        },
        values: (_chart, splits) => axisLabels(settings.words(), splits),
      },
    ],
    series: [{}, ...settings.channels.map((channel, index) => curve(channel, settings.style(index)))],
    cursor: cursorOptions(settings),
    hooks: cursorHooks(settings),
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

/** A margin above and below; a constant curve is in the middle. */
function valueRange(
  words: readonly string[] | null,
  min: number | null,
  max: number | null,
): uPlot.Range.MinMax {
  if (words !== null) return [-0.4, Math.max(0, words.length - 1) + 0.4];
  if (min === null || max === null) return [0, 1];
  if (min === max) {
    const air = Math.abs(min) > 0 ? Math.abs(min) * 0.1 : 1;
    return [min - air, max + air];
  }
  const air = (max - min) * 0.06;
  return [min - air, max + air];
}

const mostWordsNamed = 8;
const longestWord = 8;

/** The multiples of the step within the axis. */
function numberSplits(min: number, max: number, step: number): number[] {
  const splits: number[] = [];
  for (let index = Math.ceil(min / step); index * step <= max; index += 1) {
    splits.push(Number((index * step).toPrecision(12)));
  }
  return splits;
}

/** The places of the words beside the axis; of many words, every second or tenth. */
function wordSplits(words: readonly string[]): number[] {
  const step = Math.max(1, Math.ceil(words.length / mostWordsNamed));
  return words.map((_word, place) => place).filter((place) => place % step === 0);
}

function axisLabels(words: readonly string[] | null, splits: number[]): string[] {
  if (words === null) return splits.map(formatValue);
  return splits.map((split) => {
    const word = words[split] ?? '';
    return word.length > longestWord ? `${word.slice(0, longestWord - 1)}…` : word;
  });
}

function curve(channel: Channel, style: { stroke: string; dash: number[] }): uPlot.Series {
  const stepped = channel.kind !== 'number' ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    label: channel.name,
    stroke: style.stroke,
    width: 1.5,
    ...(style.dash.length > 0 ? { dash: style.dash } : {}),
    ...(stepped === undefined ? {} : { paths: stepped }),
    points: { size: 5, width: 0, fill: style.stroke },
  };
}

function cursorOptions(settings: ChartSettings): uPlot.Cursor {
  return {
    y: false,
    sync: { key: settings.syncKey, scales: ['x', null] },
    drag: { x: true, y: false, setScale: false, dist: shortestDrag },
    points: { size: 8, width: 2 },
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
        if (width < shortestDrag) return clear(chart);
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
