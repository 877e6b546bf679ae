/** Options of the reference runner, and the faults that a test can switch on. */
export interface Defects {
  readonly forgetsHeartbeat?: boolean;
  readonly doesNotResend?: boolean;
  readonly changesIdentifier?: boolean;
  readonly goesOnAfterLoss?: boolean;
  readonly claimsWhileHolding?: boolean;
  readonly ignoresCancel?: boolean;
  readonly doesNotRepeatComplete?: boolean;
  readonly leavesOutInstance?: boolean;
  readonly ignoresCursor?: boolean;
  readonly usesHalfInputs?: boolean;
  readonly forgetsHasMore?: boolean;
  readonly diesAtSigterm?: boolean;
  readonly pollsBusily?: boolean;
  readonly heartbeatsAllTheTime?: boolean;
  readonly namesOutputsByTask?: boolean;
  readonly goesOnAfter401?: boolean;
  readonly hammersAfter401?: boolean;
  readonly movesWatermarkFirst?: boolean;
  readonly sharesInstance?: boolean;
  readonly writesAfterComplete?: boolean;
  readonly writesTooMuch?: boolean;
  readonly repeatsLogSequence?: boolean;
  readonly dropsNext?: boolean;
  readonly sendsTokenToStore?: boolean;
  readonly trustsTheStore?: boolean;
}

export interface RunnerOptions {
  readonly template: string;
  readonly incremental?: boolean;
  /** Writes outputs above whoami's limit in parts. */
  readonly parts?: boolean;
  /** How long it waits before it releases its task after SIGTERM. */
  readonly stopDelayMs?: number;
  readonly defects?: Defects;
}
