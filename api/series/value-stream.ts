/** The rows of channels and of derived channels of one recording, in the order of its file. */
import { channelsOf, positionOverRows } from '../../domain/recordings/derived-syntax.ts';
import { type Compute, startComputing } from '../../domain/recordings/derived-values.ts';
import { channelValue, type OpenSource, type Range, streamNumbers } from './scan.ts';

/** Rows that follow those given before. */
export interface Values {
  readonly times: Float64Array;
  /** The values of each asked id, NaN where empty; truth values are 1 and 0. */
  readonly columns: readonly Float64Array[];
  /** Numbers of the rows in the file. */
  readonly numbers: Float64Array;
  readonly rows: number;
}

/**
 * Reads some channels and derived channels of a range. What is computed over rows begins at the start of the recording, so
 * a value does not depend on the range.
 * @param ids of channels, inputs or derived channels of the source
 */
export async function streamValues(
  source: OpenSource,
  ids: readonly string[],
  range: Range,
  onValues: (values: Values) => void | Promise<void>,
): Promise<void> {
  const computes = new Map<string, Compute>();
  const names = new Set<string>();
  let isFromStart = false;
  for (const id of new Set(ids)) {
    const one = source.derived.find((derived) => derived.id === id);
    if (one === undefined) {
      names.add(id);
      continue;
    }
    computes.set(id, startComputing(one.derived, source.recording.time.basis === 'row-number' ? 1 : 1000));
    for (const { name } of channelsOf(one.derived)) names.add(name);
    isFromStart ||= positionOverRows(one.derived) !== null;
  }
  const stored = [...names];
  const known = new Map([...source.inputs, ...source.channels].map((channel) => [channel.id, channel]));
  const sql = stored.map((id) => {
    const channel = known.get(id);
    if (channel === undefined || channel.type === 'text') throw new Error('A channel has no numbers.');
    return channelValue(channel);
  });
  let before = -1;
  const read = isFromStart ? { fromMs: source.recording.time.from, toMs: range.toMs } : range;
  await streamNumbers(source, ['file_row_number', ...sql], read, (vectors, rows) => {
    const [times, numbers, ...columns] = vectors as readonly [Float64Array, Float64Array];
    before = checkOrder(numbers, before);
    const place = new Map(stored.map((id, index) => [id, columns[index] as unknown as Float64Array]));
    const column = (id: string) => place.get(id) as Float64Array;
    const computed = new Map([...computes].map(([id, compute]) => [id, compute({ times, column, rows })]));
    const first = isFromStart ? firstIn(times, range.fromMs) : 0;
    if (first === rows) return undefined;
    return onValues({
      times: times.subarray(first),
      numbers: numbers.subarray(first),
      columns: ids.map((id) => (computed.get(id) ?? column(id)).subarray(first)),
      rows: rows - first,
    });
  });
}

/** What is computed from the rows before needs them in order, which the database promises by default. */
function checkOrder(numbers: Float64Array, before: number): number {
  let last = before;
  for (const number of numbers) {
    if (number <= last) throw new Error('The database returned rows out of order.');
    last = number;
  }
  return last;
}

/** The rows are in the order of time where what is computed over rows is read. */
function firstIn(times: Float64Array, fromMs: number): number {
  const first = times.findIndex((time) => time >= fromMs);
  return first === -1 ? times.length : first;
}
