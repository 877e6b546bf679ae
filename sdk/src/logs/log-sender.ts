/** Sends the log lines of one task, in the heartbeat thread: also while the main thread computes without a pause. */
import { BackOff, isTransient } from '../calls/back-off.ts';
import { ApiError, isEnd } from '../errors.ts';
import { logEntry } from './log-entry.ts';
import { LogShare } from './log-share.ts';

const batchEntries = 500;
/** A call has up to 256 KB; the rest is for what surrounds the lines. */
const batchBytes = 250 * 1024;
/** Less than a second: a process that is killed loses no more. */
const pauseMs = 900;
const maxBackOffMs = 5_000;
/** A connection that lost its other end is silent, and the last lines have little time. Doubled with each further try. */
const firstSilenceMs = 700;

export interface LogSenderParts {
  readonly share: SharedArrayBuffer;
  /** Makes one try of a call with this body, with at most this silence, and returns its reply. */
  readonly send: (body: string, silenceMs: number, signal: AbortSignal) => Promise<unknown>;
  /** The task is lost. */
  readonly onEnd: (error: ApiError) => void;
  /** The platform does not know the route: it is older. */
  readonly onUnknown: () => void;
}

export class LogSender {
  readonly #parts: LogSenderParts;
  readonly #share: LogShare;
  readonly #over = new AbortController();
  readonly #lines: string[] = [];
  #lineBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isFlushing = false;
  /** False once the platform accepts no further lines of this task. */
  #isOpen = true;

  constructor(parts: LogSenderParts) {
    this.#parts = parts;
    this.#share = new LogShare(parts.share);
  }

  /** @param line an entry as JSON */
  add(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (!this.#isOpen) {
      this.#share.leave(bytes);
      return;
    }
    this.#lines.push(line);
    this.#lineBytes += bytes;
    this.#schedule();
  }

  /** Sends all lines now. Returns whether the platform has them before the time is over. */
  async flush(limitMs: number): Promise<boolean> {
    this.#isFlushing = true;
    this.#start();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.#sending, limit]);
    clearTimeout(timer);
    return this.#isOpen && this.#lines.length === 0;
  }

  /** The end of the task was reported, or cannot be. */
  noteEnd(): void {
    this.#share.noteEnd();
  }

  /** Sends nothing more. */
  stop(): void {
    this.#over.abort();
    this.#close();
  }

  #close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#share.leave(this.#lineBytes);
    this.#lines.length = 0;
    this.#lineBytes = 0;
  }

  get #isFull(): boolean {
    return this.#lines.length >= batchEntries || this.#lineBytes >= batchBytes;
  }

  #schedule(): void {
    if (this.#sending !== undefined) return;
    if (this.#isFull || this.#isFlushing) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), pauseMs);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#drain().finally(() => {
      this.#sending = undefined;
      if (this.#lines.length > 0) this.#schedule();
    });
  }

  async #drain(): Promise<void> {
    do {
      const count = this.#batchCount();
      // At the end of the task it is said too that lines were dropped after the last one.
      if (count === 0 && !(this.#isFlushing && this.#share.hasDropped)) return;
      const lines = this.#lines.slice(0, count);
      await this.#deliver(this.#body(lines), count);
      if (!this.#isOpen) return;
      this.#lines.splice(0, count);
      const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
      this.#lineBytes -= bytes;
      this.#share.leave(bytes);
    } while (this.#isFlushing || this.#isFull);
  }

  /** How many of the oldest lines fit into a call. */
  #batchCount(): number {
    let bytes = 0;
    let count = 0;
    for (const line of this.#lines) {
      bytes += Buffer.byteLength(line) + 1;
      if (bytes > batchBytes || count === batchEntries - 1) break;
      count += 1;
    }
    return count;
  }

  #body(lines: readonly string[]): string {
    const dropped = this.#share.resetDropped();
    const droppedLine =
      dropped === 0
        ? []
        : [JSON.stringify(logEntry('warning', `${dropped} lines were dropped before this one.`))];
    return `{"sequence":${this.#share.nextSequence()},"entries":[${[...droppedLine, ...lines].join(',')}]}`;
  }

  /** Repeats the call unchanged until its answer is definite: the platform stores the lines of one sequence once. */
  async #deliver(body: string, count: number): Promise<void> {
    const backOff = new BackOff(maxBackOffMs);
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        const silenceMs = firstSilenceMs * 2 ** Math.min(backOff.failures, 16);
        const reply = (await this.#parts.send(body, silenceMs, signal)) as
          | { readonly truncated?: boolean }
          | undefined;
        // It stores no further lines of this task.
        if (reply?.truncated === true) this.#close();
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (isTransient(error)) await backOff.wait(error, signal).catch(() => undefined);
        else return this.#refused(error, count);
      }
    }
  }

  #refused(error: unknown, count: number): void {
    if (error instanceof ApiError && isEnd(error)) {
      this.#close();
      this.#parts.onEnd(error);
    } else if (error instanceof ApiError && (error.status === 404 || error.status === 405)) {
      this.#close();
      this.#parts.onUnknown();
    } else this.#share.drop(count);
  }
}
