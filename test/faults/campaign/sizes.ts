/** How large a campaign is, and what it aims at. */
export interface CampaignSize {
  readonly name: 'small' | 'full';
  readonly uploaders: number;
  readonly runners: number;
  readonly lanes: number;
  /** How long a fault stays, in milliseconds. */
  readonly holdMs: readonly [number, number];
  /** How much longer it stays where the platform has not felt it yet. */
  readonly feltLimitMs: number;
  readonly pauseMs: readonly [number, number];
  /** A round of a kind ends with so many acknowledged uploads and so many faults of each. */
  readonly acknowledged: number;
  readonly faults: number;
  /** The longest pause of uploaders and runners between two calls. */
  readonly thinkMs: number;
  /** The same for makers of sessions, exercises and tokens, which cost more and are not counted. */
  readonly sideThinkMs: number;
  /** The same for all callers after the last fault. */
  readonly endThinkMs: number;
  /** Share of uploads to nodes below which runners work. */
  readonly toLanes: number;
  /** A call without an answer after this time hangs. */
  readonly answerLimitMs: number;
  readonly recoveryLimitMs: number;
  /** A slower recovery misses its aim. */
  readonly recoveryAimMs: number;
  readonly restLimitMs: number;
  /** Calls of each family, after the last fault of a round. */
  readonly lastCalls: number;
}

export const sizes: Readonly<Record<CampaignSize['name'], CampaignSize>> = {
  small: {
    name: 'small',
    uploaders: 3,
    runners: 3,
    lanes: 2,
    holdMs: [500, 900],
    // On a busy machine a disk is felt late; the fault ends once it is.
    feltLimitMs: 25_000,
    pauseMs: [50, 150],
    acknowledged: 5,
    faults: 1,
    thinkMs: 150,
    sideThinkMs: 150,
    endThinkMs: 20,
    toLanes: 0.25,
    answerLimitMs: 12_000,
    // It shares its machine with the rest of the suite.
    recoveryLimitMs: 100_000,
    recoveryAimMs: 60_000,
    restLimitMs: 120_000,
    lastCalls: 1,
  },
  full: {
    name: 'full',
    uploaders: 12,
    runners: 4,
    lanes: 6,
    holdMs: [2_000, 8_000],
    feltLimitMs: 12_000,
    pauseMs: [1_000, 3_000],
    acknowledged: 5_000,
    faults: 6,
    thinkMs: 5,
    sideThinkMs: 250,
    endThinkMs: 5,
    toLanes: 0.1,
    answerLimitMs: 10_000,
    recoveryLimitMs: 90_000,
    recoveryAimMs: 10_000,
    restLimitMs: 180_000,
    lastCalls: 20,
  },
};

/** The share to be served of the calls during faults that are not refused as the contract says. */
export const aimedShare = 0.3;
/** Fewer calls are too few for a share. */
export const minForShare = 20;
