/** What the coarse level keeps of one block of rows of one column. */
import { addMoments, momentNumbers } from '../../../../domain/outputs/recording.ts';

export interface ColumnFacts {
  min: number;
  max: number;
  values: number;
  areIntegers: boolean;
  hasInfinity: boolean;
  /** The moments of all values, see {@link addMoments}. */
  readonly moments: Float64Array;
}

/** Rows of one column, `start` to before `end`; NaN where empty. */
interface Segment {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly start: number;
  readonly end: number;
}

/** The values of a column in all blocks; empty when the recording has no coarse level. */
interface Blocks {
  readonly points: Float64Array;
  readonly moments: Float64Array;
}

/** Time and value of lowest, highest, first, last. */
export const pointNumbers = 8;

/** The inner loop: adds rows of one column to a block. */
export function addSegment(segment: Segment, into: Blocks, block: number, facts: ColumnFacts): void {
  const { values, start, end } = segment;
  let [lowest, highest, first, last] = [-1, -1, -1, -1];
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let count = 0;
  let areIntegers = facts.areIntegers;
  // Sums of distances from the first value: sums of the values themselves would lose digits.
  let origin = 0;
  let sum = 0;
  let squares = 0;
  for (let i = start; i < end; i++) {
    const value = values[i] as number;
    if (Number.isNaN(value)) continue;
    if (first === -1) {
      first = i;
      origin = value;
    }
    last = i;
    count++;
    if (lowest === -1 || value < low) {
      low = value;
      lowest = i;
    }
    if (highest === -1 || value > high) {
      high = value;
      highest = i;
    }
    const distance = value - origin;
    sum += distance;
    squares += distance * distance;
    if (areIntegers && !Number.isInteger(value)) areIntegers = false;
  }
  if (count === 0) return;
  facts.values += count;
  facts.areIntegers = areIntegers;
  if (low === Number.NEGATIVE_INFINITY || high === Number.POSITIVE_INFINITY) facts.hasInfinity = true;
  if (low < facts.min) facts.min = low;
  if (high > facts.max) facts.max = high;
  const mean = origin + sum / count;
  const spread = Math.max(0, squares - (sum * sum) / count);
  addMoments(facts.moments, 0, count, mean, spread);
  if (into.points.length === 0) return;
  addPoints(into.points, pointNumbers * block, segment, { lowest, highest, first, last });
  addMoments(into.moments, momentNumbers * block, count, mean, spread);
}

type Rows = { readonly [Point in 'lowest' | 'highest' | 'first' | 'last']: number };

/** @param rows of the segment, those with its lowest, highest, first and last value */
function addPoints(points: Float64Array, at: number, { times, values }: Segment, rows: Rows): void {
  const putRow = (place: number, row: number) => {
    points[place] = times[row] as number;
    points[place + 1] = values[row] as number;
  };
  const isFirstOfBlock = Number.isNaN(points[at]);
  if (isFirstOfBlock || (values[rows.lowest] as number) < (points[at + 1] as number)) putRow(at, rows.lowest);
  if (isFirstOfBlock || (values[rows.highest] as number) > (points[at + 3] as number))
    putRow(at + 2, rows.highest);
  if (isFirstOfBlock) putRow(at + 4, rows.first);
  putRow(at + 6, rows.last);
}
