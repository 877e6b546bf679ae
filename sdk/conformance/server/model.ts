/** The test double's state: nodes, runs and claims. Positions count the outputs of a parent, 0 means none. */

export interface Template {
  readonly name: string;
  readonly incremental: boolean;
  readonly maxAttempts: number;
  readonly leaseSeconds: number;
}

/** An output of the parent, as a task lists it. */
export interface Input {
  readonly outputId: number;
  readonly position: number;
  /** Inputs that were published together: `latest` lists them together. */
  readonly group: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: 'gzip' | null;
  /** As stored: compressed if `contentEncoding` says so. */
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly metadata: Record<string, unknown> | null;
  readonly createdAt: string;
}

/** An output of the node: staged until the watermark moves or its run completes, then published. */
export interface Output {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly runId: string;
  readonly contentType: string | null;
  readonly contentEncoding: 'gzip' | null;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** If true, the platform reports no SHA-256. */
  readonly isFromParts: boolean;
  readonly metadata: Record<string, unknown> | null;
  readonly createdAt: string;
  publishedAs: number | null;
}

export interface Watermark {
  readonly position: number;
  readonly outputId: number | null;
}

/** A node in its own session, below one parent with these inputs. */
export interface Node {
  readonly template: Template;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  readonly name: string;
  readonly parentId: number;
  readonly parentName: string;
  readonly configuration: Record<string, unknown>;
  readonly inputs: Input[];
  readonly outputs: Map<string, Output>;
  readonly runs: Run[];
  watermark: Watermark;
  state: Record<string, unknown> | null;
  readonly rejected: Rejection[];
  consumedPosition: number;
  followUpWanted: boolean;
}

export type RunOutcome = 'completed' | 'no-output' | 'suspended' | 'failed' | 'cancelled' | 'elsewhere';

/** One execution of a node: queued, held by a claim, waiting for its retry, or done. */
export interface Run {
  readonly runId: string;
  readonly node: Node;
  readonly reason: 'input' | 'follow-up';
  readonly claims: Claim[];
  state: 'queued' | 'held' | 'waiting' | 'done';
  attempt: number;
  upperPosition: number | undefined;
  lostCount: number;
  releaseCount: number;
  cancelRequested: boolean;
  wroteOutput: boolean;
  /** Unnamed outputs of the consumed inputs: later attempts count from there. */
  unnamedFrom: number;
  outcome: RunOutcome | undefined;
}

/** Lines of a task's log, as one call sent them. */
interface LogCall {
  readonly sequence: number;
  readonly entries: readonly LogEntry[];
}

interface LogEntry {
  readonly at: string;
  readonly level: 'debug' | 'info' | 'warning' | 'error';
  readonly message: string;
  readonly fields?: Record<string, unknown> | null | undefined;
}

/** An input that its task rejected. */
export interface Rejection {
  readonly inputId: number;
  readonly runId: string;
  readonly category: string;
  readonly reason: string;
}

/** How a claim ended, with the reply that a repeat of the same end gets. */
export interface ClaimEnd {
  readonly how: 'complete' | 'fail' | 'release' | 'lost' | 'given-up' | 'undone';
  readonly atMs: number;
  readonly digest?: string;
  /** The last word of a failed or released task. */
  readonly logTail?: string;
  readonly reply?: Record<string, unknown>;
}

export interface Claim {
  readonly taskId: string;
  readonly run: Run;
  readonly attempt: number;
  readonly instanceId: string;
  readonly claimedAtMs: number;
  readonly watermarkPosition: number;
  readonly uploads: Map<string, Upload>;
  /** Accepted calls of its log, by rising sequence. */
  readonly log: LogCall[];
  logBytes: number;
  readonly rejections: Map<number, Rejection>;
  leaseUntilMs: number;
  /** A call for the task was made. */
  used: boolean;
  unnamedOutputs: number;
  end: ClaimEnd | undefined;
  /** The timer that ends the lease. */
  timer: NodeJS.Timeout | undefined;
}

export interface Upload {
  readonly handle: string;
  /** Null lets the platform make one at the completion. */
  readonly identifier: string | null;
  readonly contentType: string | null;
  readonly contentEncoding: 'gzip' | null;
  readonly metadata: Record<string, unknown> | null;
  readonly watermarkInputId: number | undefined;
  readonly parts: Map<number, Buffer>;
  output: Output | undefined;
}

/** The limits that the double announces and enforces; all others are the platform's. */
export interface WorldLimits {
  readonly leaseSeconds: number;
  readonly inputsPerTask: number;
  /** Announced in whoami and with uploads. Single outputs are accepted up to 16 MB, also above the announced limit. */
  readonly outputBytes: number;
  readonly partMinBytes: number;
  readonly partMaxBytes: number;
  /** The largest page of inputs, also when the caller asks for more; null: as many as the caller asks for. */
  readonly inputsPage: number | null;
  /** First wait before a retry; null: the platform's 5 seconds with jitter. */
  readonly retryDelayMs: number | null;
}
