/**
 * The coarse level that the tabular conversion puts into a recording's file: of each block of rows and each channel of
 * numbers, truth values (as 0 and 1) or few texts (as their numbers, in the order of the texts) the lowest, highest,
 * first and last point. Little-endian Float64 at `offset`:
 *
 * 1. `blocks` times: first time, last time, number of rows;
 * 2. for each column, `blocks` times: time and value of lowest, highest, first, last; NaN where all rows are empty;
 * 3. for each column of texts, and of truth values since there are moments: the texts as JSON, and of each change time,
 *    number of the text (NaN: empty), and 1 when no row before has the same time, else 0;
 * 4. moments, which older recordings lack: for each column, `blocks` times: number of values, mean, and the sum of
 *    squares of their distances from it.
 *
 * Whole blocks are put into buckets by their first time, so a bucket's extremes are those of its rows.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { momentNumbers } from '../../domain/outputs/recording.ts';
import { PointList } from './points.ts';
import type { SeriesRecording } from './recording.ts';
import type { Tally } from './tally.ts';

type Overview = NonNullable<SeriesRecording['overview']>;

const headNumbers = 3;
const columnNumbers = 8;
const changeNumbers = 3;
const numberBytes = Float64Array.BYTES_PER_ELEMENT;
const tooShort = 'The recording ends within its coarse level.';

/** From one to another, both included. */
export interface Blocks {
  readonly first: number;
  readonly last: number;
}

/** The rows at which a text changes. */
export interface Changes {
  readonly texts: readonly string[];
  /** Three for each change, see above. */
  readonly numbers: Float64Array;
}

interface SizedFile {
  readonly handle: FileHandle;
  readonly sizeBytes: number;
}

export class OverviewFile {
  readonly #file: SizedFile;
  readonly #overview: Overview;
  readonly #heads: Float64Array;

  private constructor(file: SizedFile, overview: Overview, heads: Float64Array) {
    this.#file = file;
    this.#overview = overview;
    this.#heads = heads;
  }

  /** @throws Error when the file is shorter than the overview says */
  static async open(path: string, overview: Overview): Promise<OverviewFile> {
    const handle = await open(path, 'r');
    try {
      const file = { handle, sizeBytes: (await handle.stat()).size };
      const heads = await readNumbers(file, overview.offset, headNumbers * overview.blocks);
      return new OverviewFile(file, overview, heads);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#file.handle.close();
  }

  has(column: string): boolean {
    return this.#overview.columns.includes(column);
  }

  get hasMoments(): boolean {
    return this.#overview.moments === true;
  }

  get blockRows(): number {
    return this.#overview.blockRows;
  }

  /** It knows all channels of few texts, and this is none of them. */
  isFreeText(column: string): boolean {
    return this.#overview.texts?.every((text) => text.column !== column) === true;
  }

  /** Blocks that lie in a range as a whole, `first` to `last`; null when there is none. */
  wholeBlocks(fromMs: number, toMs: number): { first: number; last: number; rows: number } | null {
    const { blocks } = this.#overview;
    let first = 0;
    while (first < blocks && this.#from(first) < fromMs) first++;
    let last = blocks - 1;
    while (last >= first && this.#to(last) > toMs) last--;
    if (last < first) return null;
    let rows = 0;
    for (let block = first; block <= last; block++) rows += this.#heads[headNumbers * block + 2] as number;
    return { first, last, rows };
  }

  /** Times that the block before and the block behind a run of blocks share with a range; null when they do not. */
  edges(
    blocks: Blocks,
    fromMs: number,
    toMs: number,
  ): { before: [number, number] | null; behind: [number, number] | null } {
    const { first, last } = blocks;
    const isBefore = first > 0 && this.#to(first - 1) >= fromMs;
    const isBehind = last + 1 < this.#overview.blocks && this.#from(last + 1) <= toMs;
    return {
      before: isBefore ? [fromMs, this.#to(first - 1)] : null,
      behind: isBehind ? [this.#from(last + 1), toMs] : null,
    };
  }

  /** Times of the first and the last row of a run of blocks. */
  span({ first, last }: Blocks): { first: number; last: number } {
    return { first: this.#from(first), last: this.#to(last) };
  }

  /**
   * Blocks in runs that last longer than some time or not. A long block has few rows for its time: its four points are
   * far apart, where the recorder wrote slowly, and its rows are not many.
   */
  runs(blocks: Blocks, longMs: number): (Blocks & { readonly isLong: boolean })[] {
    const runs: { first: number; last: number; isLong: boolean }[] = [];
    for (let block = blocks.first; block <= blocks.last; block++) {
      const isLong = this.#to(block) - this.#from(block) > longMs;
      const run = runs.at(-1);
      if (run?.isLong === isLong) run.last = block;
      else runs.push({ first: block, last: block, isLong });
    }
    return runs;
  }

  /** Points of a column over whole blocks, gathered into buckets of equal time. */
  async points(column: string, blocks: Blocks, buckets: number): Promise<PointList> {
    const { first, last } = blocks;
    const numbers = await this.#points(column, blocks);
    const start = this.#from(first);
    // Blocks of one time are one bucket.
    const perMs = buckets / (this.#from(last) - start || Number.POSITIVE_INFINITY);
    const list = new PointList();
    let bucket: Bucket | null = null;
    for (let block = first; block <= last; block++) {
      const index = Math.min(Math.floor((this.#from(block) - start) * perMs), buckets - 1);
      if (bucket === null || bucket.index !== index) {
        bucket?.addTo(list);
        bucket = new Bucket(index, this.#from(block));
      }
      bucket.add(numbers, columnNumbers * (block - first));
    }
    bucket?.addTo(list);
    return list;
  }

  /** The lowest, highest, first and last value of a column in each of the blocks, each as time and value. */
  async #points(column: string, { first, last }: Blocks): Promise<Float64Array> {
    const { offset, blocks, columns } = this.#overview;
    const before = headNumbers * blocks + columnNumbers * (blocks * columns.indexOf(column) + first);
    return readNumbers(this.#file, offset + numberBytes * before, columnNumbers * (last - first + 1));
  }

  /** Adds what is known of some whole blocks of a column. The level must have moments. */
  async addTo(tally: Tally, column: string, blocks: Blocks): Promise<void> {
    const { first, last } = blocks;
    const before = momentNumbers * (this.#overview.blocks * this.#overview.columns.indexOf(column) + first);
    const moments = await readNumbers(
      this.#file,
      this.#behindTexts() + numberBytes * before,
      momentNumbers * (last - first + 1),
    );
    const points = await this.#points(column, blocks);
    for (let block = 0; block <= last - first; block++) {
      const count = moments[momentNumbers * block] as number;
      if (count === 0) continue;
      const at = columnNumbers * block;
      tally.addMoments(
        count,
        moments[momentNumbers * block + 1] as number,
        moments[momentNumbers * block + 2] as number,
      );
      tally.addLowest(points[at] as number, points[at + 1] as number);
      tally.addHighest(points[at + 2] as number, points[at + 3] as number);
    }
  }

  /** The texts that the numbers of a column stand for. */
  async texts(column: string): Promise<readonly string[]> {
    const place = this.#textPlace(column);
    if (place === null) throw new Error('The coarse level has no texts of this column.');
    const numbers = await readNumbers(this.#file, place.offset, place.bytes / numberBytes);
    return JSON.parse(Buffer.from(numbers.buffer).toString()) as string[];
  }

  /** Null when there are too many, or the file is older than they are. */
  async changes(column: string): Promise<Changes | null> {
    const place = this.#textPlace(column);
    if (place === null || place.changes === null) return null;
    const texts = await this.texts(column);
    const at = place.offset + place.bytes;
    return { texts, numbers: await readNumbers(this.#file, at, changeNumbers * place.changes) };
  }

  /** Times between which the first row of a range lies, and the last. */
  firstAndLast(fromMs: number, toMs: number): { first: [number, number]; last: [number, number] } {
    const end = this.#overview.blocks - 1;
    let head = 0;
    while (head < end && this.#to(head) < fromMs) head++;
    let tail = end;
    while (tail > 0 && this.#from(tail) > toMs) tail--;
    return { first: [fromMs, this.#to(head)], last: [this.#from(tail), toMs] };
  }

  #textPlace(column: string): { offset: number; bytes: number; changes: number | null } | null {
    let at = this.#behindBlocks();
    for (const text of this.#overview.texts ?? []) {
      if (text.column === column) return { ...text, offset: at };
      at += textBytes(text);
    }
    return null;
  }

  #behindBlocks(): number {
    const { offset, blocks, columns } = this.#overview;
    return offset + numberBytes * blocks * (headNumbers + columnNumbers * columns.length);
  }

  #behindTexts(): number {
    return (this.#overview.texts ?? []).reduce((at, text) => at + textBytes(text), this.#behindBlocks());
  }

  #from(block: number): number {
    return this.#heads[headNumbers * block] as number;
  }

  #to(block: number): number {
    return this.#heads[headNumbers * block + 1] as number;
  }
}

function textBytes({ bytes, changes }: { bytes: number; changes: number | null }): number {
  return bytes + numberBytes * changeNumbers * (changes ?? 0);
}

/** Lowest, highest, first and last over some blocks; each pair is time and value. */
class Bucket {
  readonly index: number;
  readonly #time: number;
  readonly #numbers = new Float64Array(columnNumbers).fill(Number.NaN);

  constructor(index: number, time: number) {
    this.index = index;
    this.#time = time;
  }

  add(numbers: Float64Array, at: number): void {
    if (Number.isNaN(numbers[at])) return;
    const isFirst = Number.isNaN(this.#numbers[0]);
    if (isFirst || (numbers[at + 1] as number) < (this.#numbers[1] as number)) this.#setPair(numbers, at, 0);
    if (isFirst || (numbers[at + 3] as number) > (this.#numbers[3] as number)) this.#setPair(numbers, at, 2);
    if (isFirst) this.#setPair(numbers, at, 4);
    this.#setPair(numbers, at, 6);
  }

  addTo(list: PointList): void {
    if (Number.isNaN(this.#numbers[0])) {
      list.addGap(this.#time);
      return;
    }
    const order = [4, 0, 2, 6];
    list.addBucket(
      order.map((at) => ({ time: this.#numbers[at] as number, value: this.#numbers[at + 1] as number })),
    );
  }

  #setPair(numbers: Float64Array, at: number, pair: number): void {
    this.#numbers[pair] = numbers[at + pair] as number;
    this.#numbers[pair + 1] = numbers[at + pair + 1] as number;
  }
}

async function readNumbers(file: SizedFile, offset: number, count: number): Promise<Float64Array> {
  // Before any memory is taken: another program may have written the description.
  if (offset + numberBytes * count > file.sizeBytes) throw new Error(tooShort);
  const numbers = new Float64Array(count);
  const bytes = new Uint8Array(numbers.buffer);
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.handle.read(bytes, filled, bytes.length - filled, offset + filled);
    if (bytesRead === 0) throw new Error(tooShort);
    filled += bytesRead;
  }
  return numbers;
}
