/**
 * Points of derived channels, points over another channel in place of time, one trace for each value of a step channel, and
 * points of the same rows for all channels. All come from the rows: the coarse level knows stretches of time only.
 */
import { quote } from '../../domain/issue.ts';
import { limits } from '../../domain/limits.ts';
import { BucketPoints } from './buckets.ts';
import { PointList, pointsPerBucket } from './points.ts';
import type { NamedChannel, ReadTrace, TracesJob } from './protocol.ts';
import { rangeWithin, readSource } from './read-source.ts';
import type { SeriesValue } from './recording.ts';
import { SameRows } from './same-rows.ts';
import { countRows, type OpenSource, type Range } from './scan.ts';
import { findRuns, ReadRefused, type Run, type Trace, traceOf } from './trace-runs.ts';
import { streamValues, type Values } from './value-stream.ts';

/** Traces of each channel and then of each derived channel. */
export async function readTraces(
  source: OpenSource,
  job: Pick<TracesJob, 'fromMs' | 'toMs' | 'maxPoints' | 'sameRows'>,
): Promise<ReadTrace[][]> {
  const { channels, derived, x, split } = source;
  const range = rangeWithin(source, job);
  const asked = [...channels, ...derived];
  const nothing = { times: [], values: [], ...(x === undefined ? {} : { xs: [] }) };
  const none = asked.map(() => (split === undefined ? [nothing] : []));
  if (range.fromMs > range.toMs) return none;
  if (x !== undefined || split !== undefined) {
    const runs = await readRuns(source, range);
    if (runs.every(({ trace }) => trace === null || trace.rows === 0)) return none;
    return await readPoints(source, asked, range, runs, job.maxPoints);
  }
  if (job.sameRows) return await readSameRows(source, range, job.maxPoints);
  const stored = await readSource(source, job);
  if (derived.length === 0) return stored.map((points) => [points]);
  const trace = { ...traceOf(null), from: range.fromMs, to: range.toMs };
  trace.rows = await countRows(source, range);
  const runs = [{ number: 0, trace }];
  return [
    ...stored.map((points) => [points]),
    ...(await readPoints(source, derived, range, runs, job.maxPoints)),
  ];
}

async function readSameRows(source: OpenSource, range: Range, maxPoints: number): Promise<ReadTrace[][]> {
  const asked: { readonly id: string; readonly type?: string }[] = [...source.channels, ...source.derived];
  const rows = await countRows(source, range);
  const gathered = new SameRows(asked.length, range, { rows, maxPoints });
  const ids = asked.map(({ id }) => id);
  await streamValues(source, ids, range, ({ numbers, times, columns }) =>
    gathered.add(numbers, times, columns),
  );
  return gathered.points((channel) => asked[channel]?.type === 'boolean').map((points) => [points]);
}

/** The runs of rows, whose traces know how many rows they have and from where to where they go. */
async function readRuns(source: OpenSource, range: Range): Promise<Run[]> {
  const { x, split } = source;
  const runs = await (split === undefined
    ? [{ number: 0, trace: traceOf(null) }]
    : findRuns(source, split, range));
  await streamValues(source, x === undefined ? [] : [x.id], range, (values) => {
    for (const { trace, first, end } of partsOf(values, runs)) {
      for (let row = first; row < end; row++) {
        const time = values.times[row] as number;
        const position = x === undefined ? time : (values.columns[0]?.[row] as number);
        if (Number.isNaN(position)) continue;
        if (x !== undefined && position < trace.to)
          throw new ReadRefused(fallSentence(x, trace, position, split));
        if (trace.rows === 0) {
          trace.from = position;
          trace.fromMs = time;
        }
        trace.to = position;
        trace.toMs = time;
        trace.rows++;
      }
    }
  });
  return runs;
}

function fallSentence(x: NamedChannel, { to, value }: Trace, position: number, split?: NamedChannel): string {
  const within = split === undefined ? '' : ` where ${quote(split.name)} is ${String(value)}`;
  return `Channel ${quote(x.name)} cannot be x: it falls from ${to} to ${position}${within}.`;
}

/** Points of each id, trace by trace. */
async function readPoints(
  source: OpenSource,
  asked: readonly { readonly id: string; readonly type?: string }[],
  range: Range,
  runs: readonly Run[],
  maxPoints: number,
): Promise<ReadTrace[][]> {
  if (asked.length === 0) return [];
  const { x, split } = source;
  const ids = asked.map(({ id }) => id);
  const traces = [...new Set(runs.map(({ trace }) => trace))].filter(
    (trace) => trace !== null && trace.rows > 0,
  );
  const share = Math.floor(limits.tracePoints / Math.max(1, traces.length * ids.length));
  const most = Math.max(pointsPerBucket, Math.min(maxPoints, share));
  const drawn = new Map(
    (traces as Trace[]).map((trace) => [trace, collector(trace, asked, most, x !== undefined)]),
  );
  await streamValues(source, x === undefined ? ids : [...ids, x.id], range, (values) => {
    for (const { trace, first, end } of partsOf(values, runs)) {
      const cut = (numbers: Float64Array) => numbers.subarray(first, end);
      const times = cut(values.times);
      const columns = values.columns.map(cut);
      if (x === undefined) drawn.get(trace)?.add(times, columns);
      else drawn.get(trace)?.add(...withX(times, columns));
    }
  });
  return asked.map((_, index) =>
    [...drawn].map(([{ value, fromMs, toMs }, collected]) => ({
      ...collected.points(index),
      ...(split === undefined ? {} : { trace: { value, from: fromMs, to: toMs } }),
    })),
  );
}

interface Collector {
  add(times: Float64Array, columns: readonly Float64Array[], xs?: Float64Array): void;
  points(index: number): ReadTrace;
}

/** Every row where there are few, else buckets. */
function collector(
  trace: Trace,
  asked: readonly { readonly type?: string }[],
  maxPoints: number,
  hasX: boolean,
): Collector {
  const isBoolean = (index: number) => asked[index]?.type === 'boolean';
  if (trace.rows > maxPoints) {
    const buckets = Math.max(1, Math.floor(maxPoints / pointsPerBucket));
    const range = { fromMs: trace.from, toMs: trace.to };
    const gathered = new BucketPoints(asked.length, range, buckets, hasX ? 'channel' : 'time');
    return {
      add: (times, columns, xs) => gathered.add(times, columns, times.length, xs),
      points: (index) => gathered.points(index, isBoolean(index)),
    };
  }
  const lists = asked.map(() => new PointList());
  const decode = (value: number, index: number): SeriesValue => {
    if (Number.isNaN(value)) return null;
    return isBoolean(index) ? value === 1 : value;
  };
  return {
    add(times, columns, xs) {
      for (const [index, list] of lists.entries()) {
        const values = columns[index] as Float64Array;
        for (const [row, time] of times.entries())
          list.add({ time, value: decode(values[row] as number, index), x: xs?.[row] });
      }
    },
    points: (index) => (lists[index] as PointList).points,
  };
}

/** The last column is x; rows without it are left out. */
function withX(
  times: Float64Array,
  columns: readonly Float64Array[],
): [Float64Array, Float64Array[], Float64Array] {
  const xs = columns.at(-1) as Float64Array;
  const rest = columns.slice(0, -1);
  if (!xs.some(Number.isNaN)) return [times, rest, xs];
  const keep = (numbers: Float64Array) => numbers.filter((_, row) => !Number.isNaN(xs[row]));
  return [keep(times), rest.map(keep), keep(xs)];
}

/** The stretches of consecutive rows that belong to one trace. */
function* partsOf(
  { numbers, rows }: Values,
  runs: readonly Run[],
): Generator<{ trace: Trace; first: number; end: number }> {
  let first = 0;
  // Runs are in the order of rows: the last one that begins at or before the first row.
  let at = runs.findLastIndex(({ number }) => number <= (numbers[0] as number));
  while (first < rows) {
    const next = runs[at + 1]?.number ?? Number.POSITIVE_INFINITY;
    let end = first;
    while (end < rows && (numbers[end] as number) < next) end++;
    const trace = runs[at]?.trace ?? null;
    if (trace !== null && end > first) yield { trace, first, end };
    first = end;
    at++;
  }
}
