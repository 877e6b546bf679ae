/** Opening and joining shared sessions (contract: Shared session matching; decisions 6; architecture 10). */
import { limits } from '../../domain/limits.ts';
import { isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import type { Person } from '../../domain/sessions/participant.ts';
import type { SessionLabel } from '../../domain/sessions/session-change.ts';
import {
  type MatchKey,
  matchKeyText,
  type TimeWindow,
  windowFrom,
} from '../../domain/sessions/shared-session.ts';
import { carryAudit, noteAuditedSession } from '../connection/audit-scope.ts';
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { keyBusy, withMatchKey } from './match-key.ts';
import { insertSession } from './sessions.ts';

export interface JoinRequest {
  readonly key: MatchKey;
  /** Start of this participant's capture; the first request's becomes the session's. */
  readonly startAt: Date;
  readonly participant: Person;
  /** GUID of the caller; becomes the creator of a session that is opened. */
  readonly userId: string;
}

export type JoinResult =
  | {
      readonly outcome: 'created' | 'joined';
      readonly sessionId: string;
      /** The session whose window workflow must be notified, if any. */
      readonly notifyWindow: SessionLabel | undefined;
    }
  | { readonly outcome: 'frozen' | 'busy' | 'project-missing' | 'template-missing' };

const triesAfterOverlap = 5;

/**
 * Joins the newest open session that matches, or opens one: concurrent requests whose windows overlap never end in two
 * open sessions. Addresses must already be resolved.
 */
export async function joinOrOpen(database: Database, request: JoinRequest): Promise<JoinResult> {
  const waitMs = limits.sharedSessionWaitSeconds * 1_000;
  for (let tries = 1; ; tries++) {
    try {
      const audited = carryAudit(
        oncePerKey((tx) => joinOrOpenWithin(tx, request), isIn),
        isIn,
      );
      const result = await withMatchKey(database, matchKeyText(request.key), waitMs, audited.work);
      if (result === keyBusy) return { outcome: 'busy' };
      audited.committed();
      await failpoint('shared-committed');
      return result;
    } catch (error) {
      // Two open sessions of one key would overlap: a session was changed to this key at the same moment.
      if (!isRefusal(error, sqlStates.exclusionViolation)) throw error;
      if (tries === triesAfterOverlap) return { outcome: 'busy' };
    }
  }
}

const isIn = ({ outcome }: JoinResult) => outcome === 'created' || outcome === 'joined';

async function joinOrOpenWithin(tx: Tx, request: JoinRequest): Promise<JoinResult> {
  const window = windowFrom(request.startAt, request.key.timeWindowSeconds);
  const match = await joinMatch(tx, request, window);
  if (match === undefined) return open(tx, request, window);
  if (match.frozen) return { outcome: 'frozen' };
  const { sessionId, projectId, templateName, wakesWindow } = match;
  noteAuditedSession(sessionId);
  const notifyWindow = wakesWindow ? { sessionId, projectId, templateName } : undefined;
  return { outcome: 'joined', sessionId, notifyWindow };
}

interface Match extends SessionLabel {
  readonly frozen: boolean;
  /** The window's workflow waits and had seen all changes before. */
  readonly wakesWindow: boolean;
}

/** Adds a person who is no participant yet; a match of either part of an identity makes one. */
const addParticipant = (session: string) => `
  joined as (
    insert into session_participant (session_id, identifier, key, start_at, joined_at)
    select id, $1, $2, $3::timestamptz, date_trunc('milliseconds', clock_timestamp()) from ${session}
    on conflict do nothing returning session_id
  ), entry as (
    insert into session_member (session_id, identifier) select session_id, $1 from joined
    on conflict do nothing
  )`;

/**
 * The newest open session that matches, its row locked: one that is closed at the same moment no longer matches.
 * Ordered by one value, so that the planner does not choose an index over dates and walk through all sessions of a
 * template.
 */
const joinStatement = `
  with match as materialized (
    select s.id, s.project_id, t.name as template_name, s.frozen_at is not null as frozen,
           s.window_dirty_since is null as was_observed
      from session s join session_template t on t.id = s.session_template_id
     where s.name = $4 and s.simulation_name = $5 and s.project_id = $6 and s.session_template_id = $7
       and s.machine_group = $8 and s.window_seconds = $9
       and tstzrange(s.window_start_at, s.window_end_at) && tstzrange($3::timestamptz, $10::timestamptz)
       and s.machine_group is not null and s.closed_at is null
     order by row(s.created_at, s.id) desc limit 1
       for no key update of s
  ), ${addParticipant('match where not frozen')}, wanted as (
    update session s set window_dirty_since = coalesce(s.window_dirty_since, clock_timestamp())
      from joined where s.id = joined.session_id and s.window_due_at is not null
    returning 1
  )
  select m.id as session_id, m.project_id, m.template_name, m.frozen,
         m.was_observed and exists (select from wanted) as wakes_window
    from match m`;

async function joinMatch(
  tx: Tx,
  { key, participant, startAt }: JoinRequest,
  window: TimeWindow,
): Promise<Match | undefined> {
  const [row] = await tx.query<Match>(joinStatement, [
    participant.identifier,
    participant.key,
    startAt,
    key.name,
    key.simulationName,
    key.projectId,
    key.sessionTemplateId,
    key.machineGroup,
    key.timeWindowSeconds,
    window.endAt,
  ]);
  return row;
}

const joinOpened = `with opened as (select $4::uuid as id), ${addParticipant('opened')}
  select t.name from session_template t where t.id = $5`;

async function open(tx: Tx, request: JoinRequest, window: TimeWindow): Promise<JoinResult> {
  const { key, participant } = request;
  const created = await insertSession(tx, {
    name: key.name,
    simulationName: key.simulationName,
    sessionTemplateId: key.sessionTemplateId,
    projectId: key.projectId,
    participant,
    userId: request.userId,
    logoUrl: '',
    metadata: null,
    shared: { machineGroup: key.machineGroup, timeWindowSeconds: key.timeWindowSeconds, window },
  });
  if (created.outcome !== 'created') return created;
  const [template] = await tx.query<{ name: string }>(joinOpened, [
    participant.identifier,
    participant.key,
    request.startAt,
    created.sessionId,
    key.sessionTemplateId,
  ]);
  return {
    outcome: 'created',
    sessionId: created.sessionId,
    notifyWindow: {
      sessionId: created.sessionId,
      projectId: key.projectId,
      templateName: template?.name ?? '',
    },
  };
}
