/**
 * Claiming tasks. A claim is one statement over run, attempt, claim and runner-instance rows, never session or node:
 * `Processing` is derived from the held claim when a node is read.
 */
import type { RunReason } from '../../domain/runs/run-plan.ts';
import { taskClaimed } from '../../telemetry/metrics.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { newId } from '../connection/ids.ts';
import type { RunnerIdentity } from '../runners/holder.ts';
import { claimOrder } from './claim-order.ts';
import {
  claimById,
  claimByTemplate,
  redeliverStatement,
  registerAndClaimByTemplate,
  registerStatement,
} from './claim-statements.ts';
import { lockLimits } from './concurrency.ts';
import { isClaimable } from './queue.ts';

/** A task as a claim returns it. Times are `Date`s of the database's clock. */
export interface ClaimedTask {
  readonly taskId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly reason: RunReason;
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  /** Json-string, as stored. */
  readonly configuration: string;
  readonly parents: ReadonlyArray<{ nodeInstanceId: number; name: string }>;
  readonly claimedAt: Date;
  readonly leaseExpiresAt: Date;
  readonly leaseSeconds: number;
  readonly incremental: boolean;
  readonly timeoutSeconds: number | null;
  readonly watermarkOutputId: number | null;
  readonly watermarkPosition: number;
  readonly upperPosition: number;
  /** Inputs above the watermark, within the upper bound. */
  readonly pendingInputs: number;
  /** The trace in which the run was queued, as a W3C `traceparent`. */
  readonly traceparent: string | null;
  /** Since the attempt could first be claimed; null when it had been held before. */
  readonly waitedSeconds: number | null;
  /** An earlier reply may have delivered it. */
  readonly redelivered: boolean;
}

/** What a claim finds on arrival. */
export interface ClaimTicket {
  /** Newer than that of every earlier claim of the instance. */
  readonly claimSeq: number;
  /** The instance still holds a task, which it releases by claiming again. */
  readonly holdsTask: boolean;
  /** An operator drained the instance: it gets no task. */
  readonly drained: boolean;
}

/**
 * Registers the instance's newest claim, so that its older waiting claims can no longer win.
 * @param templates the requested templates; null: all that it may claim
 */
export async function registerClaim(
  database: Queryable,
  identity: RunnerIdentity,
  templates: readonly string[] | null = null,
  version: string | null = null,
): Promise<ClaimTicket> {
  const [row] = await database.query<ClaimTicket>(registerStatement, [
    identity.holder,
    identity.instanceId,
    templates,
    version,
  ]);
  return row!;
}

/** Whether a node template was under a limit lately: a claim without limits finds nothing for one that is. */
type IsLimited = (template: string) => boolean;

/** Runs a claim of one template; under limits it holds their locks until it has committed. */
async function claimOf<R>(
  database: Database | Tx,
  template: { readonly name: string; readonly isLimited: boolean | undefined },
  statements: { readonly free: string; readonly limited: string },
  parameters: readonly unknown[],
): Promise<R[]> {
  if (template.isLimited !== true) return database.query<R>(statements.free, parameters);
  if ('isTransaction' in database) {
    lockLimits(database, template.name);
    return database.query<R>(statements.limited, parameters);
  }
  return database.transaction((tx) => {
    lockLimits(tx, template.name);
    return tx.last<R>(statements.limited, parameters);
  });
}

/** A claim of one template. */
export interface TemplateClaim {
  readonly template: string;
  readonly leaseSeconds: number;
  /** The claim asks for all that it may claim, which is only this template at the moment. */
  readonly coversAll?: boolean;
  readonly isLimited?: IsLimited;
  readonly version?: string | null;
}

/** What a claim of one template found, and the task that it got. */
export interface ArrivedClaim extends ClaimTicket {
  readonly task: ClaimedTask | undefined;
}

type ArrivedRow = ClaimTicket & { readonly [Name in keyof ClaimedTask]: ClaimedTask[Name] | null };

/**
 * {@link registerClaim} and {@link claimNext} for one template in one statement; an instance that holds a task gets none.
 * @throws a unique violation when an older claim of the instance wins at the same time
 */
export async function registerAndClaim(
  database: Database | Tx,
  identity: RunnerIdentity,
  request: TemplateClaim,
): Promise<ArrivedClaim> {
  const named = { name: request.template, isLimited: request.isLimited?.(request.template) };
  const parameters = arrivalParameters(identity, request);
  const [row] = await claimOf<ArrivedRow>(database, named, registerAndClaimByTemplate, parameters);
  const arrived = arrivedClaim(row!);
  if (arrived.task !== undefined) await recordClaim(arrived.task);
  return arrived;
}

/**
 * {@link registerAndClaim} as the last statement of the transaction that ends the instance's task, for a template without
 * limits. Once that has committed, {@link recordClaim} follows.
 */
export async function registerAndClaimLast(
  tx: Tx,
  identity: RunnerIdentity,
  request: Omit<TemplateClaim, 'isLimited'>,
): Promise<ArrivedClaim> {
  const parameters = arrivalParameters(identity, request);
  const [row] = await tx.last<ArrivedRow>(registerAndClaimByTemplate.free, parameters);
  return arrivedClaim(row!);
}

function arrivalParameters(identity: RunnerIdentity, request: TemplateClaim): readonly unknown[] {
  const { template, leaseSeconds, coversAll, version } = request;
  const templates = coversAll === true ? null : [template];
  return [identity.holder, identity.instanceId, newId(), leaseSeconds, template, templates, version ?? null];
}

function arrivedClaim({ claimSeq, holdsTask, drained, ...task }: ArrivedRow): ArrivedClaim {
  return {
    claimSeq,
    holdsTask,
    drained,
    task: task.taskId === null ? undefined : (task as ClaimedTask),
  };
}

/**
 * Claims the next ready task (by claim time) of one of the templates; undefined when there is none, when limits leave no
 * place, when a newer claim of the same instance has arrived, when the instance is drained, or when its token has ended.
 */
export async function claimNext(
  database: Database | Tx,
  identity: RunnerIdentity,
  request: {
    claimSeq: number;
    templates: readonly string[];
    leaseSeconds: number;
    isLimited?: IsLimited;
  },
): Promise<ClaimedTask | undefined> {
  for (const name of await byOldestTask(database, request.templates)) {
    const next = { name, isLimited: request.isLimited?.(name) };
    const [task] = await claimOf<ClaimedTask>(database, next, claimByTemplate, [
      identity.holder,
      identity.instanceId,
      newId(),
      request.leaseSeconds,
      request.claimSeq,
      name,
    ]);
    if (task) return recordClaim(task);
  }
  return undefined;
}

/** The templates that have a ready task; the one whose task is first by claim time comes first. */
async function byOldestTask(database: Queryable, templates: readonly string[]): Promise<readonly string[]> {
  if (templates.length <= 1) return templates;
  const rows = await database.query<{ name: string }>(
    `select t.name from unnest($1::text[]) as t (name)
       cross join lateral (
         select ${claimOrder('r')} as place from node_run r
          where ${isClaimable} and r.template_name = t.name
          order by ${claimOrder('r')} limit 1) head
      order by head.place`,
    [templates],
  );
  return rows.map((row) => row.name);
}

/**
 * The task that the instance holds, with a whole lease, for a reply to a repeated call; undefined when it holds none.
 */
export async function redeliverHeld(
  database: Queryable,
  identity: RunnerIdentity,
): Promise<ClaimedTask | undefined> {
  const [task] = await database.query<ClaimedTask>(redeliverStatement, [
    identity.holder,
    identity.instanceId,
  ]);
  return task;
}

/** Claims one attempt of one run for a built-in node's activity; undefined when it is held or ended. */
export async function claimRun(
  database: Queryable,
  identity: RunnerIdentity,
  request: { runId: string; attempt: number; leaseSeconds: number },
): Promise<ClaimedTask | undefined> {
  const { claimSeq } = await registerClaim(database, identity);
  const [task] = await database.query<ClaimedTask>(claimById, [
    identity.holder,
    identity.instanceId,
    newId(),
    request.leaseSeconds,
    claimSeq,
    request.runId,
    request.attempt,
  ]);
  return task && recordClaim(task);
}

/** Called when a claim has committed. */
export async function recordClaim(task: ClaimedTask): Promise<ClaimedTask> {
  await failpoint('claimed');
  taskClaimed(task.nodeTemplate, task.waitedSeconds);
  return task;
}
