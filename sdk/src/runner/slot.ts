/** One instance of a runner: claims a task, works on it, reports, and claims the next. */
import { setTimeout as delay } from 'node:timers/promises';
import { pause } from '../calls/back-off.ts';
import type { Call, Connection } from '../calls/connection.ts';
import { TaskCalls } from '../calls/task-calls.ts';
import type { ClaimWire } from '../calls/wire.ts';
import { messageOf, TaskCancelled } from '../errors.ts';
import type { Heartbeats } from '../heartbeats/heartbeats.ts';
import type { OutputLimits } from '../outputs/multi-part.ts';
import { type Report, reportOfError, reportOfResult } from '../task/outcome.ts';
import { sendReport } from '../task/report.ts';
import { Task } from '../task/task.ts';
import type { Settings } from './options.ts';
import { defaultCancelGraceSeconds, type Runner } from './runner.ts';

/** How long the code of an aborted task may take to end before the kit reports the end without it. */
const settleMs = 5_000;
/** After this delay the heartbeat thread reports the end of a cancelled task: the main thread is then blocked. */
const blockedMs = 2_000;
/** A claim that returns sooner without a task did not wait. */
const shortWaitMs = 1_000;
const withdrawMs = 3_000;

export interface SlotParts {
  readonly runner: Runner;
  readonly settings: Settings;
  readonly connection: Connection;
  readonly heartbeats: Heartbeats;
  readonly limits: OutputLimits;
  /** No more claims. */
  readonly stopping: AbortSignal;
  /** Running tasks must end. */
  readonly aborting: AbortSignal;
  /** No more waiting for the platform's answers. */
  readonly leaving: AbortSignal;
}

export class Slot {
  readonly #parts: SlotParts;
  readonly #instanceId: string;

  constructor(parts: SlotParts, instanceId: string) {
    this.#parts = parts;
    this.#instanceId = instanceId;
  }

  /** Resolves after `stopping`. @throws ApiError when the platform refuses the claim for good */
  async work(): Promise<void> {
    const { stopping } = this.#parts;
    while (!stopping.aborted) {
      const beganAtMs = performance.now();
      const claim = await this.#claim();
      if (claim !== undefined) await this.#perform(claim);
      else if (!stopping.aborted && performance.now() - beganAtMs < shortWaitMs) {
        await pause(shortWaitMs * (0.5 + Math.random() / 2), stopping).catch(() => undefined);
      }
    }
  }

  /** Waits for a task. A task that arrives when the runner is about to stop is released. */
  async #claim(): Promise<ClaimWire | undefined> {
    const { stopping, settings } = this.#parts;
    const over = new AbortController();
    const waiting = this.#sendClaim(settings.waitSeconds, { patience: 'always', signal: over.signal });
    let withdrawal: Promise<void> | undefined;
    const onStopping = () => {
      withdrawal = this.#withdraw(waiting).finally(() => over.abort());
    };
    stopping.addEventListener('abort', onStopping, { once: true });
    try {
      const claim = await waiting.catch((error) => {
        if (stopping.aborted) return undefined;
        throw error;
      });
      if (claim === undefined || !stopping.aborted) return claim;
      await this.#releaseTask(claim);
      return undefined;
    } finally {
      stopping.removeEventListener('abort', onStopping);
      await withdrawal;
    }
  }

  /**
   * Ends a waiting claim by a newer one that does not wait. Just hanging up might lose a task that is on its way: it
   * would stay held until its lease ends, and count as lost.
   */
  async #withdraw(waiting: Promise<unknown>): Promise<void> {
    try {
      const signal = AbortSignal.timeout(withdrawMs);
      const claim = await this.#sendClaim(0, { patience: 'never', silenceMs: withdrawMs, signal });
      if (claim !== undefined) await this.#releaseTask(claim);
      await Promise.race([waiting, delay(withdrawMs, undefined, { signal })]);
    } catch {
      // The platform does not answer: nothing can be released either.
    }
  }

  async #sendClaim(
    waitSeconds: number,
    how: Pick<Call, 'patience' | 'signal' | 'silenceMs'>,
  ): Promise<ClaimWire | undefined> {
    const { connection, runner } = this.#parts;
    const { status, body } = await connection.call<ClaimWire | undefined>({
      method: 'POST',
      path: '/tasks/claim',
      json: { instanceId: this.#instanceId, templates: runner.templates, waitSeconds },
      silenceMs: (waitSeconds + 15) * 1_000,
      ...how,
    });
    return status === 200 ? body : undefined;
  }

  async #releaseTask(claim: ClaimWire): Promise<void> {
    const signal = AbortSignal.timeout(withdrawMs);
    const calls = this.#callsOf(claim, signal, () => undefined);
    const report: Report = { kind: 'release', reason: new TaskCancelled('shutdown').message };
    await sendReport(calls, report, signal).catch(() => undefined);
  }

  async #perform(claim: ClaimWire): Promise<void> {
    const { runner, heartbeats, aborting, settings } = this.#parts;
    const ids = { taskId: claim.taskId, sessionId: claim.sessionId, nodeInstanceId: claim.nodeInstanceId };
    const beganAtMs = performance.now();
    settings.log('info', `task of ${claim.nodeTemplate} claimed`, { ...ids, attempt: claim.attempt });
    const cancel = new AbortController();
    const onCancel = (why: TaskCancelled['why']) => cancel.abort(new TaskCancelled(why));
    const broken = Promise.withResolvers<Report>();
    const calls = this.#callsOf(claim, cancel.signal, onCancel, (error) => {
      settings.log('error', `an input failed: ${messageOf(error)}`, { ...ids });
      broken.resolve(reportOfError(error, undefined));
    });
    const onAborting = () => onCancel('shutdown');
    aborting.addEventListener('abort', onAborting, { once: true });
    if (aborting.aborted) onAborting();
    const intervalMs = claim.heartbeatIntervalSeconds * 1_000;
    const graceMs = (runner.cancelGraceSeconds ?? defaultCancelGraceSeconds) * 1_000;
    const cancelGraceMs = graceMs + blockedMs;
    heartbeats.keep({ taskId: claim.taskId, headers: calls.headers, intervalMs, cancelGraceMs, onCancel });
    const running = this.#run(claim, calls);
    try {
      const report = await Promise.race([running, broken.promise, endOfPatience(cancel.signal, graceMs)]);
      calls.finish();
      await this.#report(calls, report, ids, beganAtMs);
    } finally {
      heartbeats.stop(claim.taskId);
      aborting.removeEventListener('abort', onAborting);
    }
    await this.#untilEnded(running, ids);
  }

  /** Runs the code; never rejects. */
  async #run(claim: ClaimWire, calls: TaskCalls): Promise<Report> {
    const { runner, heartbeats, limits, stopping, settings } = this.#parts;
    const report = heartbeats.report.bind(heartbeats, claim.taskId);
    const task = new Task({ claim, calls, limits, stopping, report });
    const cancelled = () => (calls.cancel.aborted ? (calls.cancel.reason as TaskCancelled) : undefined);
    try {
      const result = await runner.run(task);
      await task.written();
      const why = cancelled()?.why;
      if (why === 'lease-lost' || why === 'unauthorized') return { kind: 'none' };
      return reportOfResult(result, { hasMore: task.hasMore, state: task.state.unstored });
    } catch (error) {
      const { taskId } = claim;
      if (!calls.signal.aborted)
        settings.log('error', messageOf(error), { taskId, stack: (error as Error)?.stack });
      return reportOfError(error, cancelled());
    }
  }

  async #report(calls: TaskCalls, report: Report, ids: object, beganAtMs: number): Promise<void> {
    const { settings, leaving } = this.#parts;
    const seconds = Math.round(performance.now() - beganAtMs) / 1_000;
    try {
      const told = await sendReport(calls, report, leaving);
      if (told.kind === 'told') {
        settings.log('info', `task ended by ${told.how}`, { ...ids, seconds, reply: told.reply });
      } else {
        settings.log('warn', `task was ended before: ${told.message}`, { ...ids, seconds });
      }
    } catch (error) {
      settings.log('error', `the end of the task could not be told: ${messageOf(error)}`, {
        ...ids,
        seconds,
      });
    }
  }

  /** Code that continues after its end was reported must not share the process with the next task. */
  async #untilEnded(running: Promise<Report>, ids: object): Promise<void> {
    const { aborting, leaving, settings } = this.#parts;
    // The process is about to end.
    if (aborting.aborted) return;
    const report = setTimeout(
      () => settings.log('warn', 'the code of an aborted task goes on; no new task is claimed', { ...ids }),
      settleMs,
    );
    const left = new Promise<void>((resolve) => {
      if (leaving.aborted) resolve();
      leaving.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([running, left]).finally(() => clearTimeout(report));
  }

  #callsOf(
    claim: ClaimWire,
    cancel: AbortSignal,
    onCancel: (why: TaskCancelled['why']) => void,
    onUnheard: (error: unknown) => void = () => undefined,
  ): TaskCalls {
    return new TaskCalls({
      connection: this.#parts.connection,
      claim,
      instanceId: this.#instanceId,
      cancel,
      onUnheard,
      onEnd: (error) => onCancel(error.status === 404 ? 'lease-lost' : 'unauthorized'),
    });
  }
}

/** Resolves some time after the task was aborted, with the report to send then. */
async function endOfPatience(signal: AbortSignal, cancelGraceMs: number): Promise<Report> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  const reason = signal.reason as TaskCancelled;
  await delay(reason.why === 'cancelled' ? cancelGraceMs : settleMs, undefined, { ref: false });
  return reportOfError(reason, reason);
}
