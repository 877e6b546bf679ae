/**
 * Counters of a task's log that both threads see at any time, also while the main thread computes: how much waits to be
 * sent, which sequence was used last, how many lines were dropped, whether the end was reported for the main thread.
 */
const waitingBytes = 0;
const sequence = 1;
const droppedLines = 2;
const ended = 3;

/** Memory for the lines of one task that are not sent yet. */
const maxWaitingBytes = 4 * 1024 * 1024;

export class LogShare {
  readonly buffer: SharedArrayBuffer;
  readonly #counts: Int32Array;

  constructor(buffer = new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#counts = new Int32Array(buffer);
  }

  /** False when there is no room for so many bytes; the line then counts as dropped. */
  enter(bytes: number): boolean {
    if (Atomics.add(this.#counts, waitingBytes, bytes) + bytes <= maxWaitingBytes) return true;
    this.leave(bytes);
    this.drop(1);
    return false;
  }

  leave(bytes: number): void {
    Atomics.sub(this.#counts, waitingBytes, bytes);
  }

  /** Whether lines wait to be sent. */
  get isWaiting(): boolean {
    return Atomics.load(this.#counts, waitingBytes) > 0;
  }

  /** The other thread has nothing left to do for the task. */
  noteEnd(): void {
    Atomics.store(this.#counts, ended, 1);
  }

  get hasEnded(): boolean {
    return Atomics.load(this.#counts, ended) > 0;
  }

  drop(lines: number): void {
    Atomics.add(this.#counts, droppedLines, lines);
  }

  get hasDropped(): boolean {
    return Atomics.load(this.#counts, droppedLines) > 0;
  }

  /** @returns the lines that were dropped since the last call */
  resetDropped(): number {
    return Atomics.exchange(this.#counts, droppedLines, 0);
  }

  nextSequence(): number {
    return Atomics.add(this.#counts, sequence, 1) + 1;
  }

  /** A new thread begins without the lines of the one before. */
  clear(): void {
    Atomics.store(this.#counts, waitingBytes, 0);
  }
}
