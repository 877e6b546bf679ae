/** What the session's workflow asks of the database: plan everything, say what is open, due and has ended. */
import type { Advanced, OpenAttempt } from '../domain/session-look.ts';
import type { Database, Tx } from './database.ts';
import { planSession, taskReadyChannel } from './plan-session.ts';
import { lockSession, type SessionLabel } from './session-lock.ts';

/** At most this many ends are told in one look; the rest follows at the next. */
const maxEndedTold = 200;

/**
 * One look at a session, in one transaction under its lock: queues retries that are due, plans every node, and marks
 * the session advanced. Undefined when the session is gone.
 */
export async function advanceSession(database: Database, sessionId: string): Promise<Advanced | undefined> {
  return database.transaction(async (tx) => {
    const session = await lockSession(tx, 'session', sessionId);
    if (!session) return undefined;
    if (!session.frozen) await queueDueRuns(tx, sessionId);
    await planSession(tx, session);
    await tx.query(
      `update session set fair_rank = to_timestamp($2::float8 / 1000), advanced_seq = wanted_seq, wanted_at = null
        where id = $1`,
      [sessionId, session.fairRankMs],
    );
    return readAdvanced(tx, sessionId);
  });
}

async function queueDueRuns(tx: Tx, sessionId: string): Promise<void> {
  await tx.query(
    `with due as (
       update node_run set state = 'queued', due_at = null
        where session_id = $1 and state = 'waiting' and due_at <= clock_timestamp()
        returning template_name, runner_type
     )
     select pg_notify('${taskReadyChannel}', template_name)
       from (select distinct template_name from due where runner_type <> 'system') d`,
    [sessionId],
  );
}

async function readAdvanced(tx: Tx, sessionId: string): Promise<Advanced> {
  const runs = await tx.query<OpenAttempt & { waiting: boolean; started: boolean; dueInMs: number | null }>(
    `select r.id as "runId", r.attempt, r.max_attempts as "maxAttempts", n.name as "nodeName",
            r.runner_type = 'system' as builtin, r.state = 'waiting' as waiting, a.started_at is not null as started,
            greatest(0, extract(epoch from r.due_at - clock_timestamp())::float8 * 1000) as "dueInMs"
       from node_run r join node_instance n on n.id = r.node_instance_id
       join node_attempt a on a.run_id = r.id and a.number = r.attempt
      where r.session_id = $1 and r.state <> 'done' order by r.due_at nulls first, r.id`,
    [sessionId],
  );
  const ended = await tx.query<{ nodeName: string; attempt: number; outcome: string }>(
    `with told as (
       update node_attempt a set reported = true
        where (a.run_id, a.number) in (
          select run_id, number from node_attempt
           where session_id = $1 and ended_at is not null and not reported limit ${maxEndedTold})
       returning a.run_id, a.number, a.outcome, a.ended_at
     )
     select n.name as "nodeName", told.number as attempt, told.outcome
       from told join node_run r on r.id = told.run_id join node_instance n on n.id = r.node_instance_id
      order by told.ended_at`,
    [sessionId],
  );
  const [{ failedNodes } = { failedNodes: 0 }] = await tx.query<{ failedNodes: number }>(
    `select count(*) as "failedNodes" from node_instance where session_id = $1 and state = 2`,
    [sessionId],
  );
  const due = runs.find((run) => run.waiting);
  return {
    // A released run keeps its attempt, and so its wait, while it is held back.
    open: runs
      .filter((run) => !run.waiting || run.started)
      .map(({ runId, attempt, maxAttempts, nodeName, builtin }) => ({
        runId,
        attempt,
        maxAttempts,
        nodeName,
        builtin,
      })),
    due: due
      ? {
          nodeName: due.nodeName,
          attempt: due.attempt,
          maxAttempts: due.maxAttempts,
          dueInMs: Math.ceil(due.dueInMs ?? 0),
        }
      : null,
    ended,
    failedNodes,
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

/**
 * Sessions that somebody must look at: wanted but not advanced for `seconds`, retries overdue, and built-in runs that
 * stay queued although a worker should have them.
 */
export async function forgottenSessions(
  database: Database,
  waits: { wantedSeconds: number; dueSeconds: number; builtinSeconds: number },
  limit: number,
): Promise<SessionLabel[]> {
  return database.query<SessionLabel>(
    `select s.id as "sessionId", s.project_id as "projectId", t.name as "templateName"
       from session s join session_template t on t.id = s.session_template_id
      where s.id in (
        (select id from session where wanted_seq > advanced_seq
            and wanted_at < clock_timestamp() - make_interval(secs => $1) order by wanted_at limit $4)
        union
        (select session_id from node_run where state = 'waiting'
            and due_at < clock_timestamp() - make_interval(secs => $2) order by due_at limit $4)
        union
        (select r.session_id from node_run r
          where r.state = 'queued' and r.runner_type = 'system'
            and r.fair_rank < clock_timestamp() - make_interval(secs => $3) order by r.fair_rank limit $4))
        and s.frozen_at is null`,
    [waits.wantedSeconds, waits.dueSeconds, waits.builtinSeconds, limit],
  );
}

/**
 * Sessions with open runs whose workflow nobody has checked for `seconds`; marks them checked.
 * A workflow that somebody ended from outside is found this way.
 */
export async function takeUncheckedSessions(
  database: Database,
  seconds: number,
  limit: number,
): Promise<SessionLabel[]> {
  return database.query<SessionLabel>(
    `with picked as (
       select s.id from session s
        where s.checked_at < clock_timestamp() - make_interval(secs => $1) and s.frozen_at is null
          and exists (select 1 from node_run r where r.session_id = s.id and r.state <> 'done')
        order by s.checked_at limit $2 for no key update skip locked
     )
     update session s set checked_at = clock_timestamp() from picked, session_template t
      where s.id = picked.id and t.id = s.session_template_id
      returning s.id as "sessionId", s.project_id as "projectId", t.name as "templateName"`,
    [seconds, limit],
  );
}
