/** What one look at a session tells its workflow. Plain values: they travel through the workflow's history. */

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
}

/** The result of one look at a session. */
export interface Advanced {
  readonly open: readonly OpenAttempt[];
  /** The next run that falls due, if any waits. */
  readonly due: DueRun | null;
  /** Attempts that ended since the last look, so that the history tells of every one. */
  readonly ended: ReadonlyArray<{ nodeName: string; attempt: number; outcome: string }>;
  readonly failedNodes: number;
}
