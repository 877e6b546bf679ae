/** Runs as operators see them: what is open, what failed for good and why, attempt by attempt. */

import { heldDetails, type NodeState, visibleNodeState } from '../../domain/runs/node-state.ts';
import type { RunHolder } from '../../domain/runs/run-log.ts';
import {
  type FailureCategory,
  type OperatedRun,
  openRunStates,
  type RunOutcome,
  type RunReason,
  type RunState,
} from '../../domain/runs/run-plan.ts';
import type { RunProgress } from '../../domain/runs/run-progress.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { dateOf } from '../connection/json-times.ts';
import { Parameters } from '../connection/parameters.ts';
import { holderOfClaim } from '../runners/holder.ts';
import { isOpen } from '../runners/lease.ts';

/** One value: the state of an open run, or the outcome of one that is done. */
export type ShownRunState = Exclude<RunState, 'done'> | RunOutcome;

export interface NodeRunAttempt {
  readonly number: number;
  /** Since when it is, or was, claimable. */
  readonly availableAt: Date;
  /** The time of its first claim. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly outcome: RunOutcome | 'lost' | null;
  /** The category of a failed or lost attempt. */
  readonly category: FailureCategory | null;
  readonly details: string;
  /** Who held it last; null until its first claim. */
  readonly runner: RunHolder | null;
}

interface RunHolding {
  readonly instanceId: string;
  readonly leaseExpiresAt: Date;
  /** As the last heartbeat reported it. */
  readonly phase: string | null;
  readonly message: string | null;
  readonly progress: RunProgress | null;
}

export interface NodeRunRow {
  readonly id: string;
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  readonly reason: RunReason;
  readonly state: ShownRunState;
  /** The state of the node, not only of this run. */
  readonly nodeState: NodeState | 'Unknown';
  readonly statusDetails: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly cancelRequested: boolean;
  readonly isRetryable: boolean;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly heldBy: RunHolding | null;
  readonly attempts: readonly NodeRunAttempt[];
}

export interface NodeRunFilter extends RunPlace {
  /** Empty: all; without session and node all that are open or failed, which have indexes of their own. */
  readonly states: readonly ShownRunState[];
}

/**
 * Of a run `r`: no run of its node was queued after it. Ranks of a session rise with every run that is queued. A later
 * run over chosen inputs counts only while it is open: it does not cover the inputs of `r`.
 */
const isNewestOfNode = `
  not exists (select 1 from node_run x where x.node_instance_id = r.node_instance_id and x.queue_time > r.queue_time
                                         and (x.input_ids is null or x.state <> 'done'))`;

export const runColumns = `
  r.id, s.project_id, r.session_id, s.name as session_name,
  r.node_instance_id, n.name as node_name, r.template_name as node_template,
  r.runner_type, r.reason, case when r.state = 'done' then r.outcome else r.state end as state,
  n.state as node_state_code,
  exists (select 1 from node_run h where h.node_instance_id = n.id and h.state = 'held') as node_is_held,
  r.status_details, r.attempt, r.max_attempts,
  r.cancel_requested,
  r.outcome in ('failed', 'cancelled') and r.state = 'done' and s.frozen_at is null and ${isNewestOfNode} as is_retryable,
  r.created_at, r.ended_at, r.due_at as next_attempt_at, c.instance_id,
  c.lease_until as lease_expires_at, c.phase, c.message, c.progress,
  (select json_agg(json_build_object(
            'number', a.number, 'availableAt', a.available_at, 'startedAt', a.started_at, 'endedAt', a.ended_at,
            'outcome', a.outcome, 'category', a.category, 'details', a.details,
            'runner', (select ${holderOfClaim} from node_claim c where c.run_id = a.run_id and c.attempt = a.number
                        order by c.claimed_at desc limit 1)) order by a.number)
     from node_attempt a where a.run_id = r.id) as attempts`;
export const runJoins = `
  join session s on s.id = r.session_id join node_instance n on n.id = r.node_instance_id
  left join node_claim c on c.run_id = r.id and ${isOpen}`;

export interface RunRow extends Omit<NodeRunRow, 'attempts' | 'isRetryable' | 'nodeState' | 'heldBy'> {
  readonly nodeStateCode: number;
  readonly nodeIsHeld: boolean;
  readonly isRetryable: boolean | null;
  readonly instanceId: string | null;
  readonly leaseExpiresAt: Date | null;
  readonly phase: string | null;
  readonly message: string | null;
  readonly progress: RunProgress | null;
  readonly attempts: readonly AttemptRow[];
}

interface AttemptRow extends Omit<NodeRunAttempt, 'availableAt' | 'startedAt' | 'endedAt'> {
  readonly availableAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

/** Undefined when there is no such run. */
export async function findNodeRun(database: Queryable, runId: string): Promise<NodeRunRow | undefined> {
  const [row] = await database.query<RunRow>(
    `select ${runColumns} from node_run r ${runJoins} where r.id = $1`,
    [runId],
  );
  return row && nodeRunOf(row);
}

/** The facts that decide an operator's request about a run, under its session's lock; locks the run too. */
export async function lockOperatedRun(
  tx: Queryable,
  runId: string,
): Promise<(OperatedRun & { readonly nodeInstanceId: number; readonly attempt: number }) | undefined> {
  const [run] = await tx.query<OperatedRun & { nodeInstanceId: number; attempt: number }>(
    `select r.state, r.outcome, r.cancel_requested, r.first_attempt > 1 as was_retried,
            ${isNewestOfNode} as is_newest, r.node_instance_id, r.attempt
       from node_run r where r.id = $1 for update of r`,
    [runId],
  );
  return run;
}

/** One page of runs, the last queued first, and how many there are in all. */
export async function listNodeRuns(
  database: Database,
  filter: NodeRunFilter,
  page: { readonly number: number; readonly size: number },
): Promise<{ readonly rows: readonly NodeRunRow[]; readonly totalCount: number }> {
  const [rows, [counted]] = await Promise.all([
    database.queryUnprepared<RunRow>(...pageStatement(filter, page)),
    database.queryUnprepared<{ count: number }>(...countStatement(filter)),
  ]);
  return { rows: rows.map(nodeRunOf), totalCount: counted?.count ?? 0 };
}

type Statement = readonly [text: string, values: readonly unknown[]];

function pageStatement(filter: NodeRunFilter, page: { number: number; size: number }): Statement {
  const parameters = new Parameters();
  const arms = armsOf(filter, parameters);
  const offset = parameters.bind((page.number - 1) * page.size, 'bigint');
  const size = parameters.bind(page.size, 'bigint');
  const newest = 'order by queue_time desc, id desc';
  // Each arm is read in the order of its own index, and no further than the page needs.
  const picked = arms.map(
    (where) => `(select id, queue_time from node_run r where ${where} ${newest} limit ${offset} + ${size})`,
  );
  const text = `
    select ${runColumns}
      from (select id from (${picked.join(' union all ')}) p ${newest} offset ${offset} limit ${size}) page
      join node_run r on r.id = page.id ${runJoins} order by r.queue_time desc, r.id desc`;
  return [text, parameters.values];
}

function countStatement(filter: NodeRunFilter): Statement {
  const parameters = new Parameters();
  const counts = armsOf(filter, parameters).map(
    (where) => `(select count(*) from node_run r where ${where})`,
  );
  return [`select ${counts.join(' + ')} as count`, parameters.values];
}

/** Where the runs are that a request is about. */
export interface RunPlace {
  readonly sessionId?: string | undefined;
  readonly nodeInstanceId?: number | undefined;
  readonly nodeTemplate?: string | undefined;
}

/** The conditions of a place, of a run `r`. */
export function placeConditions(place: RunPlace, parameters: Parameters): string[] {
  const { sessionId, nodeInstanceId, nodeTemplate } = place;
  const all: string[] = [];
  if (nodeTemplate !== undefined) all.push(`r.template_name = ${parameters.bind(nodeTemplate, 'text')}`);
  if (nodeInstanceId !== undefined)
    all.push(`r.node_instance_id = ${parameters.bind(nodeInstanceId, 'bigint')}`);
  if (sessionId !== undefined) {
    const session = parameters.bind(sessionId, 'uuid');
    all.push(`r.node_instance_id = any (array(select id from node_instance where session_id = ${session}))`);
  }
  return all;
}

/** Conditions that exclude each other and together cover the request. */
function armsOf({ states, ...place }: NodeRunFilter, parameters: Parameters): string[] {
  const all = placeConditions(place, parameters);
  const isScoped = place.nodeInstanceId !== undefined || place.sessionId !== undefined;
  const wanted = (arm: string) => [arm, ...all].join(' and ');
  if (states.length === 0) {
    return isScoped ? [wanted('true')] : [wanted(openRuns), wanted(failedRuns)];
  }
  // The states of runs that went well are only requested within a session or node.
  return stateArms(states, parameters).map(wanted);
}

const openStates: readonly string[] = openRunStates;
const failedRuns = `r.outcome in ('failed', 'cancelled')`;
/**
 * Of a run `r`. Without statistics of its state (docs/architecture/023-planned-once.md) PostgreSQL takes nearly all runs for
 * open ones, and would read the whole table. Their nodes are collected from the index alone.
 */
const openRuns = `r.state <> 'done'
  and r.node_instance_id = any (array(select o.node_instance_id from node_run o where o.state <> 'done'))`;

/** Conditions that exclude each other and together find the states: all but completed runs have indexes of their own. */
export function stateArms(states: readonly ShownRunState[], parameters: Parameters): string[] {
  const open = states.filter((state) => openStates.includes(state));
  const rest = states.filter((state) => !openStates.includes(state) && state !== 'completed');
  const among = (column: string, wanted: readonly string[]) =>
    `${column} = any (${parameters.bind(wanted, 'text[]')})`;
  return [
    ...(open.length > 0 ? [`${openRuns} and ${among('r.state', open)}`] : []),
    ...(rest.length > 0 ? [`r.outcome <> 'completed' and ${among('r.outcome', rest)}`] : []),
    // Written so that PostgreSQL expects many, and does not sort all to find the newest.
    ...(states.includes('completed') ? [`array_position('{completed}', r.outcome) is not null`] : []),
  ];
}

export function nodeRunOf(row: RunRow): NodeRunRow {
  const { nodeStateCode, nodeIsHeld, isRetryable, attempts, ...rest } = row;
  const { instanceId, leaseExpiresAt, phase, message, progress, ...shown } = rest;
  const isHeld = instanceId !== null && leaseExpiresAt !== null;
  return {
    ...shown,
    // What is stored is of the time before the claim: that it waited, and why.
    statusDetails: isHeld ? heldDetails(phase, message) : shown.statusDetails,
    isRetryable: isRetryable ?? false,
    nodeState: visibleNodeState(nodeStateCode, nodeIsHeld),
    heldBy: isHeld ? { instanceId, leaseExpiresAt, phase, message, progress } : null,
    attempts: attempts.map((attempt) => ({
      ...attempt,
      availableAt: new Date(attempt.availableAt),
      startedAt: dateOf(attempt.startedAt),
      endedAt: dateOf(attempt.endedAt),
    })),
  };
}
