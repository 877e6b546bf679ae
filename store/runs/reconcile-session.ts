/** The database work of a session's reconcile: plan everything, return what is open, due and has ended. */

import {
  awaitedChanges,
  busyEnds,
  type OpenRun,
  type SessionPace,
} from '../../domain/runs/awaited-attempts.ts';
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import type { DueRun, ReconcileResult } from '../../domain/runs/reconcile-result.ts';
import { type NodeFacts, reasonToRun } from '../../domain/runs/run-plan.ts';
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { changeSession, type LockedSession, planned } from './change-session.ts';
import { claimOrder } from './claim-order.ts';
import { nodeFacts, planSession } from './plan-session.ts';
import { isBuiltin, notifyReady, queued, queuedColumns } from './queue.ts';

/** At most this many ends are reported in one reconcile; the rest follow in the next. */
const maxNamedEnds = 200;
/** Runs that wait for their time, each of which gets a timer; the others follow as these fall due. */
const maxTimers = 10;

/** A reconcile that is later than this is not relied upon. */
const reconcileSlackSeconds = 1;

/** Reconciles in a row while facts keep arriving; after these the workflow calls again. */
const maxPasses = 4;

/**
 * One reconcile of a session: queues retries that are due, plans every node, marks the session observed and returns
 * what is open. Undefined when the session is gone.
 *
 * Every fact plans its own next step, so there is almost never anything left to plan: the reconcile reads one snapshot
 * without a lock, and acquires the session's lock only when it finds something. The session is marked up to the
 * snapshot; a fact that arrived meanwhile relied on this reconcile (the session was not clean), so it runs again.
 *
 * @param awaited activity ids that the workflow waits for
 * @param sharedMs the least time to its next reconcile, so that many sessions share the reconciles of a process
 */
export async function reconcileSession(
  database: Database,
  sessionId: string,
  awaited: readonly string[] = [],
  sharedMs = 0,
): Promise<ReconcileResult | undefined> {
  const ended: NamedEnd[] = [];
  for (let passes = 1; ; passes++) {
    let state = await readSessionState(database, sessionId);
    if (state && needsPlan(state)) {
      await changeSession(database, { sessionId }, async (tx, session) =>
        planned(await planWhole(tx, session)),
      );
      state = await readSessionState(database, sessionId);
    }
    if (!state) return undefined;
    const changes = present(state, awaited, sharedMs);
    const marked = await markObserved(database, sessionId, state.desiredVersion, changes);
    ended.push(...marked.ended);
    await failpoint('session-advanced');
    const again = marked.desiredVersion !== state.desiredVersion;
    if (!again || passes === maxPasses) return { ...changes, ended, again };
  }
}

type NamedEnd = ReconcileResult['ended'][number];

interface RunRow extends Omit<OpenRun, 'isUnclaimable'> {
  readonly waiting: boolean;
  readonly started: boolean;
  readonly dueAt: string | null;
  readonly dueInMs: number | null;
  /** Not held, and the session is frozen: it is neither claimed nor does it fall due. */
  readonly heldBack: boolean;
}

interface SessionState extends Omit<SessionPace, 'sharedMs'> {
  readonly desiredVersion: number;
  readonly frozen: boolean;
  readonly failedNodes: number;
  /** Nodes for which a run might be wanted. */
  readonly candidates: readonly NodeFacts[];
  readonly runs: readonly RunRow[];
}

const sessionStateStatement = `
  select s.desired_version as "desiredVersion", s.frozen_at is not null as frozen,
         (select count(*) from node_instance f where f.session_id = s.id and f.state = ${nodeStateCodes.Failed}) as "failedNodes",
         (select extract(epoch from clock_timestamp() - max(e.last_processed))::float8 * 1000 from node_instance e
           where e.session_id = s.id and e.parent_ids <> '{}') as "sinceEndMs",
         (select count(*) from (
            select from node_attempt a where a.session_id = s.id and a.ended_at is not null and not a.reported
             limit ${busyEnds}) unreported) as "unreportedEnds",
         coalesce((
           select json_agg(c) from (
             ${nodeFacts}
              where n.session_id = s.id and t.type <> 'Input' and (
                n.follow_up_wanted or n.reprocess_wanted or n.reprocess_input_ids is not null or exists (
                  select 1 from node_instance p
                   where p.id = any (n.parent_ids) and p.newest_position > n.consumed_position))) c), '[]') as candidates,
         coalesce((
           select json_agg(o) from (
             select r.id as "runId", r.attempt, r.max_attempts as "maxAttempts", n.name as "nodeName",
                    ${isBuiltin('r')} as builtin, r.state = 'waiting' as waiting,
                    a.started_at is not null as started, r.frozen and r.state <> 'held' as "heldBack",
                    r.state = 'held' as held,
                    extract(epoch from clock_timestamp() - case when r.state = 'held' then a.started_at
                                                                else a.available_at end)::float8 * 1000 as "openForMs",
                    r.due_at as "dueAt",
                    greatest(0, extract(epoch from r.due_at - clock_timestamp())::float8 * 1000) as "dueInMs"
               from node_run r join node_instance n on n.id = r.node_instance_id
               join node_attempt a on a.run_id = r.id and a.number = r.attempt
              where r.session_id = s.id and r.state <> 'done'
              order by r.due_at nulls first, ${claimOrder('r')}) o), '[]') as runs
    from session s where s.id = $1`;

async function readSessionState(database: Database, sessionId: string): Promise<SessionState | undefined> {
  const [state] = await database.query<SessionState>(sessionStateStatement, [sessionId]);
  return state;
}

function needsPlan(state: SessionState): boolean {
  const hasDueRun = !state.frozen && state.runs.some((run) => run.waiting && run.dueInMs === 0);
  return hasDueRun || state.candidates.some(reasonToRun);
}

/**
 * Queues the runs whose time has come, except in a frozen session, and plans every node. Twice in a row does nothing the
 * second time.
 * @returns the ids of the node instances that got a run
 */
export async function planWhole(tx: Tx, session: LockedSession): Promise<readonly number[]> {
  if (!session.frozen) await queueDueRuns(tx, session.sessionId);
  return planSession(tx, session);
}

async function queueDueRuns(tx: Tx, sessionId: string): Promise<void> {
  await tx.query(
    `with due as (
       update node_run r set ${queued}
        where session_id = $1 and state = 'waiting' and due_at <= clock_timestamp()
        returning ${queuedColumns}
     )
     select ${notifyReady('due')} from due`,
    [sessionId],
  );
}

/**
 * Marks the session observed up to a version, and the attempts that are awaited from now on, and collects the ends not yet
 * reported to its workflow. An end that commits later finds its mark; an earlier one raised `desired_version`.
 */
async function markObserved(
  database: Database,
  sessionId: string,
  version: number,
  { start, lookInMs }: Pick<ReconcileResult, 'start' | 'lookInMs'>,
): Promise<{ desiredVersion: number; ended: readonly NamedEnd[] }> {
  const [row] = await database.query<{ desiredVersion: number; ended: NamedEnd[] }>(
    `with marked as (
       update session
          set observed_version = greatest(observed_version, $2),
              dirty_since = case when desired_version = $2 then null else dirty_since end,
              next_reconcile_at = clock_timestamp() + make_interval(secs => $5)
        where id = $1 returning desired_version
     ), awaiting as (
       update node_attempt a set awaited = true
         from marked, unnest($3::uuid[], $4::int[]) as s (run_id, number)
        where a.run_id = s.run_id and a.number = s.number and not a.awaited
     ), newly_reported as (
       update node_attempt a set reported = true
         from marked
        where (a.run_id, a.number) in (
          select run_id, number from node_attempt
           where session_id = $1 and ended_at is not null and not reported limit ${maxNamedEnds})
       returning a.run_id, a.number, a.outcome, a.ended_at
     )
     select (select desired_version from marked) as "desiredVersion",
            coalesce((
              select json_agg(json_build_object('nodeName', n.name, 'attempt', newly_reported.number, 'outcome', newly_reported.outcome)
                              order by newly_reported.ended_at)
                from newly_reported join node_run r on r.id = newly_reported.run_id join node_instance n on n.id = r.node_instance_id
            ), '[]') as ended`,
    [
      sessionId,
      version,
      start.map((attempt) => attempt.runId),
      start.map((attempt) => attempt.attempt),
      lookInMs === null ? null : lookInMs / 1_000 + reconcileSlackSeconds,
    ],
  );
  return { desiredVersion: row?.desiredVersion ?? version, ended: row?.ended ?? [] };
}

function present(
  state: SessionState,
  awaited: readonly string[],
  sharedMs: number,
): Omit<ReconcileResult, 'ended' | 'again'> {
  const waiting = state.runs.filter((run) => run.waiting && !run.heldBack).slice(0, maxTimers);
  // A released run keeps its attempt, and so its wait, while it is held back.
  const open = state.runs
    .filter((run) => !run.waiting || run.started)
    .map((run): OpenRun => ({ ...run, isUnclaimable: run.heldBack || run.waiting }));
  const { start, drop, reconcileInMs } = awaitedChanges(open, { ...state, sharedMs }, new Set(awaited));
  return {
    start,
    drop,
    lookInMs: reconcileInMs,
    due: waiting[0] ? toDueRun(waiting[0]) : null,
    waiting: waiting.map(toDueRun),
    failedNodes: state.failedNodes,
  };
}

function toDueRun({ runId, nodeName, attempt, maxAttempts, dueInMs, dueAt }: RunRow): DueRun {
  return {
    runId,
    nodeName,
    attempt,
    maxAttempts,
    dueInMs: Math.ceil(dueInMs ?? 0),
    dueAt: new Date(dueAt ?? 0).toISOString(),
  };
}

/** The outcome of an attempt that has ended, or undefined while it has not; `gone` when there is no such attempt. */
export async function attemptOutcome(
  database: Database,
  runId: string,
  attempt: number,
): Promise<string | undefined> {
  const [row] = await database.query<{ outcome: string | null }>(
    'select outcome from node_attempt where run_id = $1 and number = $2',
    [runId, attempt],
  );
  return row ? (row.outcome ?? undefined) : 'gone';
}
