import type { ChannelSeries, SessionDimension } from '../../api.ts';
import { readFirstCharts } from '../../dashboard/thumbnails/first-charts.ts';
import { curveOf, rangeOf, rangeWords } from '../../dashboard/thumbnails/small-curve.ts';
import { useResource } from '../../hooks.ts';
import { Failure, Placeholder } from '../../ui/notice.tsx';

const most = { charts: 4, points: 240 };
const size = { width: 240, height: 56 };

/** The first charts of the session's newest dashboard, small, each a link to it. */
export function Thumbnails(props: {
  dimension: SessionDimension;
  /** The dashboard is read again when that changes. */
  version: string;
}) {
  const id = String(props.dimension.id);
  const shown = useResource(`${id}:${props.version}`, (signal) => readFirstCharts(id, most, signal), {
    keepWhileLoading: true,
  });
  if (shown.error !== null)
    return <Failure what="The charts could not be read." error={shown.error} retry={shown.reload} />;
  if (shown.data === null) return <LoadingCharts />;
  const { sources, series: drawn } = shown.data;
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

/** As high as the charts are: what is below them stays where it is. */
const LoadingCharts = () => (
  <div class="thumbnails-loading">
    <Placeholder rows={most.charts} label="Loading the charts" />
  </div>
);

function Thumbnail({ series, source, href }: { series: ChannelSeries; source: string; href: string }) {
  const range = rangeOf(series);
  return (
    <a class="thumbnail" href={href}>
      <span class="thumbnail-head">
        <span>
          <strong>{series.name}</strong> <span class="faint">{source}</span>
        </span>
        <span class="faint figure">{rangeWords(series, range)}</span>
      </span>
      <svg viewBox="0 0 240 56" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <path d={curveOf(series, range, size)} />
      </svg>
    </a>
  );
}
