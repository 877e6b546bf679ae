/** Channels of states from the coarse level: every change of a range, without reading its rows. */
import type { Changes } from './overview.ts';
import type { ReadPoints } from './protocol.ts';

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
  const first = firstAtOrBehind(count, timeOf, firstMs);
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

function firstAtOrBehind(count: number, timeOf: (change: number) => number, timeMs: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(middle) < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
