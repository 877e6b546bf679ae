/** Messages between a host of deployed runners and the API: the host reaches neither the database nor its keys. */

export const deployedStates = ['starting', 'running', 'waiting', 'stopping'] as const;
export type DeployedState = (typeof deployedStates)[number];

/** One process of a runner type, by number from 1. */
export interface ProcessKey {
  readonly runnerType: string;
  readonly number: number;
}

/** The text of a process key, for sets and maps. */
export const processKeyText = ({ runnerType, number }: ProcessKey): string => `${runnerType} ${number}`;

/** A runner that the platform must run. */
export interface DeployableRunner {
  readonly runnerType: string;
  /** Name of a file in the operator's folder. */
  readonly entrypoint: string;
  /** The version of its feature. */
  readonly version: string;
}

/** The state of a process, as its host reports it. */
export interface ProcessStanding extends ProcessKey {
  readonly state: DeployedState;
  readonly message: string;
  readonly starts: number;
}

/** Heartbeat of a host. */
export interface HostReport {
  readonly hostId: string;
  /** Wanted processes of each runner type, over all hosts. */
  readonly processesPerType: number;
  /** How many further processes this host can hold. */
  readonly room: number;
  /** After how many seconds without a call a process that holds no task counts as silent. */
  readonly silentSeconds: number;
  /** Processes of this host. */
  readonly processes: readonly ProcessStanding[];
}

/** A process that a host holds. */
export interface HeldProcess extends DeployableRunner, ProcessKey {
  /** False: retired, or published with another version or entrypoint. It must be stopped. */
  readonly isWanted: boolean;
  /** It holds no task, and made no call for at least `silentSeconds`. */
  readonly isSilent: boolean;
  /** It holds a task of this run, which an operator has cancelled. */
  readonly cancelledRunId: string | null;
}

export interface HostPlan {
  /** What the host holds: of the reported processes those that are still its own, and those newly acquired for it. */
  readonly processes: readonly HeldProcess[];
  /** More processes were free than the host has room for. */
  readonly isFull: boolean;
}

/** A process that is about to be started. */
export interface ProcessStart extends ProcessKey {
  readonly hostId: string;
  /** The token that the host has for it; null: none. */
  readonly tokenId: string | null;
}

export interface ProcessStartReply {
  /** `value` is null while the token that the host has is good. `token` is null when the host does not hold the process. */
  readonly token: { readonly id: string; readonly value: string | null } | null;
}

export interface ProcessEnd extends ProcessKey {
  /** True: it is not started again here. Its token is revoked, and another host may acquire it. */
  readonly isFinal: boolean;
  /** How it ended, in words; hosts of an earlier version do not tell. */
  readonly how?: string | undefined;
}

/** Processes that have ended. */
export interface ProcessEnds {
  readonly hostId: string;
  readonly processes: readonly ProcessEnd[];
}

export const runnerHostPaths = {
  reconcile: '/api/v2/runner-host/reconcile',
  start: '/api/v2/runner-host/process-starts',
  end: '/api/v2/runner-host/process-ends',
} as const;
