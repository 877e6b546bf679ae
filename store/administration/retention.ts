/**
 * What a project's `retentionDays` expires. The dry run and the real one use the same statements; the real one repeats
 * them for each session under its locks, so that it sees later changes.
 *
 * A session expires when nothing has happened in it for that long: it was made, closed, its window ended, its outputs
 * were written and its runs queued and ended before. It stays while it is frozen, backs a system dashboard, a task of
 * it is held, an upload to it is queued or under way. In a session that stays, outputs of that age expire, except the
 * newest of each node and those that an open run or a later node still has to read: an incremental node those above its
 * watermark, however its runs have ended.
 */

import { limits } from '../../domain/limits.ts';
import { auditOwnAction } from '../connection/audit-scope.ts';
import type { Database, Reader, Tx } from '../connection/database.ts';
import { forgetSources } from '../dashboards/dimensions.ts';
import { holdSession } from '../runs/change-session.ts';
import { deleteLockedSession } from '../sessions/delete-session.ts';
import { isUploadedTo } from '../uploads/resumable-uploads.ts';

/** An upload in one request that was silent for longer is abandoned: see pending-objects.ts. */
const abandonedAfter = `interval '${limits.uploadAbandonedSeconds} seconds'`;
const cutoff = 'clock_timestamp() - make_interval(days => p.retention_days)';

/** Whether a session `s` of a project `p` is expired. */
const isExpiredSession = `
  p.retention_days is not null and s.frozen_at is null and s.created_at < ${cutoff}
  and coalesce(s.closed_at, s.created_at) < ${cutoff} and coalesce(s.window_end_at, s.created_at) < ${cutoff}
  and not exists (select from static_instance i where i.session_id = s.id)
  and not exists (
    select from node_instance n where n.session_id = s.id and (
      exists (select from node_output o where o.node_instance_id = n.id and o.created_at >= ${cutoff})
      or exists (select from queued_upload q where q.node_instance_id = n.id)
      or ${isUploadedTo('n.id', abandonedAfter)}
      or exists (select from node_run r where r.node_instance_id = n.id
                  and (r.state = 'held' or r.queue_time >= ${cutoff} or r.ended_at >= ${cutoff}))))`;

/** Whether an output `o` of a node `n`, of a session `s` in a project `p`, is expired. */
const isExpiredOutput = `
  p.retention_days is not null and s.frozen_at is null and o.position is not null and o.created_at < ${cutoff}
  and o.id is distinct from n.newest_output_id
  and not exists (select from node_output l where l.id = n.newest_output_id and l.run_id = o.run_id)
  and not exists (
    select from node_instance c join node_template t on t.id = c.node_template_id
     where c.id = any (n.child_ids) and (
      case when t.incremental then least(c.consumed_position, c.watermark_position)
           else c.consumed_position end < o.position
      or exists (select from node_run r where r.node_instance_id = c.id and r.state <> 'done')))`;

export interface ExpiredSession {
  readonly sessionId: string;
  readonly projectId: number;
  readonly createdAt: Date;
  readonly outputs: number;
  readonly bytes: number;
}

export interface ExpiredOutputs {
  readonly sessionId: string;
  readonly projectId: number;
  readonly outputs: number;
  readonly bytes: number;
}

/** Sessions that expire now, by id. @param after the last of the page before */
export async function listExpiredSessions(
  database: Reader,
  after: string | null,
  limit: number,
): Promise<ExpiredSession[]> {
  return database.queryUnprepared<ExpiredSession & Record<string, unknown>>(
    `select s.id as session_id, s.project_id, s.created_at,
            coalesce(t.outputs, 0) as outputs, coalesce(t.bytes, 0)::float8 as bytes
       from (select s.id, s.project_id, s.created_at from session s join project p on p.id = s.project_id
              where ($1::uuid is null or s.id > $1) and ${isExpiredSession} order by s.id limit $2) s
       left join lateral (
         select count(*)::int as outputs, sum(o.size_bytes) as bytes
           from node_instance n join node_output o on o.node_instance_id = n.id where n.session_id = s.id) t on true
      order by s.id`,
    [after, limit],
  );
}

/** Sessions that stay, with how much of each expires now, by id. @param after the last of the page before */
export async function listExpiredOutputs(
  database: Reader,
  after: string | null,
  limit: number,
): Promise<ExpiredOutputs[]> {
  return database.queryUnprepared<ExpiredOutputs & Record<string, unknown>>(
    // Session by session, so that no page reads the outputs of the whole platform.
    `select s.id as session_id, s.project_id, e.outputs, e.bytes
       from session s join project p on p.id = s.project_id
      cross join lateral (
        select count(*)::int as outputs, sum(o.size_bytes)::float8 as bytes
          from node_instance n join node_output o on o.node_instance_id = n.id
         where n.session_id = s.id and ${isExpiredOutput}) e
      where ($1::uuid is null or s.id > $1) and p.retention_days is not null and s.frozen_at is null
        and s.created_at < ${cutoff} and e.outputs > 0 and not (${isExpiredSession})
      order by s.id limit $2`,
    [after, limit],
  );
}

export interface RemovedCounts {
  readonly sessions: number;
  readonly outputs: number;
  readonly bytes: number;
}
const nothing: RemovedCounts = { sessions: 0, outputs: 0, bytes: 0 };

/** Deletes a session if it is still expired; what it holds is counted under its locks. */
export async function deleteExpiredSession(
  database: Database,
  runId: number,
  sessionId: string,
): Promise<RemovedCounts> {
  const removed = await holdSession(database, { sessionId }, async (tx) => {
    // Waits for every transaction that writes to a node or begins an upload to it, and then sees its rows.
    await tx.query('select 1 from node_instance where session_id = $1 order by id for update', [sessionId]);
    const [session] = await tx.query<{ outputs: number; bytes: number }>(
      `select count(o.id)::int as outputs, coalesce(sum(o.size_bytes), 0)::float8 as bytes
         from session s join project p on p.id = s.project_id left join node_instance n on n.session_id = s.id
         left join node_output o on o.node_instance_id = n.id
        where s.id = $1 and ${isExpiredSession} group by s.id`,
      [sessionId],
    );
    if (session === undefined) return nothing;
    await deleteLockedSession(tx, sessionId);
    await auditOwnAction(tx, {
      action: 'retentionDeletedSession',
      objectType: 'session',
      objectId: sessionId,
      sessionId,
    });
    return await counted(tx, runId, { sessions: 1, ...session });
  });
  return removed ?? nothing;
}

/** Deletes one batch of a session's expired outputs. Call it again while it deletes something. */
export async function deleteExpiredOutputs(
  database: Database,
  runId: number,
  sessionId: string,
  limit: number,
): Promise<RemovedCounts> {
  // Publications, reprocesses and plans of this session wait, or have been seen.
  const removed = await holdSession(database, { sessionId }, async (tx) => {
    const gone = await tx.query<{ id: number; nodeInstanceId: number; bytes: number }>(
      `with going as (
         select o.id, o.data_source_id, o.object_key, o.size_bytes
           from session s join project p on p.id = s.project_id join node_instance n on n.session_id = s.id
           join node_output o on o.node_instance_id = n.id
          where s.id = $1 and ${isExpiredOutput} order by o.id limit $2 for update of o
       ), versions as (
         select v.data_source_id, v.object_key from node_output_superseded v join going g on g.id = v.output_id
       ), queued as (
         insert into object_deletion (data_source_id, object_key)
         select data_source_id, object_key from going union select data_source_id, object_key from versions
       )
       delete from node_output o using going g where o.id = g.id
       returning o.id, o.node_instance_id, g.size_bytes as bytes`,
      [sessionId, limit],
    );
    if (gone.length === 0) return nothing;
    await forgetSources(
      tx,
      sessionId,
      gone.map(({ id }) => id),
    );
    await tx.query(countExpired, [gone.map(({ nodeInstanceId }) => nodeInstanceId)]);
    await auditOwnAction(tx, {
      action: 'retentionDeletedOutputs',
      objectType: 'session',
      objectId: sessionId,
      sessionId,
    });
    const bytes = gone.reduce((sum, output) => sum + output.bytes, 0);
    await tx.query('update session set output_bytes = greatest(0, output_bytes - $2) where id = $1', [
      sessionId,
      bytes,
    ]);
    return await counted(tx, runId, { sessions: 0, outputs: gone.length, bytes });
  });
  return removed ?? nothing;
}

/** Counts expired outputs, so that a later reprocess can say how many inputs it lacks. */
const countExpired = `
  update node_instance n set expired_outputs = n.expired_outputs + g.count
    from (select id, count(*) from unnest($1::bigint[]) as x (id) group by id) g where n.id = g.id`;

/** A run's counts are committed together with its deletions. */
async function counted(tx: Tx, runId: number, removed: RemovedCounts): Promise<RemovedCounts> {
  await tx.query(
    `update retention_run set sessions = sessions + $2, outputs = outputs + $3, bytes = bytes + $4::bigint
      where id = $1`,
    [runId, removed.sessions, removed.outputs, removed.bytes],
  );
  return removed;
}
