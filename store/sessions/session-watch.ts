/** Changes of followed sessions: how they are announced and read. */
import { limits } from '../../domain/limits.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { type NodeProgress, sessionProgress } from './progress.ts';

/** The channel on which changes of followed sessions are announced; the payload is the session's id. */
export const sessionChangedChannel = 'session_changed';

/** A follower's position in a session. */
export interface SnapshotPoint {
  /** The database's clock at the read, milliseconds since 1970. */
  readonly atMs: number;
  /** The newest reported position. */
  readonly position: number;
}

export interface PublishedOutput {
  readonly id: number;
  readonly nodeInstanceId: number;
  readonly position: number;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly sizeBytes: number;
  readonly createdAt: Date;
}

export interface AttemptSeen {
  readonly nodeInstanceId: number;
  readonly runId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly outcome: string | null;
  readonly details: string;
}

interface WindowSeen {
  readonly isFrozen: boolean;
  /** Null on sessions that are not shared. */
  readonly startAt: Date | null;
  readonly endAt: Date | null;
  readonly closedAt: Date | null;
  readonly closeReason: string | null;
  /** 1 on sessions that are not shared, as their close counts. */
  readonly participantCount: number;
}

/** One read of a session: the present state of all nodes, and what was published and attempted since. */
export interface SessionSnapshot {
  readonly at: SnapshotPoint;
  readonly nodes: readonly NodeProgress[];
  readonly outputs: readonly PublishedOutput[];
  readonly attempts: readonly AttemptSeen[];
  readonly window: WindowSeen;
  /** Grows with every fact about the session's graph. */
  readonly desiredVersion: number;
  /** Whether more outputs were published than one read returns; a read from `at` returns the next. */
  readonly hasMore: boolean;
}

const outputsPerSnapshot = 500;
const runsOfOneNode = 20;
/** Commits become visible a little later than their timestamps say. */
const overlapSeconds = 5;

/** Makes changes of these sessions be announced for this many seconds from now. */
export async function watchSessions(
  database: Queryable,
  sessionIds: readonly string[],
  seconds: number,
): Promise<void> {
  await database.query(
    `with over as (
       delete from session_watch where session_id in (
         select session_id from session_watch where until < statement_timestamp() limit 100 for update skip locked)
     )
     insert into session_watch (session_id, until)
     select id, clock_timestamp() + make_interval(secs => $2) from unnest($1::uuid[]) as w (id) order by id
     on conflict (session_id) do update set until = greatest(session_watch.until, excluded.until)`,
    [sessionIds, seconds],
  );
}

/**
 * Reads a session.
 * @param since undefined: from now on, without what was published and attempted before
 * @returns undefined when there is no such session
 */
export async function readSnapshot(
  database: Database,
  sessionId: string,
  since?: SnapshotPoint,
): Promise<SessionSnapshot | undefined> {
  const [head] = await database.query<
    WindowSeen & { readonly atMs: number; readonly newestPosition: number; readonly desiredVersion: number }
  >(headStatement, [sessionId]);
  if (head === undefined) return undefined;
  const { atMs, newestPosition, desiredVersion, ...window } = head;
  const from = since ?? { atMs, position: newestPosition };
  const [nodes, outputs, attempts] = await Promise.all([
    sessionProgress(database, sessionId),
    newestPosition > from.position
      ? database.query<PublishedOutput>(outputsStatement, [sessionId, from.position, newestPosition])
      : [],
    database.query<AttemptSeen>(attemptsStatement, [sessionId, new Date(from.atMs)]),
  ]);
  if (nodes === undefined) return undefined;
  const hasMore = outputs.length === outputsPerSnapshot;
  const position = hasMore ? outputs.at(-1)!.position : newestPosition;
  return { at: { atMs, position }, nodes, outputs, attempts, window, desiredVersion, hasMore };
}

/** The present versions of the sessions, by id; deleted ones are missing. */
export async function desiredVersions(
  database: Queryable,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ id: string; desiredVersion: number }>(
    'select id, desired_version from session where id = any ($1::uuid[])',
    [sessionIds],
  );
  return new Map(rows.map(({ id, desiredVersion }) => [id, desiredVersion]));
}

/**
 * Read first: the next read returns what is published after it, and that publication's own announcement triggers it.
 */
const headStatement = `
  select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as at_ms, s.newest_position,
         s.desired_version,
         s.frozen_at is not null as is_frozen, s.window_start_at as start_at, s.window_end_at as end_at,
         s.closed_at, s.close_reason,
         case when s.machine_group is null then 1
              else (select count(*) from session_participant p where p.session_id = s.id) end as participant_count
    from session s where s.id = $1`;

const outputsStatement = `
  select o.id, o.node_instance_id, o.position, o.output_identifier,
         o.content_type, o.content_encoding, o.size_bytes,
         o.created_at
    from node_instance n join node_output o on o.node_instance_id = n.id
   where n.session_id = $1 and n.newest_position > $2 and o.position > $2 and o.position <= $3
   order by o.position limit ${outputsPerSnapshot}`;

/**
 * Of each node the open run, and those of its newest that ended since: one that was retried may be older than a later
 * one. Of their attempts the newest. A session may have a million of them, and one read is one page.
 */
const attemptsStatement = `
  select node_instance_id, run_id, attempt, max_attempts, started_at, ended_at, outcome, details from (
    select n.id as node_instance_id, r.id as run_id, a.number as attempt, r.max_attempts,
           a.started_at, a.ended_at, a.outcome, a.details,
           greatest(a.started_at, a.ended_at) as newest_at
      from node_instance n
      cross join lateral (
        select r.id, r.max_attempts from node_run r where r.node_instance_id = n.id and r.state <> 'done'
        union all
        select r.id, r.max_attempts from (
          select * from node_run where node_instance_id = n.id order by created_at desc limit ${runsOfOneNode}
        ) r
         where r.state = 'done' and r.ended_at > $2::timestamptz - interval '${overlapSeconds} seconds'
      ) r
      cross join lateral (
        select * from node_attempt a where a.run_id = r.id order by a.number desc limit ${limits.maxAttemptsMax}
      ) a
     where n.session_id = $1
       and greatest(a.started_at, a.ended_at) > $2::timestamptz - interval '${overlapSeconds} seconds'
     order by newest_at desc, r.id desc, a.number desc limit ${limits.sessionEventAttempts}
  ) newest order by newest_at, run_id, attempt`;
