/**
 * A commit's changes to a session's graph, for the workflow that waits for them. Losing it is harmless: the healer
 * finds it.
 */

/** What operators see of a session in the workflow engine: nothing personal. */
export interface SessionLabel {
  readonly sessionId: string;
  readonly projectId: number;
  readonly templateName: string;
}

/** An attempt that ended, for the activity that waits for it. */
export interface EndedAttempt {
  readonly runId: string;
  readonly attempt: number;
  readonly outcome: string;
  /** Whether the session's workflow may be waiting for it. */
  readonly awaited: boolean;
}

export interface SessionChange {
  readonly session: SessionLabel;
  /** True when the commit made the clean session dirty, and its workflow does not reconcile it soon anyway. */
  readonly wake: boolean;
  /** A run of a built-in node was queued, which only the workflow starts. */
  readonly isUrgent: boolean;
  readonly ended: readonly EndedAttempt[];
}
