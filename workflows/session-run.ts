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
  setCurrentDetails,
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

export async function sessionRun(input: SessionRunInput): Promise<void> {
  let dirty = true;
  const notify = () => {
    dirty = true;
  };
  setHandler(wake, notify);
  const waits = new AttemptWaits(input.sessionId, notify);
  const showTimers = retryTimers(notify);
  const reconcileLater = laterReconcile(notify);
  let failedNodes = 0;

  for (;;) {
    await condition(() => dirty);
    // Before the reconcile: until it runs the session counts as notified, so no signal comes that would make the server
    // refuse.
    const bound = waits.hasBuiltin ? busyHistoryEvents : maxHistoryEvents;
    if (workflowInfo().historyLength > bound && patched('continues-before-look'))
      await continueAsNew<typeof sessionRun>(input);
    dirty = false;
    const result = await reconcileSession(input.sessionId, waits.ids);
    if (!result) return;
    if (result.again) dirty = true;
    waits.drop(result.drop);
    for (const attempt of result.start) waits.start(attempt);
    const waiting = result.waiting ?? (result.due ? [result.due] : []);
    showTimers(waiting);
    setCurrentDetails([...waits.summaries, ...waiting.map(waitSummaryOf)].join('  \n'));
    reconcileLater(result.lookInMs);
    if (result.failedNodes !== failedNodes) {
      failedNodes = result.failedNodes;
      upsertSearchAttributes({ FailedNodes: [failedNodes] });
    }
    // Histories of earlier versions continue here.
    if (workflowInfo().historyLength > maxHistoryEvents && !waits.hasBuiltin)
      await continueAsNew<typeof sessionRun>(input);
    if (waits.ids.length === 0 && !result.due && result.lookInMs === null && !dirty) return;
  }
}

interface Wait {
  readonly scope: CancellationScope;
  readonly builtin: boolean;
  readonly summary: string;
}

/** The attempts that the workflow waits for, each by an activity. */
class AttemptWaits {
  readonly #sessionId: string;
  readonly #onSettled: () => void;
  readonly #waits = new Map<string, Wait>();

  constructor(sessionId: string, onSettled: () => void) {
    this.#sessionId = sessionId;
    this.#onSettled = onSettled;
  }

  get ids(): string[] {
    return [...this.#waits.keys()];
  }

  get summaries(): string[] {
    return [...this.#waits.values()].map(({ summary }) => summary);
  }

  get hasBuiltin(): boolean {
    return [...this.#waits.values()].some((wait) => wait.builtin);
  }

  /** Waits for an attempt in the background. Both ends of the promise are handled: a bare `finally` would hang the session on Cancel. */
  start(attempt: OpenAttempt): void {
    const id = attemptActivityId(attempt.runId, attempt.attempt);
    if (this.#waits.has(id)) return;
    const scope = new CancellationScope();
    const wait = { scope, builtin: attempt.builtin, summary: summaryOf(attempt) };
    this.#waits.set(id, wait);
    const settled = () => {
      if (this.#waits.get(id) === wait) this.#waits.delete(id);
      this.#onSettled();
    };
    const options = { activityId: id, summary: wait.summary };
    const args = [this.#sessionId, attempt.runId, attempt.attempt] as const;
    void scope
      .run(() =>
        attempt.builtin
          ? runBuiltin.executeWithOptions(options, [...args])
          : awaitOutcome.executeWithOptions(options, [...args]),
      )
      .then(settled, settled);
  }

  drop(ids: readonly string[]): void {
    for (const id of ids) {
      this.#waits.get(id)?.scope.cancel();
      this.#waits.delete(id);
    }
  }
}

/** One timer for each waiting run: operators see its retry by it. @param onRing called at the time of a run */
function retryTimers(onRing: () => void): (waiting: readonly DueRun[]) => void {
  const timers = new Map<string, CancellationScope>();

  function startTimer(key: string, due: DueRun): void {
    const scope = new CancellationScope();
    timers.set(key, scope);
    const ring = () => {
      if (timers.get(key) === scope) timers.delete(key);
      onRing();
    };
    // At least a moment, so that a run that is due but cannot proceed makes no busy loop.
    const waitMs = Math.max(due.dueInMs, 50);
    void scope.run(() => sleep(waitMs, { summary: waitSummaryOf(due) })).then(ring, () => {});
  }

  return (waiting) => {
    const wanted = new Map(waiting.map((due) => [timerKey(due), due]));
    for (const [key, scope] of timers) {
      if (wanted.has(key)) continue;
      timers.delete(key);
      scope.cancel();
    }
    for (const [key, due] of wanted) if (!timers.has(key)) startTimer(key, due);
  };
}

/**
 * Short runs are not awaited one by one: the next reconcile reports them. One timer, until the earliest of the times.
 * @param onTime called at that time
 */
function laterReconcile(onTime: () => void): (waitMs: number | null) => void {
  let later: { readonly atMs: number; readonly scope: CancellationScope } | undefined;
  return (waitMs) => {
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
      onTime();
    };
    void own.scope.run(() => sleep(waitMs, { summary: 'reconciles again' })).then(onEnd, onEnd);
  };
}

/** A run may wait several times in one attempt, each time for another time. */
function timerKey({ runId, nodeName, attempt, dueAt }: DueRun): string {
  return runId === undefined ? `${nodeName}.${attempt}` : `${runId}.${attempt}.${dueAt}`;
}

function waitSummaryOf(due: DueRun): string {
  return `${summaryOf(due)} ${due.dueAt ? `due ${due.dueAt}` : '· waits'}`;
}

function summaryOf(run: { nodeName: string; attempt: number; maxAttempts: number }): string {
  return `${run.nodeName} · attempt ${run.attempt} of ${run.maxAttempts}`;
}
