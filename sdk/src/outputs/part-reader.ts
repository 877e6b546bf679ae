/** Cuts any source of bytes into parts of a size, and holds one part at a time. */

export type Bytes = string | Uint8Array | ArrayBuffer;
/** Whole bytes, or a stream of them: Node streams, web streams, generators. Text is written as UTF-8. */
export type Source = Bytes | AsyncIterable<Bytes> | Iterable<Bytes>;

export interface Part {
  readonly bytes: Uint8Array;
  /** True when nothing follows. */
  readonly isLast: boolean;
}

export class PartReader {
  readonly #chunks: AsyncIterator<Bytes> | Iterator<Bytes>;
  readonly #makeBuffer: (sizeBytes: number) => Uint8Array;
  /** Read and not yet handed out. */
  #buffered: Uint8Array = new Uint8Array(0);
  #isOver = false;

  /** @param makeBuffer memory for a part; it belongs to the receiver of the part */
  constructor(source: Source, makeBuffer: (sizeBytes: number) => Uint8Array) {
    this.#chunks = iteratorOf(source);
    this.#makeBuffer = makeBuffer;
  }

  /** The next part of exactly `sizeBytes`, or what is left. Rejects when the source fails. */
  async read(sizeBytes: number): Promise<Part> {
    const buffer = this.#makeBuffer(sizeBytes);
    let filled = 0;
    while (filled < sizeBytes && (await this.#fill())) {
      const piece = this.#buffered.subarray(0, sizeBytes - filled);
      buffer.set(piece, filled);
      filled += piece.length;
      this.#buffered = this.#buffered.subarray(piece.length);
    }
    return { bytes: buffer.subarray(0, filled), isLast: !(await this.#fill()) };
  }

  /** Closes the source: nothing further is read. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#chunks.return?.();
  }

  /** True when bytes are available. */
  async #fill(): Promise<boolean> {
    while (this.#buffered.length === 0 && !this.#isOver) {
      const next = await this.#chunks.next();
      if (next.done === true) this.#isOver = true;
      else this.#buffered = toBytes(next.value);
    }
    return this.#buffered.length > 0;
  }
}

function iteratorOf(source: Source): AsyncIterator<Bytes> | Iterator<Bytes> {
  if (isBytes(source)) return [source][Symbol.iterator]();
  if (typeof source === 'object' && source !== null) {
    if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]();
    if (Symbol.iterator in source) return source[Symbol.iterator]();
  }
  throw new TypeError('An output is a string, bytes, or a stream of them.');
}

export function isBytes(value: unknown): value is Bytes {
  return typeof value === 'string' || value instanceof Uint8Array || value instanceof ArrayBuffer;
}

export function toBytes(value: Bytes): Uint8Array {
  if (typeof value === 'string') return Buffer.from(value, 'utf8');
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new TypeError('A stream of an output must yield strings or bytes.');
}
