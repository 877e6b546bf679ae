import type { SessionListRow } from '../api.ts';
import { formatDateTime, formatValue } from '../format.ts';
import { navigate, useAddress } from '../router.ts';
import { Select } from '../ui/form.tsx';
import { figurePaths, type TrendPoint, trendOf } from './trend.ts';

const [width, height, edge] = [720, 180, 14];

/** A key figure over sessions: which one is in the address. A point leads to its session. */
export function TrendChart(props: { sessions: readonly SessionListRow[]; pinned: readonly string[] }) {
  const { path: place, query } = useAddress();
  const paths = figurePaths(props.sessions, props.pinned);
  const path = paths.find((one) => one === query.get('figure')) ?? paths[0]!;
  const points = trendOf(props.sessions, path);
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const placed = points.map((point, index) => ({
    point,
    x: points.length === 1 ? width / 2 : edge + ((width - 2 * edge) * index) / (points.length - 1),
    y: high === low ? height / 2 : height - edge - ((height - 2 * edge) * (point.value - low)) / (high - low),
  }));
  return (
    <section class="card project-trend" aria-labelledby="trend-title">
      <div class="project-trend-head">
        <h2 id="trend-title">Over sessions</h2>
        <Select
          label="Key figure"
          value={path}
          options={paths.map((one) => ({ value: one, label: one }))}
          onValue={(next) => navigate(`${place}?figure=${encodeURIComponent(next)}`, { replace: true })}
        />
        {points.length > 0 && (
          <span class="faint figure">
            {formatValue(low)} to {formatValue(high)}
          </span>
        )}
      </div>
      {points.length === 0 && <p class="faint">No session has this figure yet.</p>}
      {points.length > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} class="project-trend-chart">
          <title>{`${path} of ${points.length} sessions, oldest first`}</title>
          <path d={placed.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('')} />
          {placed.map(({ point, x, y }) => (
            <a key={point.id} href={`/sessions/${point.id}`} aria-label={said(point)}>
              <circle cx={x} cy={y} r="5">
                <title>{said(point)}</title>
              </circle>
            </a>
          ))}
        </svg>
      )}
    </section>
  );
}

const said = ({ name, at, value }: TrendPoint) =>
  `${name}: ${formatValue(value)}, ${formatDateTime(new Date(at).toISOString())}`;
