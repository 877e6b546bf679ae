/** Runs a runner's code on a task without a platform. */
import type { AnnotationWire, ClaimWire } from '../calls/wire.ts';
import { type FailureCategory, readable, TaskCancelled } from '../errors.ts';
import type { Progress } from '../heartbeats/heartbeat-messages.ts';
import { captured, uncaptured } from '../logs/console-capture.ts';
import type { LogEntry } from '../logs/log-entry.ts';
import { TaskLog } from '../logs/task-log.ts';
import type { Runner } from '../runner/runner.ts';
import { type Outcome, type Report, reportOfError, reportOfResult } from '../task/outcome.ts';
import { type JsonObject, Task } from '../task/task.ts';
import { type LocalNode, type LocalOutput, type LocalRejection, LocalTaskCalls } from './local-calls.ts';

/** How the code ended, and its results. */
export interface TaskResult {
  readonly endedBy: 'complete' | 'fail' | 'release';
  /** Undefined unless it has completed. */
  readonly outcome: Outcome | undefined;
  readonly statusDetails: string | undefined;
  /** A follow-up task would come. */
  readonly hasMore: boolean;
  /** The category of a failure. */
  readonly category: FailureCategory | undefined;
  /** The reason of a failure or release, as operators read it. */
  readonly reason: string | undefined;
  /** What the code threw. */
  readonly error: unknown;
  /** What was published, in the order of writing. */
  readonly outputs: readonly LocalOutput[];
  /** What was written and not published, because the task ended otherwise. */
  readonly dropped: readonly LocalOutput[];
  readonly rejected: readonly LocalRejection[];
  /** All that the task made, in their order. */
  readonly annotations: readonly AnnotationWire[];
  /** Oldest first, each with what was reported before. */
  readonly progress: readonly Progress[];
  readonly logs: readonly LogEntry[];
  /** The node's state afterwards. */
  readonly state: JsonObject | null;
  /** The node's watermark afterwards. */
  readonly watermark: number | null;
}

export interface LocalTask {
  readonly runner: Runner;
  readonly claim: Omit<ClaimWire, 'incremental'>;
  readonly node: LocalNode;
  /** Cancels the run, as an operator does. */
  readonly cancel?: AbortSignal | undefined;
  /** Announces that the process is about to end. */
  readonly stopping?: AbortSignal | undefined;
  /** Called with log lines that the code did not print itself. */
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Never rejects for what the code throws. */
export async function runLocally(local: LocalTask): Promise<TaskResult> {
  const { runner } = local;
  const cancel = new AbortController();
  const onCancel = () => cancel.abort(new TaskCancelled('cancelled'));
  if (local.cancel?.aborted) onCancel();
  local.cancel?.addEventListener('abort', onCancel, { once: true });
  const calls = new LocalTaskCalls(local.node, cancel.signal);
  const logs: LogEntry[] = [];
  const progress: Progress[] = [];
  const log = new TaskLog(
    (entry) => logs.push(entry),
    (entry) => uncaptured(() => local.onLog?.(entry)),
  );
  const task = new Task({
    claim: { ...local.claim, incremental: calls.incremental },
    calls,
    limits: { singleBytes: Number.POSITIVE_INFINITY, partBytes: 1024 * 1024, bufferBytes: 1024 * 1024 },
    stopping: local.stopping ?? new AbortController().signal,
    report(news) {
      progress.push({ ...progress.at(-1), ...news });
      uncaptured(() => local.onProgress?.(progress.at(-1) ?? news));
    },
    log,
    onBadInput: runner.onBadInput ?? 'fail',
  });
  let report: Report;
  let failure: unknown;
  try {
    const run = async () => await runner.run(task);
    const result = await (runner.captureConsole === false ? run() : captured(log, run));
    await task.finished();
    report = reportOfResult(result, { hasMore: task.hasMore, state: task.state.unstored });
  } catch (thrown) {
    failure = thrown;
    const error = readable(thrown);
    log.failure(error);
    const line = logs.at(-1);
    if (line !== undefined) local.onLog?.(line);
    report = reportOfError(error, cancel.signal.aborted ? cancel.signal.reason : undefined);
  }
  log.close();
  const ended = endOf(calls, report);
  calls.finish();
  return { ...resultOf(calls, ended), error: failure, logs, progress };
}

/** The end as the platform would have it: what is open is decided, and a result without an output is refused. */
function endOf(calls: LocalTaskCalls, report: Report): Report {
  if (report.kind !== 'complete') return report;
  const hasWritten = calls.outputs.size > 0;
  const outcome = report.outcome ?? (hasWritten ? 'completed' : 'no-output');
  if (outcome === 'completed' && !hasWritten)
    return {
      kind: 'fail',
      category: 'error',
      reason: 'The result was refused: The run has written no output.',
    };
  if (outcome === 'completed') calls.publish();
  calls.nodeState = (report.state as JsonObject | undefined) ?? calls.nodeState;
  return { ...report, outcome };
}

function resultOf(calls: LocalTaskCalls, report: Report): Omit<TaskResult, 'error' | 'logs' | 'progress'> {
  const completion = report.kind === 'complete' ? report : undefined;
  const failed = report.kind === 'fail' ? report : undefined;
  const reason = report.kind === 'fail' || report.kind === 'release' ? report.reason : undefined;
  const written = [...calls.outputs.values()];
  return {
    endedBy: report.kind === 'none' ? 'release' : report.kind,
    outcome: completion?.outcome,
    statusDetails: completion?.statusDetails,
    hasMore: completion?.hasMore ?? false,
    category: failed?.category,
    reason,
    outputs: written.filter(({ identifier }) => calls.published.has(identifier)),
    dropped: written.filter(({ identifier }) => !calls.published.has(identifier)),
    rejected: calls.rejected,
    annotations: calls.annotations,
    state: calls.nodeState,
    watermark: calls.watermark,
  };
}
