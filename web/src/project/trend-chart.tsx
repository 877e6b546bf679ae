import type { SessionListRow } from '../api.ts';
import { formatDate, formatDateTime, plural } from '../format.ts';
import { type Resource, useResource } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { Select } from '../ui/form.tsx';
import { Failure, Placeholder } from '../ui/notice.tsx';
import { type OutputFigures, readOutputFigures } from './output-figures.ts';
import {
  figurePaths,
  figureText,
  ofOutputs,
  outputPaths,
  outputTrendOf,
  type TrendPoint,
  trendOf,
} from './trend.ts';

const [width, height, edge] = [720, 180, 14];
/** From this many points on they are drawn smaller, so that they do not touch. */
const crowded = 40;

/** A key figure over sessions: which one is in the address. A point leads to its session. */
export function TrendChart(props: { sessions: readonly SessionListRow[]; pinned: readonly string[] }) {
  const { path: place, query } = useAddress();
  const asked = query.get('figure') ?? '';
  const isOfOutputs = asked.startsWith(ofOutputs);
  const outputs = useOutputFigures(props.sessions, isOfOutputs);
  const found = outputs.data === null ? [] : outputPaths(outputs.data);
  const stored = figurePaths(props.sessions, props.pinned);
  const first = isOfOutputs ? found[0] : undefined;
  const path = [...stored, ...found].find((one) => one === asked) ?? first ?? stored[0]!;
  const points =
    outputs.data !== null && path.startsWith(ofOutputs)
      ? outputTrendOf(props.sessions, outputs.data, path)
      : trendOf(props.sessions, path);
  const isReading = isOfOutputs && outputs.data === null && outputs.error === null;
  const options = [
    ...[...stored, ...found].map((one) => ({ value: one, label: one })),
    ...(found.length > 0 ? [] : [{ value: ofOutputs, label: 'figures of outputs …' }]),
  ];
  return (
    <section class="card project-trend" aria-labelledby="trend-title">
      <div class="project-trend-head">
        <h2 id="trend-title">Over sessions</h2>
        <Select
          label="Key figure"
          value={isOfOutputs && found.length === 0 ? ofOutputs : path}
          options={options}
          onValue={(next) => navigate(`${place}?figure=${encodeURIComponent(next)}`, { replace: true })}
        />
      </div>
      {isOfOutputs && outputs.error !== null && (
        <Failure what="The outputs could not be read." error={outputs.error} retry={outputs.reload} />
      )}
      {isReading && <Placeholder rows={3} label="Reading the outputs of the sessions" />}
      {!isReading && points.length === 0 && <p class="faint">No session has this figure yet.</p>}
      {!isReading && points.length > 0 && <Plot path={path} points={points} />}
    </section>
  );
}

/** The points on a line, with the highest and the lowest value, the first and the last day. */
function Plot({ path, points }: { path: string; points: readonly TrendPoint[] }) {
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const yOf = (value: number) =>
    high === low ? height / 2 : height - edge - ((height - 2 * edge) * (value - low)) / (high - low);
  const placed = points.map((point, index) => ({
    point,
    x: points.length === 1 ? width / 2 : edge + ((width - 2 * edge) * index) / (points.length - 1),
    y: yOf(point.value),
  }));
  const levels = high === low ? [high] : [high, low];
  return (
    <div class="project-trend-plot faint figure">
      <div class="project-trend-levels">
        {levels.map((level) => (
          <span key={level}>{figureText(path, level, high)}</span>
        ))}
      </div>
      <svg viewBox={`0 0 ${width} ${height}`} class="project-trend-chart">
        <title>{`${path} of ${plural(points.length, 'session', 'sessions')}, oldest first`}</title>
        {levels.map((level) => (
          <line key={level} x1={0} x2={width} y1={yOf(level)} y2={yOf(level)} />
        ))}
        <path d={placed.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('')} />
        {placed.map(({ point, x, y }) => (
          <a key={point.id} href={`/sessions/${point.id}`} aria-label={pointText(path, point, high)}>
            <circle cx={x} cy={y} r={placed.length > crowded ? 3 : 5}>
              <title>{pointText(path, point, high)}</title>
            </circle>
          </a>
        ))}
      </svg>
      <div class="project-trend-days">
        {daysOf(points).map((day) => (
          <span key={day}>{day}</span>
        ))}
      </div>
    </div>
  );
}

/** The day of the first and of the last; with the time of day where both are the same. */
function daysOf(points: readonly TrendPoint[]): string[] {
  const ends = [points[0]!, points.at(-1)!].map(({ at }) => new Date(at).toISOString());
  const days = new Set(ends.map(formatDate));
  return [...(days.size > 1 ? days : new Set(ends.map(formatDateTime)))];
}

/** Read when they are first asked for, and again when a session is new or has changed. */
function useOutputFigures(
  sessions: readonly SessionListRow[],
  isAsked: boolean,
): Resource<OutputFigures | null> {
  const state = sessions.map(({ id, outputBytes }) => `${id} ${outputBytes}`).join();
  return useResource(
    isAsked ? state : '',
    (signal) => (isAsked ? readOutputFigures(sessions, signal) : Promise.resolve(null)),
    { keepWhileLoading: true },
  );
}

const pointText = (path: string, { name, at, value }: TrendPoint, largest: number) =>
  `${name}: ${figureText(path, value, largest)}, ${formatDateTime(new Date(at).toISOString())}`;
