import type { ChannelSeries, ListedOutput, SessionDimension } from '../api.ts';
import { joinCurves } from '../dashboard/chart/join.ts';
import { readDashboard, readSeries } from '../dashboard-api.ts';
import { formatValue } from '../format.ts';
import { axisOfTimes } from './axis.ts';
import type { Curves, Table } from './read.ts';

/** The channels of a columnar recording as a table; null for other outputs. */
export function channelTable(output: ListedOutput): Table | null {
  const description = output.metadata?.description;
  if (typeof description !== 'object' || description === null) return null;
  const { channels } = description as { channels?: unknown };
  if (!Array.isArray(channels) || channels.length === 0) return null;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const number = (value: unknown) => (typeof value === 'number' ? formatValue(value) : '');
  return {
    columns: ['Channel', 'Unit', 'Type', 'Group', 'Realm', 'Lowest', 'Highest', 'Missing'],
    rows: channels.map((channel: Record<string, unknown>) => [
      text(channel.name),
      text(channel.unit),
      text(channel.type),
      text(channel.group),
      text(channel.realm),
      number(channel.min),
      number(channel.max),
      number(channel.nullCount),
    ]),
  };
}

const maxCurves = 12;
const pointsOfCurve = 1_000;

/** Curves of a recording that is in one of the session's dashboards; null when none has it. */
export async function recordingCurves(
  outputId: number,
  dimensions: readonly SessionDimension[],
  signal: AbortSignal,
): Promise<Curves | null> {
  for (const { id } of dimensions) {
    const dashboard = await readDashboard(String(id), signal);
    const source = dashboard.sources.find((one) => one.outputId === outputId);
    if (source === undefined || source.time.from === null || source.time.to === null) continue;
    const channels = source.channels
      .filter(({ type }) => type === 'number' || type === 'integer')
      .slice(0, maxCurves);
    if (channels.length === 0) return null;
    const keys = channels.map(({ key }) => key);
    const span = { fromMs: Date.parse(source.time.from), toMs: Date.parse(source.time.to) };
    const reply = await readSeries(String(id), keys, span, pointsOfCurve, signal);
    return joined(reply.series, axisOfTimes(source.time));
  }
  return null;
}

/** One list of times for all curves; a curve without a point at a time has a gap. */
function joined(series: readonly ChannelSeries[], axis: Curves['axis']): Curves {
  const { times, values } = joinCurves(series);
  return {
    axis,
    xs: times,
    curves: series.map(({ name, unit }, index) => ({
      name: unit === null || unit === '' ? name : `${name} [${unit}]`,
      values: values[index]!.map((value) => (typeof value === 'number' ? value : null)),
    })),
  };
}
