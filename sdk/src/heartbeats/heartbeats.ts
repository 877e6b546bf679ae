/** The main thread's side of the thread that renews leases. */
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type CancelReason, messageOf, readable } from '../errors.ts';
import type { Log } from '../log.ts';
import { type LogEntry, logEntry } from '../logs/log-entry.ts';
import { LogShare } from '../logs/log-share.ts';
import { clip } from '../text.ts';
import type { FromThread, Progress, ThreadSettings, ToThread } from './heartbeat-messages.ts';

/** A thread that fails at once must not be restarted without a pause. */
const restartMs = 1_000;
/** How long the end of the process waits for its last log lines. */
const lastLinesMs = 1_500;
/** And then for the platform to accept the end of its tasks. */
const lastReportMs = 1_000;
const phaseCharacters = 255;
const messageCharacters = 4_000;

export interface KeptTask {
  readonly taskId: string;
  /** Headers of every call for the task. */
  readonly headers: Readonly<Record<string, string>>;
  readonly intervalMs: number;
  /** How long the task may be held after a cancel; then the thread reports its end. */
  readonly cancelGraceMs: number;
  /** Called when the platform says that the task must end. */
  readonly onCancel: (why: CancelReason) => void;
}

interface Kept {
  readonly task: KeptTask;
  readonly log: LogShare;
  progress: Progress;
  onFlushed?: (isComplete: boolean) => void;
}

export class Heartbeats {
  readonly #settings: ThreadSettings;
  readonly #log: Log;
  readonly #tasks = new Map<string, Kept>();
  #thread: Worker | undefined;
  #isClosing = false;

  constructor(settings: ThreadSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
    process.on('uncaughtExceptionMonitor', this.#onUncaught).on('exit', this.#onProcessExit);
  }

  /** Resolves when the thread runs, so that no task is claimed without heartbeats. */
  async start(): Promise<void> {
    // Compiled, both files end in .js.
    const file = import.meta.url.endsWith('.ts') ? './heartbeat-thread.ts' : './heartbeat-thread.js';
    const thread = new Worker(new URL(file, import.meta.url), {
      name: 'heartbeats',
      workerData: this.#settings,
      execArgv: [],
    });
    this.#thread = thread;
    // Before it is ready: a line that is written meanwhile comes after its task then, or it would be lost.
    for (const kept of this.#tasks.values()) this.#keepOn(kept);
    const ready = new Promise<void>((resolve, reject) => {
      thread.once('message', () => resolve());
      thread.once('error', reject);
    });
    thread.on('message', (message: FromThread) => this.#hear(message));
    thread.on('error', (error) => this.#log('error', `the heartbeat thread failed: ${messageOf(error)}`));
    thread.on('exit', () => void this.#onExit(thread));
    await ready;
  }

  /** Sends heartbeats for a task from now on, until {@link Heartbeats.stop}. */
  keep(task: KeptTask): void {
    const kept: Kept = { task, log: new LogShare(), progress: {} };
    this.#tasks.set(task.taskId, kept);
    this.#post(keepMessage(kept));
  }

  /** The progress that operators see; sent with the next heartbeat, within a third of the interval. */
  report(taskId: string, progress: Progress): void {
    const kept = this.#tasks.get(taskId);
    if (kept === undefined) return;
    kept.progress = { ...kept.progress, ...clean(progress) };
    this.#post({ kind: 'progress', taskId, progress: kept.progress });
  }

  /** Sends a line of the task's log soon; when the buffer is full, the line is counted as dropped. */
  log(taskId: string, entry: LogEntry): void {
    const kept = this.#tasks.get(taskId);
    if (kept === undefined) return;
    const line = JSON.stringify(entry);
    if (this.#thread === undefined) kept.log.drop(1);
    else if (kept.log.enter(Buffer.byteLength(line))) this.#post({ kind: 'log', taskId, line });
  }

  /** Sends what is left of the task's log. Returns whether the platform has all of it within the time. */
  async flushLog(taskId: string, limitMs: number): Promise<boolean> {
    const kept = this.#tasks.get(taskId);
    if (kept === undefined) return false;
    const flushed = new Promise<boolean>((resolve) => {
      kept.onFlushed = resolve;
    });
    this.#post({ kind: 'flush-log', taskId, limitMs });
    // The thread may have ended.
    return await Promise.race([flushed, delay(limitMs + 500, false, { ref: false })]);
  }

  stop(taskId: string): void {
    if (this.#tasks.delete(taskId)) this.#post({ kind: 'stop', taskId });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    process.off('uncaughtExceptionMonitor', this.#onUncaught).off('exit', this.#onProcessExit);
    await this.#thread?.terminate();
  }

  readonly #onUncaught = (error: unknown): void => {
    // The program's own handler decides whether it ends.
    if (process.listenerCount('uncaughtException') > 0) return;
    const thrown = readable(error);
    const sentence = 'The runner process ends, because no code caught this error';
    this.#endTasks(`${sentence}: ${messageOf(thrown)}`, `${sentence}: ${inspect(thrown)}`);
    process.off('exit', this.#onProcessExit);
  };

  /** Code that calls `process.exit` ends all tasks of the process, and nothing else says so. */
  readonly #onProcessExit = (code: number): void =>
    this.#endTasks(`The runner process ends with code ${code}, before the task has ended.`);

  /**
   * The process is about to end, and its tasks with it: their attempts end at once and say why, or their leases would end
   * half a minute later. This thread stops here until the other one has reported it, since nothing runs in it any more.
   */
  #endTasks(reason: string, line = reason): void {
    for (const taskId of this.#tasks.keys()) {
      this.log(taskId, logEntry('error', line));
      this.#post({ kind: 'end', taskId, reason: clip(reason, messageCharacters), limitMs: lastLinesMs });
    }
    const untilMs = performance.now() + lastLinesMs + lastReportMs;
    const clock = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const isUnderWay = () =>
      this.#thread !== undefined && [...this.#tasks.values()].some(({ log }) => !log.hasEnded);
    while (isUnderWay() && performance.now() < untilMs) Atomics.wait(clock, 0, 0, 10);
  }

  /** A new thread goes on with a task of the one before. Its progress makes the first heartbeat come at once. */
  #keepOn(kept: Kept): void {
    kept.log.clear();
    this.#post(keepMessage(kept));
    this.#post({ kind: 'progress', taskId: kept.task.taskId, progress: kept.progress });
  }

  #post(message: ToThread): void {
    this.#thread?.postMessage(message);
  }

  #hear(message: FromThread): void {
    if (message.kind === 'ready') return;
    const { taskId } = message;
    const kept = this.#tasks.get(taskId);
    if (kept === undefined) return;
    switch (message.kind) {
      case 'cancel-requested':
        kept.task.onCancel('cancelled');
        break;
      case 'cancel-reported':
        this.#log('warn', 'the code of a cancelled task did not end; its end was reported without it', {
          taskId,
        });
        break;
      case 'log-flushed':
        kept.onFlushed?.(message.isComplete);
        break;
      case 'refused':
        this.#log('warn', `the task is refused: ${message.message}`, { taskId, status: message.status });
        kept.task.onCancel(message.status === 401 || message.status === 403 ? 'unauthorized' : 'lease-lost');
        break;
      case 'failing':
        this.#log('warn', `heartbeats fail: ${message.message}`, { taskId, failures: message.failures });
        break;
    }
  }

  /** Nothing else renews the leases: a thread that ended is started again. */
  async #onExit(thread: Worker): Promise<void> {
    if (this.#isClosing || thread !== this.#thread) return;
    this.#thread = undefined;
    await delay(restartMs);
    if (this.#isClosing) return;
    try {
      await this.start();
    } catch (error) {
      this.#log('error', `no heartbeat thread: ${messageOf(error)}`);
    }
  }
}

function keepMessage({ task, log }: Kept): ToThread {
  const { taskId, headers, intervalMs, cancelGraceMs } = task;
  return { kind: 'keep', taskId, headers, intervalMs, cancelGraceMs, log: log.buffer };
}

/** Bounds the progress, because the platform refuses a heartbeat with invalid progress. */
function clean(progress: Progress): Progress {
  const { phase, message, unit, done, total } = progress;
  return {
    ...(phase === undefined ? {} : { phase: clip(phase, phaseCharacters) }),
    ...(message === undefined ? {} : { message: clip(message, messageCharacters) }),
    ...(unit === undefined ? {} : { unit: clip(unit, phaseCharacters) }),
    ...(isCount(done) ? { done } : {}),
    ...(isCount(total) ? { total } : {}),
  };
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
