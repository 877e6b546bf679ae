/** The first curves of a dashboard, small: for the overview of a session and the list of dashboards. */
import type { ChannelSeries } from '../../api.ts';
import { readDashboard, readSeries } from '../../dashboard-api.ts';
import { formatValue } from '../../format.ts';
import { channelsOf, firstChoice, fullSpan, timeKinds } from '../model.ts';

interface FirstCharts {
  /** Each has more than one number. */
  readonly series: readonly ChannelSeries[];
  /** Of several recordings, the one that a channel is of. */
  readonly sources: ReadonlyMap<string, string>;
}

export async function readFirstCharts(
  dimensionId: string,
  most: { readonly charts: number; readonly points: number },
  signal: AbortSignal,
): Promise<FirstCharts> {
  const dashboard = await readDashboard(dimensionId, signal);
  const kind = timeKinds(dashboard)[0];
  const span = kind === undefined ? null : fullSpan(dashboard, kind);
  const channels = channelsOf(dashboard);
  const isOne = dashboard.sources.length < 2;
  const sources = new Map(channels.map(({ key, sourceName }) => [key, isOne ? '' : sourceName]));
  if (kind === undefined || span === null) return { series: [], sources };
  // Of each name the first: other recordings have the same channels.
  const byName = new Map<string, string>();
  for (const key of firstChoice(dashboard, channels, kind)) {
    const channel = channels.find((one) => one.key === key);
    if (channel?.kind === 'number' && !byName.has(channel.name)) byName.set(channel.name, key);
  }
  const first = [...byName.values()].slice(0, most.charts);
  if (first.length === 0) return { series: [], sources };
  const { series } = await readSeries(dimensionId, first, span.fromMs, span.toMs, most.points, signal);
  return { series: series.filter(({ values }) => numbersOf(values).length > 1), sources };
}

const numbersOf = (values: ChannelSeries['values']) =>
  values.filter((value): value is number => typeof value === 'number');

interface Range {
  readonly lowest: number;
  readonly highest: number;
}

export function rangeOf({ values }: ChannelSeries): Range {
  const numbers = numbersOf(values);
  return { lowest: Math.min(...numbers), highest: Math.max(...numbers) };
}

/** `70 to 279.9 km/h` */
export const rangeWords = ({ unit }: ChannelSeries, { lowest, highest }: Range) =>
  `${formatValue(lowest)} to ${formatValue(highest)} ${unit ?? ''}`.trimEnd();

const air = 3;

/** As the path of an SVG. A gap in the values is a gap in the line. */
export function curveOf(
  { times, values }: ChannelSeries,
  { lowest, highest }: Range,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const [from = 0, to = 1] = [times[0], times.at(-1)];
  let isDown = false;
  return values
    .map((value, index) => {
      if (typeof value !== 'number') {
        isDown = false;
        return '';
      }
      const x = (width * (times[index]! - from)) / Math.max(1, to - from);
      const part = highest === lowest ? 0.5 : (value - lowest) / (highest - lowest);
      const y = height - air - (height - 2 * air) * part;
      const step = `${isDown ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
      isDown = true;
      return step;
    })
    .join('');
}
