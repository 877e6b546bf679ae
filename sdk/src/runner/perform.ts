/** Works on one claimed task: runs the code, keeps the lease, and reports the end. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '../calls/connection.ts';
import { PlatformTaskCalls } from '../calls/task-calls.ts';
import type { ClaimWire } from '../calls/wire.ts';
import { messageOf, readable, TaskCancelled } from '../errors.ts';
import type { Heartbeats } from '../heartbeats/heartbeats.ts';
import { captured } from '../logs/console-capture.ts';
import { TaskLog } from '../logs/task-log.ts';
import type { OutputLimits } from '../outputs/multi-part.ts';
import { type Report, reportOfError, reportOfResult } from '../task/outcome.ts';
import { sendReport } from '../task/report.ts';
import { Task } from '../task/task.ts';
import type { Settings } from './options.ts';
import { defaultCancelGraceSeconds, type Runner } from './runner.ts';

/** How long the kit waits for the code of an aborted task to end before it reports the end without it. */
const settleMs = 5_000;
/** After this delay the heartbeat thread reports the end of a cancelled task: the main thread is then blocked. */
const blockedMs = 2_000;
/** How long the end of a task waits for its last log lines; shorter than the delay above. */
const flushMs = 1_500;

export interface SlotParts {
  readonly runner: Runner;
  readonly settings: Settings;
  readonly connection: Connection;
  readonly heartbeats: Heartbeats;
  readonly limits: OutputLimits;
  /** Aborted when the runner stops claiming. */
  readonly stopping: AbortSignal;
  /** Aborted when running tasks must end. */
  readonly aborting: AbortSignal;
  /** Aborted when the runner stops waiting for the platform's answers. */
  readonly leaving: AbortSignal;
}

/** Resolves when the task has ended, with the next one if its end claimed it. Never rejects. */
export async function perform(
  parts: SlotParts,
  instanceId: string,
  claim: ClaimWire,
): Promise<ClaimWire | undefined> {
  const { settings } = parts;
  settings.log('info', `task of ${claim.nodeTemplate} claimed`, { ...idsOf(claim), attempt: claim.attempt });
  return await new Performance(parts, instanceId, claim).toEnd();
}

function idsOf({ taskId, sessionId, nodeInstanceId }: ClaimWire) {
  return { taskId, sessionId, nodeInstanceId };
}

class Performance {
  readonly #parts: SlotParts;
  readonly #claim: ClaimWire;
  readonly #ids: ReturnType<typeof idsOf>;
  readonly #log: TaskLog;
  readonly #calls: PlatformTaskCalls;
  readonly #cancel = new AbortController();
  readonly #broken = Promise.withResolvers<Report>();
  readonly #beganAtMs = performance.now();
  #hasEnded = false;

  constructor(parts: SlotParts, instanceId: string, claim: ClaimWire) {
    this.#parts = parts;
    this.#claim = claim;
    this.#ids = idsOf(claim);
    const { taskId } = claim;
    this.#log = new TaskLog(
      (entry) => parts.heartbeats.log(taskId, entry),
      ({ level, message, fields }) =>
        parts.settings.log(level === 'warning' ? 'warn' : level, message, { ...fields, taskId }),
    );
    this.#calls = new PlatformTaskCalls({
      connection: parts.connection,
      claim,
      instanceId,
      cancel: this.#cancel.signal,
      onEnd: (error) => this.#abort(error.status === 404 ? 'lease-lost' : 'unauthorized'),
      onUnheard: (thrown) => {
        const error = readable(thrown);
        parts.settings.log('error', `an input failed: ${messageOf(error)}`, { ...this.#ids });
        this.#log.failure(error);
        this.#broken.resolve(reportOfError(error, undefined));
      },
    });
  }

  #abort(why: TaskCancelled['why']): void {
    this.#cancel.abort(new TaskCancelled(why));
  }

  async toEnd(): Promise<ClaimWire | undefined> {
    const { runner, heartbeats, aborting } = this.#parts;
    const { taskId } = this.#claim;
    const onAborting = () => this.#abort('shutdown');
    aborting.addEventListener('abort', onAborting, { once: true });
    if (aborting.aborted) onAborting();
    const graceMs = (runner.cancelGraceSeconds ?? defaultCancelGraceSeconds) * 1_000;
    heartbeats.keep({
      taskId,
      headers: this.#calls.headers,
      intervalMs: this.#claim.heartbeatIntervalSeconds * 1_000,
      cancelGraceMs: graceMs + blockedMs,
      onCancel: (why) => this.#abort(why),
    });
    const running = this.#run().finally(() => {
      this.#hasEnded = true;
    });
    let next: ClaimWire | undefined;
    try {
      const patience = endOfPatience(this.#cancel.signal, graceMs);
      const report = await Promise.race([running, this.#broken.promise, patience]);
      this.#calls.finish();
      next = await this.#report(await this.#withLog(report));
    } finally {
      heartbeats.stop(taskId);
      aborting.removeEventListener('abort', onAborting);
    }
    await this.#untilEnded(running);
    return next;
  }

  /** Runs the code; never rejects. */
  async #run(): Promise<Report> {
    const { runner, heartbeats, limits, stopping, settings } = this.#parts;
    const calls = this.#calls;
    const { taskId } = this.#claim;
    const report = heartbeats.report.bind(heartbeats, taskId);
    const { onBadInput = 'fail', captureConsole = true } = runner;
    const task = new Task({
      claim: this.#claim,
      calls,
      limits,
      stopping,
      report,
      log: this.#log,
      onBadInput,
    });
    const cancelled = () => (calls.cancel.aborted ? (calls.cancel.reason as TaskCancelled) : undefined);
    try {
      const run = async () => await runner.run(task);
      const result = await (captureConsole ? captured(this.#log, run) : run());
      await task.finished();
      const why = cancelled()?.why;
      if (why === 'lease-lost' || why === 'unauthorized') return { kind: 'none' };
      return reportOfResult(result, { hasMore: task.hasMore, state: task.state.unstored });
    } catch (thrown) {
      const error = readable(thrown);
      const failed = reportOfError(error, cancelled());
      if (failed.kind === 'fail' && !calls.signal.aborted) {
        settings.log('error', messageOf(error), { taskId, stack: (error as Error)?.stack });
        this.#log.failure(error);
      }
      return failed;
    }
  }

  /** Sends the last lines; a failure or release carries those that the platform did not get. */
  async #withLog(report: Report): Promise<Report> {
    this.#log.close();
    if (report.kind === 'none' || this.#log.tail === '') return report;
    const isComplete = await this.#parts.heartbeats.flushLog(this.#claim.taskId, flushMs);
    if (isComplete || report.kind === 'complete') return report;
    return { ...report, logTail: this.#log.tail };
  }

  async #report(report: Report): Promise<ClaimWire | undefined> {
    const { settings, leaving, stopping, runner } = this.#parts;
    const seconds = Math.round(performance.now() - this.#beganAtMs) / 1_000;
    // Code that still runs must not share the process with another task.
    const mayClaim = this.#hasEnded && !stopping.aborted;
    const next = mayClaim ? { waitSeconds: 0, templates: runner.templates } : undefined;
    try {
      const result = await sendReport(this.#calls, report, leaving, next);
      if (result.kind === 'accepted') {
        settings.log('info', `task ended by ${result.how}`, { ...this.#ids, seconds, reply: result.reply });
        return result.next;
      }
      settings.log('warn', `task was ended before: ${result.message}`, { ...this.#ids, seconds });
    } catch (error) {
      settings.log('error', `the end of the task could not be reported: ${messageOf(error)}`, {
        ...this.#ids,
        seconds,
      });
    }
    return undefined;
  }

  /** Code that continues after its end was reported must not share the process with the next task. */
  async #untilEnded(running: Promise<Report>): Promise<void> {
    const { aborting, leaving, settings } = this.#parts;
    // The process is about to end.
    if (aborting.aborted) return;
    const sentence = 'the code of an aborted task runs on; no new task is claimed';
    const report = setTimeout(() => settings.log('warn', sentence, { ...this.#ids }), settleMs);
    // What waits for a signal of the whole runner is taken back, or each task would stay in memory.
    const left = Promise.withResolvers<void>();
    const onLeaving = () => left.resolve();
    leaving.addEventListener('abort', onLeaving, { once: true });
    if (leaving.aborted) onLeaving();
    await Promise.race([running, left.promise]).finally(() => {
      clearTimeout(report);
      leaving.removeEventListener('abort', onLeaving);
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
