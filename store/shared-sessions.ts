/** Opening and joining shared sessions (contract: Shared session matching; decisions 6; architecture 10). */
import { limits } from '../domain/limits.ts';
import type { Person } from '../domain/participant.ts';
import { type MatchKey, matchKeyText, type TimeWindow, windowFrom } from '../domain/shared-session.ts';
import type { Database, Tx } from './database.ts';
import { keyBusy, withMatchKey } from './match-key.ts';
import type { SessionLabel } from './session-lock.ts';
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
      /** The session whose window workflow has to be told, if any. */
      readonly tellWindow: SessionLabel | undefined;
    }
  | { readonly outcome: 'frozen' | 'busy' | 'project-missing' | 'template-missing' };

/** Two open sessions of one key would overlap: a session was changed into this key in this moment. */
const overlapCode = '23P01';
const triesAfterOverlap = 5;

/**
 * Joins the newest open session that matches, or opens one: whatever happens at the same time, requests whose windows
 * overlap never end in two open sessions. Addresses must be resolved before.
 */
export async function joinOrOpen(database: Database, request: JoinRequest): Promise<JoinResult> {
  const waitMs = limits.sharedSessionWaitSeconds * 1_000;
  for (let tries = 1; ; tries++) {
    try {
      const result = await withMatchKey(database, matchKeyText(request.key), waitMs, (tx) =>
        joinOrOpenWithin(tx, request),
      );
      return result === keyBusy ? { outcome: 'busy' } : result;
    } catch (error) {
      if ((error as { code?: string }).code !== overlapCode) throw error;
      if (tries === triesAfterOverlap) return { outcome: 'busy' };
    }
  }
}

async function joinOrOpenWithin(tx: Tx, request: JoinRequest): Promise<JoinResult> {
  const window = windowFrom(request.startAt, request.key.timeWindowSeconds);
  const match = await lockMatch(tx, request.key, window);
  if (match === undefined) return open(tx, request, window);
  if (match.frozen) return { outcome: 'frozen' };
  const tellWindow = await addParticipant(tx, match.sessionId, request);
  return {
    outcome: 'joined',
    sessionId: match.sessionId,
    tellWindow: tellWindow && match.windowIsTold ? match : undefined,
  };
}

interface Match extends SessionLabel {
  readonly frozen: boolean;
  /** The window's workflow has seen all changes so far. */
  readonly windowIsTold: boolean;
}

/** The newest open session that matches, its row locked: one that is closed in this moment matches no more. */
async function lockMatch(tx: Tx, key: MatchKey, window: TimeWindow): Promise<Match | undefined> {
  const [row] = await tx.query<Match>(
    `select s.id as "sessionId", s.project_id as "projectId", t.name as "templateName",
            s.frozen_at is not null as frozen, s.window_wanted_at is null as "windowIsTold"
       from session s join session_template t on t.id = s.session_template_id
      where s.name = $1 and s.simulation_name = $2 and s.project_id = $3 and s.session_template_id = $4
        and s.machine_group = $5 and s.window_seconds = $6
        and tstzrange(s.window_start_at, s.window_end_at) && tstzrange($7::timestamptz, $8::timestamptz)
        and s.machine_group is not null and s.closed_at is null
      order by s.created_at desc, s.id desc limit 1
        for no key update of s`,
    [
      key.name,
      key.simulationName,
      key.projectId,
      key.sessionTemplateId,
      key.machineGroup,
      key.timeWindowSeconds,
      window.startAt,
      window.endAt,
    ],
  );
  return row;
}

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
  await addParticipant(tx, created.sessionId, request);
  const [template] = await tx.query<{ name: string }>('select name from session_template where id = $1', [
    key.sessionTemplateId,
  ]);
  return {
    outcome: 'created',
    sessionId: created.sessionId,
    tellWindow: {
      sessionId: created.sessionId,
      projectId: key.projectId,
      templateName: template?.name ?? '',
    },
  };
}

/**
 * Adds a person who is no participant yet; either part of an identity tells that they are.
 * @returns whether the window's workflow waits and has something new to show
 */
async function addParticipant(tx: Tx, sessionId: string, request: JoinRequest): Promise<boolean> {
  const rows = await tx.query(
    `with joined as (
       insert into session_participant (session_id, identifier, key, start_at, joined_at)
       values ($1, $2, $3, $4, date_trunc('milliseconds', clock_timestamp()))
       on conflict do nothing returning session_id
     ), entry as (
       insert into session_user_entry (session_id, identifier) select session_id, $2 from joined
       on conflict do nothing
     )
     update session s set window_wanted_at = coalesce(s.window_wanted_at, clock_timestamp())
       from joined where s.id = joined.session_id and s.window_due_at is not null
     returning 1`,
    [sessionId, request.participant.identifier, request.participant.key, request.startAt],
  );
  return rows.length > 0;
}
