/**
 * The workflow of one session: open only while there is something to do.
 *
 * It owns time, waiting and the execution of built-in nodes, and operators see and steer it. It decides nothing:
 * `reconcileSession` plans from the database, and every wait here is dropped when the database no longer lists its
 * attempt.
 */
import {
  ActivityCancellationType,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { BuiltinActivities } from '../activities/run-builtin.ts';
import type { SessionActivities } from '../activities/session-graph.ts';
import { attemptActivityId, type DueRun, type OpenAttempt } from '../domain/runs/reconcile-result.ts';
import { activityNames, builtinQueueOf, type SessionRunInput, wakeSignal } from './contract.ts';

const wake = defineSignal(wakeSignal);
/** Beyond this many events the workflow continues as new, as soon as no built-in run is under way. */
const maxHistoryEvents = 1_000;
/**
 * Beyond this many it continues as new although one is: some sessions always have one, and the server ends a workflow
 * of 51,200 events. The run continues under its lease, and its next activity waits for its end.
 */
const busyHistoryEvents = 2_000;
const infrastructureRetry = {
  initialInterval: '500ms',
  backoffCoefficient: 2,
  maximumInterval: '2s',
} as const;

const { [activityNames.reconcileSession]: reconcileSession } = proxyLocalActivities<SessionActivities>({
  startToCloseTimeout: '10s',
  localRetryThreshold: '1m',
  retry: { ...infrastructureRetry, initialInterval: '100ms' },
});

/** No heartbeat time-out: it would run while the task is still unclaimed. The lease is in the database. */
const { [activityNames.awaitOutcome]: awaitOutcome } = proxyActivities<SessionActivities>({
  startToCloseTimeout: '3650 days',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: infrastructureRetry,
});

const { [activityNames.runBuiltin]: runBuiltin } = proxyActivities<BuiltinActivities>({
  taskQueue: builtinQueueOf(workflowInfo().taskQueue),
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '15s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: infrastructureRetry,
});

interface Wait {
  readonly scope: CancellationScope;
  readonly builtin: boolean;
}

export async function sessionRun(input: SessionRunInput): Promise<void> {
  const waits = new Map<string, Wait>();
  let dirty = true;
  let failedNodes = 0;
  const timers = new Map<string, CancellationScope>();
  let later: { readonly atMs: number; readonly scope: CancellationScope } | undefined;
  setHandler(wake, () => {
    dirty = true;
  });

  /** Waits for an attempt in the background. Both ends of the promise are handled: a bare `finally` would hang the session on Cancel. */
  function startWait(attempt: OpenAttempt): void {
    const id = attemptActivityId(attempt.runId, attempt.attempt);
    if (waits.has(id)) return;
    const scope = new CancellationScope();
    const wait = { scope, builtin: attempt.builtin };
    waits.set(id, wait);
    const settled = () => {
      if (waits.get(id) === wait) waits.delete(id);
      dirty = true;
    };
    const options = { activityId: id, summary: summaryOf(attempt) };
    const args = [input.sessionId, attempt.runId, attempt.attempt] as const;
    void scope
      .run(() =>
        attempt.builtin
          ? runBuiltin.executeWithOptions(options, [...args])
          : awaitOutcome.executeWithOptions(options, [...args]),
      )
      .then(settled, settled);
  }

  /** One timer for each waiting run: operators see its retry by it. */
  function syncTimers(waiting: readonly DueRun[]): void {
    const wanted = new Map(waiting.map((due) => [timerKey(due), due]));
    for (const [key, scope] of timers) {
      if (wanted.has(key)) continue;
      timers.delete(key);
      scope.cancel();
    }
    for (const [key, due] of wanted) if (!timers.has(key)) startTimer(key, due);
  }

  function startTimer(key: string, due: DueRun): void {
    const scope = new CancellationScope();
    timers.set(key, scope);
    const ring = () => {
      if (timers.get(key) === scope) timers.delete(key);
      dirty = true;
    };
    // At least a moment, so that a run that is due but cannot proceed makes no busy loop.
    const waitMs = Math.max(due.dueInMs, 50);
    const summary = `${summaryOf(due)} ${due.dueAt ? `due ${due.dueAt}` : '· waits'}`;
    void scope.run(() => sleep(waitMs, { summary })).then(ring, () => {});
  }

  /** Short runs are not awaited one by one: the next reconcile reports them. One timer, until the earliest of the times. */
  function reconcileLater(waitMs: number | null): void {
    if (waitMs === null) return;
    const atMs = Date.now() + waitMs;
    if (later !== undefined) {
      if (later.atMs <= atMs || !patched('reconciles-sooner')) return;
      const replaced = later;
      later = undefined;
      replaced.scope.cancel();
    }
    const own = { atMs, scope: new CancellationScope() };
    later = own;
    const onEnd = () => {
      if (later !== own) return;
      later = undefined;
      dirty = true;
    };
    void own.scope.run(() => sleep(waitMs, { summary: 'reconciles again' })).then(onEnd, onEnd);
  }

  const hasBuiltin = () => [...waits.values()].some((wait) => wait.builtin);

  for (;;) {
    await condition(() => dirty);
    // Before the reconcile: until it runs the session counts as notified, so no signal comes that would make the server
    // refuse.
    const bound = hasBuiltin() ? busyHistoryEvents : maxHistoryEvents;
    if (workflowInfo().historyLength > bound && patched('continues-before-look'))
      await continueAsNew<typeof sessionRun>(input);
    dirty = false;
    const advanced = await reconcileSession(input.sessionId, [...waits.keys()]);
    if (!advanced) return;
    if (advanced.again) dirty = true;
    for (const id of advanced.drop) {
      waits.get(id)?.scope.cancel();
      waits.delete(id);
    }
    for (const attempt of advanced.start) startWait(attempt);
    syncTimers(advanced.waiting ?? (advanced.due ? [advanced.due] : []));
    reconcileLater(advanced.lookInMs);
    if (advanced.failedNodes !== failedNodes) {
      failedNodes = advanced.failedNodes;
      upsertSearchAttributes({ FailedNodes: [failedNodes] });
    }
    // Histories of earlier versions continue here.
    if (workflowInfo().historyLength > maxHistoryEvents && !hasBuiltin())
      await continueAsNew<typeof sessionRun>(input);
    if (waits.size === 0 && !advanced.due && advanced.lookInMs === null && !dirty) return;
  }
}

/** A run may wait several times in one attempt, each time for another time. */
function timerKey({ runId, nodeName, attempt, dueAt }: DueRun): string {
  return runId === undefined ? `${nodeName}.${attempt}` : `${runId}.${attempt}.${dueAt}`;
}

function summaryOf(run: { nodeName: string; attempt: number; maxAttempts: number }): string {
  return `${run.nodeName} · attempt ${run.attempt} of ${run.maxAttempts}`;
}
