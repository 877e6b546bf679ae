/** Messages between the main thread and the heartbeat thread. */

export interface ThreadSettings {
  /** Address of the runner routes, without a slash at the end. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Progress {
  /** What is being done, up to 255 characters. */
  readonly phase?: string;
  /** A sentence for operators, up to 4,000 characters. */
  readonly message?: string;
  readonly done?: number;
  readonly total?: number;
  /** What `done` and `total` count, for example `rows`. */
  readonly unit?: string;
}

export type ToThread =
  | {
      readonly kind: 'keep';
      readonly taskId: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly intervalMs: number;
      /** After the platform asked for a cancel: when the thread ends the task, unless it was stopped before. */
      readonly cancelGraceMs: number;
      /** The counters of its log. */
      readonly log: SharedArrayBuffer;
    }
  /** A log line, as JSON. */
  | { readonly kind: 'log'; readonly taskId: string; readonly line: string }
  | { readonly kind: 'flush-log'; readonly taskId: string; readonly limitMs: number }
  | { readonly kind: 'progress'; readonly taskId: string; readonly progress: Progress }
  | { readonly kind: 'stop'; readonly taskId: string }
  /** The process is about to end: the task fails with this reason, after its last log lines. */
  | { readonly kind: 'end'; readonly taskId: string; readonly reason: string; readonly limitMs: number }
  | { readonly kind: 'close' };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'cancel-requested'; readonly taskId: string }
  /** The thread reported the end of a cancelled task, because the main thread did not. */
  | { readonly kind: 'cancel-reported'; readonly taskId: string }
  /** Whether the platform has all log lines of the task. */
  | { readonly kind: 'log-flushed'; readonly taskId: string; readonly isComplete: boolean }
  /** The platform refuses the heartbeats for good. */
  | { readonly kind: 'refused'; readonly taskId: string; readonly status: number; readonly message: string }
  | {
      readonly kind: 'failing';
      readonly taskId: string;
      readonly failures: number;
      readonly message: string;
    };
