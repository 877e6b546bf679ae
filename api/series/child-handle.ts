/** The parent's side of the process that reads series: starts it, sends it work, limits it and survives its death. */
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { forkReader } from '../../settings/reader-process.ts';
import { CallerQueue } from './caller-queue.ts';
import type { ChildSettings, FromChild, Job, ReadJob, ResultOf, ToChild } from './protocol.ts';

/** Too many requests wait already. */
export class SeriesBusy extends Error {}
/** The reading took too long. */
export class SeriesTimeout extends Error {}
/** The reading failed for a temporary reason; another try may succeed. */
export class SeriesUnavailable extends Error {}
/** The reading process died while it read. */
export class ChildDied extends SeriesUnavailable {}
/** The question does not fit the recording; the message is a sentence for the caller. */
export class SeriesRefused extends Error {}
/** The copy of a recording cannot be read. */
export class SourceBroken extends Error {
  /** Index of the source in the request. */
  readonly source: number;

  constructor(source: number, cause: string) {
    super(`The recording cannot be read: ${cause}`);
    this.source = source;
  }
}

export interface ChildHandleSettings {
  cacheDir: string;
  memoryLimitBytes: number;
  requestTimeoutMs: number;
  concurrency: number;
  maxWaiting: number;
}

interface Request {
  job: Job;
  resolve: (results: ResultOf<ReadJob>[][]) => void;
  reject: (error: unknown) => void;
  timer: NodeJS.Timeout | undefined;
}

const childPath = fileURLToPath(new URL('./child.ts', import.meta.url));
const mebibytes = 1024 * 1024;
/** A process that does not stop a cancelled request within this time is ended. */
const cancelMs = 2000;

export class SeriesChild {
  readonly #settings: ChildHandleSettings;
  readonly #queue: CallerQueue;
  readonly #requests = new Map<number, Request>();
  #process: ChildProcess | null = null;
  #nextId = 1;
  #isClosed = false;

  constructor(settings: ChildHandleSettings) {
    this.#settings = settings;
    this.#queue = new CallerQueue(settings.concurrency);
  }

  /** Process id of the reading process; null while there is none. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** @param caller whose share of the places it uses */
  async read<Asked extends Job>(
    job: Asked,
    signal: AbortSignal | undefined,
    caller = '',
  ): Promise<ResultOf<Asked>[][]> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new SeriesUnavailable('The reader of series is closed.');
    if (this.#queue.waiting >= this.#settings.maxWaiting)
      throw new SeriesBusy('Too many series reads at once.');
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<ResultOf<ReadJob>[][]>();
    this.#requests.set(id, { job, resolve, reject, timer: undefined });
    this.#queue.add(id, caller);
    const onAbort = () => this.#abandon(id, signal?.reason);
    signal?.addEventListener('abort', onAbort);
    this.#startNext();
    try {
      return (await promise) as ResultOf<Asked>[][];
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#process;
    for (const id of [...this.#requests.keys()]) {
      this.#settle(id)?.reject(new SeriesUnavailable('The reader of series is closed.'));
    }
    this.#queue.leaveAll();
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
    await promise;
  }

  #startNext(): void {
    for (;;) {
      const id = this.#queue.next();
      if (id === undefined) return;
      // It waits only as long as it has a request.
      const request = this.#requests.get(id)!;
      const { requestTimeoutMs } = this.#settings;
      request.timer = setTimeout(
        () => this.#abandon(id, new SeriesTimeout(`Reading took longer than ${requestTimeoutMs} ms.`)),
        requestTimeoutMs,
      );
      this.#send({ kind: 'read', id, job: request.job });
    }
  }

  /**
   * Rejects a request. One that is being read is rejected when the reading ends, because the process may write a file until
   * then; the process is ended unless it stops soon.
   */
  #abandon(id: number, reason: unknown): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    clearTimeout(request.timer);
    if (!this.#queue.isRunning(id)) {
      this.#queue.leave(id);
      this.#requests.delete(id);
      request.reject(reason);
      return;
    }
    const { reject } = request;
    // Where it is abandoned twice, the first reason stays.
    const ended = () => reject(reason);
    Object.assign(request, { resolve: ended, reject: ended });
    this.#send({ kind: 'cancel', id });
    const child = this.#process;
    const timer = setTimeout(() => {
      if (this.#queue.isRunning(id) && this.#process === child) child?.kill('SIGKILL');
    }, cancelMs);
    timer.unref();
  }

  #settle(id: number): Request | undefined {
    const request = this.#requests.get(id);
    clearTimeout(request?.timer);
    this.#requests.delete(id);
    this.#queue.end(id);
    return request;
  }

  #send(message: ToChild): void {
    const child = this.#process ?? this.#start();
    // A process that just died does not answer; its exit settles its requests.
    child.send(message, () => undefined);
  }

  #start(): ChildProcess {
    const { memoryLimitBytes, cacheDir } = this.#settings;
    const settings: ChildSettings = {
      cacheDir,
      databaseBytes: Math.floor(memoryLimitBytes / 2),
      residentBytes: memoryLimitBytes,
    };
    const heapMebibytes = Math.max(64, Math.floor(memoryLimitBytes / 4 / mebibytes));
    const flags = [`--max-old-space-size=${heapMebibytes}`];
    const child = forkReader(childPath, [JSON.stringify(settings)], flags);
    this.#process = child;
    child.on('message', (message: FromChild) => this.#receive(message));
    child.on('error', () => this.#ended(child));
    child.on('exit', () => this.#ended(child));
    child.on('disconnect', () => this.#ended(child));
    return child;
  }

  #receive(message: FromChild): void {
    if (message.kind === 'ready') return;
    const request = this.#settle(message.id);
    if (message.kind === 'done') request?.resolve(message.results);
    else if (message.kind === 'refused') request?.reject(new SeriesRefused(message.message));
    else if (message.brokenSource !== null)
      request?.reject(new SourceBroken(message.brokenSource, message.message));
    else request?.reject(new SeriesUnavailable(`The series cannot be read now: ${message.message}`));
    this.#startNext();
  }

  #ended(child: ChildProcess): void {
    if (this.#process !== child) return;
    this.#process = null;
    for (const id of this.#queue.running) {
      this.#settle(id)?.reject(new ChildDied('The process that reads series ended.'));
    }
    this.#startNext();
  }
}
