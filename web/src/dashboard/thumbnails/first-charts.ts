/** The first curves of a dashboard, small: for the overview of a session and the list of dashboards. */
import type { ChannelSeries } from '../../api.ts';
import { readDashboard, readSeries } from '../../dashboard-api.ts';
import { channelsOf, firstChoice, fullSpan, timeKinds } from '../model.ts';
import { numbersOf } from './small-curve.ts';

interface FirstCharts {
  /** Each has more than one number. */
  readonly series: readonly ChannelSeries[];
  /** The recording of each channel, where there are several. */
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
  // The first channel of each name: other recordings have the same channels.
  const byName = new Map<string, string>();
  for (const key of firstChoice(dashboard, channels, kind)) {
    const channel = channels.find((one) => one.key === key);
    if (channel?.kind === 'number' && !byName.has(channel.name)) byName.set(channel.name, key);
  }
  const first = [...byName.values()].slice(0, most.charts);
  if (first.length === 0) return { series: [], sources };
  const { series } = await readSeries(dimensionId, first, span, most.points, signal);
  return { series: series.filter(({ values }) => numbersOf(values).length > 1), sources };
}
