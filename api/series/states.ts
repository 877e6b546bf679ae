/** Channels of states: every change of a range from the coarse level, and how long each state lasts. */
import type { Changes } from './overview.ts';
import type { ReadPoints } from './protocol.ts';
import { type Channels, channelValue, type Range, type RecordingFile, rowsOf } from './scan.ts';

const perChange = 3;

/**
 * The rows of a range at which the text differs from the row before, and its last row: the same as `readChanges` finds.
 * @param firstMs time of the first row of the range
 * @param lastMs time of its last row
 * @returns null when there are more than `maxPoints`
 */
export function stateChanges(
  { texts, numbers }: Changes,
  firstMs: number,
  lastMs: number,
  maxPoints: number,
): ReadPoints | null {
  const count = numbers.length / perChange;
  const timeOf = (change: number) => numbers[perChange * change] as number;
  const textOf = (change: number) => texts[numbers[perChange * change + 1] as number] ?? null;
  const times: number[] = [];
  const values: (string | null)[] = [];
  const put = (time: number, value: string | null) => {
    // A range that begins with empty rows begins with its first text.
    if (value === null && times.length === 0) return;
    times.push(time);
    values.push(value);
  };
  const first = firstAtOrAfter(count, timeOf, firstMs);
  const isFirstRow = first < count && timeOf(first) === firstMs && numbers[perChange * first + 2] === 1;
  if (!isFirstRow && first > 0) put(firstMs, textOf(first - 1));
  for (let change = first; change < count && timeOf(change) <= lastMs; change++) {
    put(timeOf(change), textOf(change));
    if (times.length >= maxPoints) return null;
  }
  if (times.length === 0 || lastMs > (times.at(-1) as number)) {
    times.push(lastMs);
    values.push(values.at(-1) ?? null);
  }
  return { times, values };
}

/** A state, truth values as `false` and `true`, and the time from its rows to the rows behind them. */
export interface StateDuration {
  readonly text: string;
  readonly ms: number;
}

/** @param changes the points at which a state changes, and the last row */
export function holdTimes({ times, values }: ReadPoints): StateDuration[] {
  const held = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const time = times[index] as number;
    held.set(String(value), (held.get(String(value)) ?? 0) + (times[index + 1] ?? time) - time);
  }
  return [...held].map(([text, ms]) => ({ text, ms }));
}

const maxTexts = 4096;
const sampleRows = 100_000;

/** The same from the rows, which must be in the order of time; null for texts that hardly repeat. */
export async function readHeldStates(
  { connection, path }: RecordingFile,
  channel: Channels[number],
  range: Range,
): Promise<StateDuration[] | null> {
  const within = 'FROM read_parquet($1) WHERE t >= $2 AND t <= $3';
  const parameters = [path, range.fromMs, range.toMs];
  const text = `CAST(${channelValue(channel)} AS VARCHAR)`;
  const [sample] = await rowsOf(
    connection,
    `SELECT count(DISTINCT v) FROM (SELECT ${text} AS v ${within} LIMIT ${sampleRows})`,
    parameters,
  );
  if (Number(sample?.[0]) > maxTexts) return null;
  // `lag` streams where `lead` would hold all rows. The state of the last row is there, and lasts no time.
  const rows = await rowsOf(
    connection,
    `SELECT v, sum(ms) FROM (
        SELECT lag(${text}) OVER () AS v, t - lag(t) OVER () AS ms ${within}
        UNION ALL
        SELECT ${text}, 0 ${within} AND t = (SELECT max(t) ${within})
      ) WHERE v IS NOT NULL GROUP BY v`,
    parameters,
  );
  return rows.map(([v, ms]) => ({ text: String(v), ms: Number(ms ?? 0) }));
}

function firstAtOrAfter(count: number, timeOf: (change: number) => number, timeMs: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(middle) < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
