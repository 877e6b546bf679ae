import type { ChannelSeries, SessionDimension } from '../../api.ts';
import { channelsOf, firstChoice, fullSpan, timeKinds } from '../../dashboard/model.ts';
import { readDashboard, readSeries } from '../../dashboard-api.ts';
import { formatValue } from '../../format.ts';
import { useResource } from '../../hooks.ts';
import { Failure, Placeholder } from '../../ui/notice.tsx';

const mostCharts = 4;
const pointsOfChart = 240;

interface Shown {
  readonly series: readonly ChannelSeries[];
  /** Of several recordings, the one that a channel is of. */
  readonly sources: ReadonlyMap<string, string>;
}

/** The first charts of the session's newest dashboard, small, each a link to it. */
export function Thumbnails(props: {
  dimension: SessionDimension;
  /** The dashboard is read again when that changes. */
  version: string;
}) {
  const id = String(props.dimension.id);
  const shown = useResource(`${id}:${props.version}`, (signal) => readFirst(id, signal), {
    keepWhileLoading: true,
  });
  if (shown.error !== null)
    return <Failure what="The charts could not be read." error={shown.error} retry={shown.reload} />;
  if (shown.data === null) return <Placeholder rows={1} label="Loading the charts" />;
  const { sources } = shown.data;
  const drawn = shown.data.series.filter(({ values }) => numbersOf(values).length > 1);
  if (drawn.length === 0) return null;
  return (
    <ul class="thumbnails" aria-label="First charts of the dashboard">
      {drawn.map((series) => (
        <li key={series.channel}>
          <Thumbnail series={series} source={sources.get(series.channel) ?? ''} href={`/dashboards/${id}`} />
        </li>
      ))}
    </ul>
  );
}

async function readFirst(id: string, signal: AbortSignal): Promise<Shown> {
  const dashboard = await readDashboard(id, signal);
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
  const first = [...byName.values()].slice(0, mostCharts);
  if (first.length === 0) return { series: [], sources };
  const { series } = await readSeries(id, first, span.fromMs, span.toMs, pointsOfChart, signal);
  return { series, sources };
}

const numbersOf = (values: ChannelSeries['values']) =>
  values.filter((value): value is number => typeof value === 'number');

function Thumbnail({ series, source, href }: { series: ChannelSeries; source: string; href: string }) {
  const numbers = numbersOf(series.values);
  const lowest = Math.min(...numbers);
  const highest = Math.max(...numbers);
  const unit = series.unit ?? '';
  return (
    <a class="thumbnail" href={href}>
      <span class="thumbnail-head">
        <span>
          <strong>{series.name}</strong> <span class="faint">{source}</span>
        </span>
        <span class="faint figure">
          {formatValue(lowest)} to {formatValue(highest)} {unit}
        </span>
      </span>
      <svg viewBox="0 0 240 56" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <path d={pathOf(series, lowest, highest)} />
      </svg>
    </a>
  );
}

/** A gap in the values is a gap in the line. */
function pathOf({ times, values }: ChannelSeries, lowest: number, highest: number): string {
  const [from = 0, to = 1] = [times[0], times.at(-1)];
  let isDown = false;
  return values
    .map((value, index) => {
      if (typeof value !== 'number') {
        isDown = false;
        return '';
      }
      const x = (240 * (times[index]! - from)) / Math.max(1, to - from);
      const y = highest === lowest ? 28 : 53 - (50 * (value - lowest)) / (highest - lowest);
      const step = `${isDown ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
      isDown = true;
      return step;
    })
    .join('');
}
