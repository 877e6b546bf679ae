/**
 * The order in which queued runs are claimed: by queue time, which the priorities of session and project move. A change
 * of a priority moves the runs that are open.
 */
import { limits } from '../../domain/limits.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';

/** By what claims are ordered. @param run an alias */
export const claimOrder = (run: string) => `coalesce(${run}.claim_time, ${run}.queue_time)`;

/** The project of a run's session, by the index of queued runs; 0 for runs of earlier versions. @param run an alias */
export const projectOfQueued = (run: string) => `coalesce(${run}.project_id, 0)`;

/** The claim time of a run. @param queueTime @param session @param project SQL: a time, and two aliases */
export const claimTime = (queueTime: string, session: string, project: string) => `
  ${queueTime} - make_interval(secs => ${limits.priorityStepSeconds}
    * greatest(-${limits.priorityMax}, least(${limits.priorityMax}, ${session}.priority + ${project}.priority)))`;

const orderOfSessions = `
  update node_run r set claim_time = ${claimTime('r.queue_time', 's', 'p')}, project_id = p.id
    from session s join project p on p.id = s.project_id
   where s.id = any ($1::uuid[]) and r.session_id = s.id and r.state <> 'done'`;

/** Moves the open runs of a session, whose lock the caller holds, after its priority or project has changed. */
export async function orderSession(tx: Queryable, sessionId: string): Promise<void> {
  await tx.query(orderOfSessions, [[sessionId]]);
}

/** The project's priority has changed in this transaction: {@link orderChangedProjects} moves its runs. */
export async function noteChangedPriority(tx: Queryable, projectId: number): Promise<void> {
  await tx.query(
    `insert into claim_order_change (project_id) values ($1)
     on conflict (project_id) do update set changed_at = clock_timestamp()`,
    [projectId],
  );
}

const sessionsAtOnce = 200;
/** A run that was being planned while the priority changed has appeared by then. */
const plannedWithinSeconds = 70;

/**
 * Moves the open runs of projects whose priority has changed. What is left after `limitMs` is left to the next call;
 * so are runs that are being planned just now, until no transaction of that time can be left.
 */
export async function orderChangedProjects(database: Database, limitMs = 5_000): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  const projects = await database.query<{ projectId: number; isOld: boolean }>(
    `select project_id, changed_at < clock_timestamp() - make_interval(secs => $1) as is_old
       from claim_order_change order by changed_at limit 100`,
    [plannedWithinSeconds],
  );
  for (const { projectId, isOld } of projects) {
    let moved = sessionsAtOnce;
    while (moved === sessionsAtOnce && performance.now() < deadlineMs) {
      moved = await database.transaction((tx) => orderSomeOf(tx, projectId));
    }
    if (isOld && moved === 0) {
      await database.query(
        `delete from claim_order_change
          where project_id = $1 and changed_at < clock_timestamp() - make_interval(secs => $2)`,
        [projectId, plannedWithinSeconds],
      );
    }
  }
}

/** Under the locks of the sessions, so that none of them is planned meanwhile. @returns how many sessions were moved */
async function orderSomeOf(tx: Tx, projectId: number): Promise<number> {
  const sessions = await tx.query<{ id: string }>(
    `select s.id from session s join project p on p.id = s.project_id
      where s.project_id = $1 and s.id in (
        select r.session_id from node_run r
         where r.state <> 'done' and ${claimOrder('r')} <> ${claimTime('r.queue_time', 's', 'p')})
      order by s.id limit ${sessionsAtOnce} for no key update of s`,
    [projectId],
  );
  if (sessions.length > 0) await tx.query(orderOfSessions, [sessions.map(({ id }) => id)]);
  return sessions.length;
}
