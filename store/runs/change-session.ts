/**
 * The one transaction that changes a session's graph: the session is locked, changed, planned and saved, and once that
 * is committed its workflow is notified. Lock and save always come together.
 *
 * Lock order, everywhere: match key, session, node, run, attempt, claim, runner instance, output. Triggers write the
 * session's row of `session_activity` at any of these depths: only a holder of the session's lock does so.
 * `FOR NO KEY UPDATE`, because plain `FOR UPDATE` would block every insert that refers to the session.
 */

import { systemRunnerType } from '../../domain/runners/manifest-runner-types.ts';
import type { EndedAttempt, SessionLabel } from '../../domain/sessions/session-change.ts';
import { noteAuditedSession } from '../connection/audit-scope.ts';
import type { Database, Tx } from '../connection/database.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import type { PublishingSession } from '../outputs/publish-output.ts';

/** A session under its lock, for work that does not change its graph. */
export interface HeldSession extends SessionLabel {
  readonly frozen: boolean;
  /** The database's clock when the lock was acquired, milliseconds since 1970. */
  readonly nowMs: number;
}

/** A session under its lock, whose counters are saved when the change is made. */
export interface LockedSession extends HeldSession, PublishingSession {
  frozen: boolean;
  /** Milliseconds since 1970 of the last queued run's rank. */
  queueTimeMs: number;
  readonly isClean: boolean;
  /** Its workflow reconciles late, at most one run was open, and none was queued since: an end likely leaves none. */
  mayBeOver: boolean | null;
  /** When its workflow reconciles the session anyway; null or below 0: it does not. */
  readonly reconcilesInMs: number | null;
  /** When the first of the runs that this transaction made wait falls due: see {@link waitsFor}. */
  dueInMs: number;
  /** Set by {@link noteQueued}: the workflow is to start a run of a built-in node at once. */
  builtinQueued: boolean;
}

/** Names a session by its id, or by something of it. */
export type SessionKey =
  | { readonly sessionId: string }
  | { readonly nodeInstanceId: number }
  | { readonly taskId: string }
  | { readonly runId: string };

/** The result of a change. Made by {@link changed}, {@link planned} and {@link unchanged} alone. */
export interface Change<T> {
  readonly result: T;
  /** `counters`: the session's counters are written, without a notification. */
  readonly save: 'all' | 'counters' | 'nothing';
  readonly ended: readonly EndedAttempt[];
  readonly answer: TaskAnswer | undefined;
}

/** The answer to the end of a task, saved for repeats of the same call. */
interface TaskAnswer {
  readonly taskId: string;
  readonly reply: Record<string, unknown>;
}

/** The graph has changed: the session is saved, and its workflow is notified, also of the attempts that ended. */
export function changed<T>(
  result: T,
  ended: readonly EndedAttempt[] = [],
  answer?: TaskAnswer | undefined,
): Change<T> {
  return { result, save: 'all', ended, answer };
}

/** The session's own workflow had runs queued: it continues with them, and needs no notification. */
export function planned<T>(result: T): Change<T> {
  return { result, save: 'counters', ended: [], answer: undefined };
}

/** The graph was not written. */
export function unchanged<T>(result: T): Change<T> {
  return { result, save: 'nothing', ended: [], answer: undefined };
}

/**
 * Changes a session in a transaction of its own, which may be tried again.
 * @returns the result of the change; undefined when there is no such session
 */
export async function changeSession<T>(
  database: Database,
  key: SessionKey,
  change: (tx: Tx, session: LockedSession) => Promise<Change<T>>,
): Promise<T | undefined> {
  return database.transaction((tx) => changeSessionWithin(tx, key, (session) => change(tx, session)));
}

/**
 * As {@link changeSession}, as the last work in the caller's transaction; a claim may follow it.
 * @param ahead statements that need the lock and nothing of the session: they are sent with it, in one round trip
 */
export async function changeSessionWithin<T, A = undefined>(
  tx: Tx,
  key: SessionKey,
  change: (session: LockedSession, ahead: A) => Promise<Change<T>>,
  ahead?: () => Promise<A>,
): Promise<T | undefined> {
  const locking = lockSession(tx, key);
  const sent = ahead?.();
  // The first failure of the two is the one to report.
  sent?.catch(() => undefined);
  const session = await locking;
  if (session === undefined) return undefined;
  const { result, save, ended, answer } = await change(session, (await sent) as A);
  if (save === 'all') saveSession(tx, session, ended, answer);
  if (save === 'counters') saveCounters(tx, session);
  return result;
}

/**
 * Runs work that needs the session's lock and does not change its graph, or removes it, in a transaction of its own.
 * @returns undefined when there is no such session
 */
export async function holdSession<T>(
  database: Database,
  key: SessionKey,
  work: (tx: Tx, session: HeldSession) => Promise<T>,
): Promise<T | undefined> {
  return database.transaction(async (tx) => {
    const session = await lockSession(tx, key);
    return session && work(tx, session);
  });
}

/** The time of the newest publication, for sessions that published before `newest_output_at` was added. */
const newestOutputAt = `(
             select max(o.created_at) from node_instance n join node_output o on o.id = n.newest_output_id
              where n.session_id = s.id)`;

/** Beside many sessions one is reconciled late. The workflow of a session without open work ends sooner and frees memory. */
const endsWithinSeconds = 7;

/**
 * The template is no join: a statement that waited while the session got another template would find no row.
 * @param sessionId an SQL expression of `$1`
 */
function lockStatement(sessionId: string): string {
  return `
    select s.id as session_id, s.project_id,
           coalesce((select t.name from session_template t where t.id = s.session_template_id), '') as template_name,
           s.frozen_at is not null as frozen, s.newest_position, 0 as published_bytes,
           date_trunc('milliseconds', greatest(clock_timestamp(), coalesce(s.newest_output_at, ${newestOutputAt})))
             as published_at,
           case when s.queue_time = '-infinity' then 0 else extract(epoch from s.queue_time)::float8 * 1000 end as queue_time_ms,
           s.desired_version = s.observed_version as is_clean,
           case when s.next_reconcile_at > clock_timestamp() + interval '${endsWithinSeconds} seconds' then (
              select count(*) <= 1 from (
                select from node_run r where r.session_id = s.id and r.state <> 'done' limit 2) open) end as may_be_over,
           extract(epoch from s.next_reconcile_at - clock_timestamp())::float8 * 1000 as reconciles_in_ms,
           'infinity'::float8 as due_in_ms, false as builtin_queued,
           extract(epoch from clock_timestamp())::float8 * 1000 as now_ms
      from session s
     where s.id = ${sessionId}
       for no key update of s`;
}

const lockBySession = lockStatement('$1::uuid');
const lockByNode = lockStatement('(select n.session_id from node_instance n where n.id = $1::bigint)');
const lockByTask = lockStatement(
  '(select r.session_id from node_claim c join node_run r on r.id = c.run_id where c.task_id = $1::uuid)',
);
const lockByRun = lockStatement('(select r.session_id from node_run r where r.id = $1::uuid)');

function lockOf(key: SessionKey): readonly [statement: string, id: string | number] {
  if ('sessionId' in key) return [lockBySession, key.sessionId];
  if ('nodeInstanceId' in key) return [lockByNode, key.nodeInstanceId];
  if ('taskId' in key) return [lockByTask, key.taskId];
  return [lockByRun, key.runId];
}

async function lockSession(tx: Tx, key: SessionKey): Promise<LockedSession | undefined> {
  const [statement, id] = lockOf(key);
  const [row] = await tx.query<LockedSession>(statement, [id]);
  if (row !== undefined) noteAuditedSession(row.sessionId);
  return row;
}

/** The bytes of the published outputs, added up. @param session an alias of the table */
const sumOfOutputBytes = (session: string) => `(
  select coalesce(sum(o.size_bytes), 0)::bigint from node_instance n join node_output o on o.node_instance_id = n.id
   where n.session_id = ${session}.id and o.position is not null)`;

/** The bytes of a session's published outputs. @param session an alias of the table */
export const outputBytes = (session: string) => `
  case when ${session}.output_bytes_position = ${session}.newest_position then ${session}.output_bytes
       else ${sumOfOutputBytes(session)} end`;

const saveStatement = `
  with claim as (
    update node_claim set ending_reply = $5::jsonb where task_id = $4::uuid
  )
  update session
     set newest_output_at = case when newest_position < $2 then $6::timestamptz else newest_output_at end,
         output_bytes = case when newest_position = $2 then output_bytes
                             when output_bytes_position = newest_position then output_bytes + $7
                             else ${sumOfOutputBytes('session')} end,
         output_bytes_position = case when newest_position = $2 then output_bytes_position else $2 end,
         newest_position = $2, queue_time = to_timestamp($3::float8 / 1000), desired_version = desired_version + 1,
         dirty_since = case when desired_version = observed_version then clock_timestamp() else dirty_since end
   where id = $1`;

/** Writes the session's counters and marks it dirty; after the commit its workflow is notified. */
function saveSession(
  tx: Tx,
  session: LockedSession,
  ended: readonly EndedAttempt[],
  answer: TaskAnswer | undefined,
): void {
  void tx.pipelined(saveStatement, [
    session.sessionId,
    session.newestPosition,
    session.queueTimeMs,
    answer?.taskId ?? null,
    jsonOrNull(answer?.reply),
    session.publishedAt,
    session.publishedBytes,
  ]);
  const reconcilesInMs = Math.max(0, session.reconcilesInMs ?? 0);
  // It makes the timers of waiting runs, and ends the workflow when nothing is left to do.
  const isTooLate = reconcilesInMs > session.dueInMs || (session.mayBeOver === true && ended.length > 0);
  // A session that is not clean and reconciles later relies on that; its workflow has not been notified.
  const isStarted = session.builtinQueued && reconcilesInMs > 0;
  const wake = isTooLate || isStarted || (session.isClean && reconcilesInMs === 0);
  tx.announce({ session: labelOf(session), wake, isUrgent: session.builtinQueued, ended });
}

/** A run of the session waits for this long before it may be claimed again. */
export function waitsFor(session: LockedSession, delayMs: number): void {
  if (delayMs > 0) session.dueInMs = Math.min(session.dueInMs, delayMs);
}

/** A run of this runner type may be claimed from now on. Those of built-in nodes are started by the session's workflow. */
export function noteQueued(session: LockedSession, runnerType: string): void {
  session.builtinQueued ||= runnerType === systemRunnerType;
}

/** Planning publishes nothing: of the counters it moves the rank alone. */
function saveCounters(tx: Tx, session: LockedSession): void {
  void tx.pipelined('update session set queue_time = to_timestamp($2::float8 / 1000) where id = $1', [
    session.sessionId,
    session.queueTimeMs,
  ]);
}

export function labelOf(session: SessionLabel): SessionLabel {
  return { sessionId: session.sessionId, projectId: session.projectId, templateName: session.templateName };
}
