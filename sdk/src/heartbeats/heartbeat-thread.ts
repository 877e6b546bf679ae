/** The thread that renews leases: it sends heartbeats even while the main thread is busy. */
import { parentPort, workerData } from 'node:worker_threads';
import { BackOff, isTransient } from '../calls/back-off.ts';
import { HttpClient, readJson, readRefusal } from '../calls/http-request.ts';
import type { HeartbeatWire } from '../calls/wire.ts';
import { ApiError, cancelReport, type FailureCategory, isEnd, messageOf } from '../errors.ts';
import { LogSender } from '../logs/log-sender.ts';
import type { FromThread, Progress, ThreadSettings, ToThread } from './heartbeat-messages.ts';

const settings = workerData as ThreadSettings;
const http = new HttpClient();
const keepers = new Map<string, Keeper>();
const senders = new Map<string, LogSender>();
const failuresBeforeReport = 3;
/** False when the platform is older than run logs. */
let hasLogs = true;

type KeptTask = Extract<ToThread, { kind: 'keep' }>;

function post(message: FromThread): void {
  parentPort?.postMessage(message);
}

/** Sends heartbeats for one task: every interval, soon after new progress, and sooner again after a failure. */
class Keeper {
  readonly #task: KeptTask;
  readonly #backOff: BackOff;
  readonly #over = new AbortController();
  #progress: Progress = {};
  #hasNews = false;
  #isSending = false;
  #isEnding = false;
  #timer: NodeJS.Timeout | undefined;
  #cancelTimer: NodeJS.Timeout | undefined;
  #beganAtMs = 0;

  constructor(task: KeptTask) {
    this.#task = task;
    this.#backOff = new BackOff(task.intervalMs / 3);
    // The claim was the first heartbeat.
    this.#schedule(task.intervalMs);
  }

  report(progress: Progress): void {
    this.#progress = progress;
    this.#hasNews = true;
    if (!this.#isSending && this.#backOff.failures === 0) this.#scheduleNews();
  }

  stop(): void {
    this.#over.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#cancelTimer);
  }

  #schedule(waitMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isEnding || this.#over.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#heartbeat(), waitMs);
  }

  /** New progress is sent at once, but not more often than three times an interval. */
  #scheduleNews(): void {
    const earliestMs = this.#beganAtMs + this.#task.intervalMs / 3;
    this.#schedule(Math.max(0, earliestMs - performance.now()));
  }

  async #heartbeat(): Promise<void> {
    this.#isSending = true;
    this.#hasNews = false;
    this.#beganAtMs = performance.now();
    try {
      const { cancelRequested } = await this.#send();
      this.#backOff.reset();
      if (cancelRequested) this.#noteCancel();
      this.#schedule(this.#task.intervalMs);
      if (this.#hasNews) this.#scheduleNews();
    } catch (error) {
      if (!this.#over.signal.aborted) this.#failed(error);
    } finally {
      this.#isSending = false;
    }
  }

  #failed(error: unknown): void {
    const { taskId } = this.#task;
    if (error instanceof ApiError && isEnd(error)) {
      this.stop();
      post({ kind: 'refused', taskId, status: error.status, message: messageOf(error) });
      return;
    }
    // When the platform refuses the progress, it is dropped: the lease must not end for that.
    if (!isTransient(error)) this.#progress = {};
    this.#schedule(this.#backOff.nextMs(error));
    const { failures } = this.#backOff;
    if (failures === failuresBeforeReport)
      post({ kind: 'failing', taskId, failures, message: messageOf(error) });
  }

  #noteCancel(): void {
    post({ kind: 'cancel-requested', taskId: this.#task.taskId });
    this.#cancelTimer ??= setTimeout(() => void this.#endCancelled(), this.#task.cancelGraceMs);
  }

  /**
   * The main thread had its time and has not stopped this thread: it computes without a pause, and heartbeats would
   * hold the task for as long as it does. So this thread reports the end. Without an answer the lease expires, since
   * nothing renews it any more.
   */
  async #endCancelled(): Promise<void> {
    if (await this.fail(cancelReport)) post({ kind: 'cancel-reported', taskId: this.#task.taskId });
  }

  /** Reports the end in place of the main thread. @returns whether the platform has accepted it */
  async fail(report: { readonly category: FailureCategory; readonly reason: string }): Promise<boolean> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    const { signal } = this.#over;
    const backOff = new BackOff(this.#task.intervalMs);
    while (!signal.aborted) {
      try {
        await this.#put('fail', report);
        this.stop();
        return true;
      } catch (error) {
        // Refused: it has ended already.
        if (!isTransient(error)) this.stop();
        else await backOff.wait(error, signal).catch(() => undefined);
      }
    }
    return false;
  }

  async #send(): Promise<HeartbeatWire> {
    return (await this.#put('heartbeat', bodyOf(this.#progress))) as HeartbeatWire;
  }

  async #put(what: 'heartbeat' | 'fail', json: unknown): Promise<unknown> {
    return await sendOf(this.#task, 'PUT', what, JSON.stringify(json), this.#over.signal);
  }
}

async function sendOf(
  { taskId, headers, intervalMs }: KeptTask,
  method: 'PUT' | 'POST',
  what: 'heartbeat' | 'fail' | 'logs',
  body: string,
  signal: AbortSignal,
  maxSilenceMs = Number.POSITIVE_INFINITY,
): Promise<unknown> {
  // A lease is three intervals: two heartbeats may fail before the third must succeed.
  const silenceMs = Math.min(maxSilenceMs, Math.max(1_000, intervalMs * 0.8));
  const message = await http.open({
    method,
    url: new URL(`${settings.base}/tasks/${taskId}/${what}`),
    headers: { ...settings.headers, ...headers, 'content-type': 'application/json' },
    body: [Buffer.from(body)],
    silenceMs,
    signal,
  });
  if ((message.statusCode ?? 0) >= 300) throw await readRefusal(message, silenceMs);
  return await readJson(message, silenceMs);
}

function senderOf(task: KeptTask): LogSender {
  const sender = new LogSender({
    share: task.log,
    send: (body, silenceMs, signal) => sendOf(task, 'POST', 'logs', body, signal, silenceMs),
    onEnd: ({ status, message }) => post({ kind: 'refused', taskId: task.taskId, status, message }),
    onUnknown() {
      hasLogs = false;
      for (const each of senders.values()) each.stop();
    },
  });
  if (!hasLogs) sender.stop();
  return sender;
}

async function flushLog(taskId: string, limitMs: number): Promise<void> {
  const isComplete = (await senders.get(taskId)?.flush(limitMs)) ?? false;
  post({ kind: 'log-flushed', taskId, isComplete });
}

async function endTask({ taskId, reason, limitMs }: Extract<ToThread, { kind: 'end' }>): Promise<void> {
  await senders.get(taskId)?.flush(limitMs);
  await keepers.get(taskId)?.fail({ category: 'error', reason });
  senders.get(taskId)?.noteEnd();
}

function forget(taskId: string): void {
  keepers.get(taskId)?.stop();
  keepers.delete(taskId);
  senders.get(taskId)?.stop();
  senders.delete(taskId);
}

function bodyOf({ phase, message, done, total, unit }: Progress): unknown {
  return { phase, message, progress: done === undefined ? undefined : { done, total, unit } };
}

parentPort?.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'keep':
      forget(message.taskId);
      keepers.set(message.taskId, new Keeper(message));
      senders.set(message.taskId, senderOf(message));
      break;
    case 'log':
      senders.get(message.taskId)?.add(message.line);
      break;
    case 'flush-log':
      void flushLog(message.taskId, message.limitMs);
      break;
    case 'progress':
      keepers.get(message.taskId)?.report(message.progress);
      break;
    case 'stop':
      forget(message.taskId);
      break;
    case 'end':
      void endTask(message);
      break;
    case 'close':
      for (const taskId of [...keepers.keys()]) forget(taskId);
      http.close();
      parentPort?.close();
      break;
  }
});
post({ kind: 'ready' });
