/** What one reconcile of a session returns to its workflow. Plain values: they pass through the workflow's history. */

/** An attempt that is queued or held: the workflow waits for its end. */
export interface OpenAttempt {
  readonly runId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly nodeName: string;
  readonly builtin: boolean;
}

/** A run that waits for a time: a retry after a failure, or a task that was released too often. */
export interface DueRun {
  readonly nodeName: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Milliseconds from now, at least 0, by the database's clock. */
  readonly dueInMs: number;
  /** Which run, and when, as ISO 8601 in UTC; absent in histories of earlier versions. */
  readonly runId?: string;
  readonly dueAt?: string;
}

/**
 * The result of one reconcile of a session: differences from what the workflow awaits, so that the history of a wide
 * session stays small.
 */
export interface ReconcileResult {
  /** Open attempts to wait for from now on. */
  readonly start: readonly OpenAttempt[];
  /** Awaited activity ids whose attempt is no longer open. */
  readonly drop: readonly string[];
  /** The next run that falls due, if any waits. */
  readonly due: DueRun | null;
  /** The runs that fall due next, soonest first: each gets a timer. Absent in histories of earlier versions. */
  readonly waiting?: readonly DueRun[];
  /** Attempts that ended since the last reconcile, so that the history shows every one. */
  readonly ended: ReadonlyArray<{ nodeName: string; attempt: number; outcome: string }>;
  readonly failedNodes: number;
  /**
   * Short runs are not awaited one by one: after this many milliseconds the workflow reconciles again. Saved histories hold
   * the name.
   */
  readonly lookInMs: number | null;
  /** Facts kept arriving during the reconcile: the next one must follow at once. */
  readonly again: boolean;
}

/** Names an attempt for its activity: a late completion of an earlier attempt can never end the wait of a newer one. */
export function attemptActivityId(runId: string, attempt: number): string {
  return `${runId}.${attempt}`;
}
