/** What a built-in node is: a function over one claimed run, with the same reads and writes that an outside runner has. */
import type { Logger } from 'pino';
import type { ClaimedTask, RunnerIdentity } from '../../store/claims.ts';
import type { Database } from '../../store/database.ts';
import type { ObjectStores } from '../../store/objects.ts';
import type { TaskEnd } from '../../store/outcomes.ts';
import type { PendingObjects } from '../../store/pending-objects.ts';
import type { DataSources } from './data-sources.ts';

/** What a worker has for built-in nodes. */
export interface BuiltinServices {
  readonly database: Database;
  readonly objects: ObjectStores;
  readonly pending: PendingObjects;
  readonly log: Logger;
}

/** What all runs of a worker share. */
export interface BuiltinTools {
  readonly sources: DataSources;
  /** Longest conversion of one file. */
  readonly fileSeconds: number;
}

/** One attempt of a built-in node. */
export interface BuiltinRun extends BuiltinTools {
  readonly task: ClaimedTask;
  readonly identity: RunnerIdentity;
  /** The node's own configuration, parsed. */
  readonly configuration: Record<string, unknown>;
  /** An empty folder of this attempt; removed when it ends. */
  readonly workDir: string;
  /** Aborts when the lease is lost, the run is cancelled or the worker stops. */
  readonly signal: AbortSignal;
  /** Tells readers of the node's progress. */
  report(phase: string, message: string): void;
}

export type BuiltinNode = (run: BuiltinRun, services: BuiltinServices) => Promise<TaskEnd>;

/** The run's own input is at fault: category `validation`, never tried again. */
export class InvalidInputError extends Error {}

/** The run's claim is no longer ours: nothing may be written any more. */
export class ClaimLostError extends Error {}
