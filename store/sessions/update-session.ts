/** Changing a session (contract: Session, update route; decisions 5). */

import { isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import { isAnonymous, type Person } from '../../domain/sessions/participant.ts';
import { logoUrlOf } from '../../domain/sessions/session.ts';
import { withoutPlatformKeys } from '../../domain/sessions/shared-session.ts';
import { isName, type JsonObject } from '../../domain/text.ts';
import type { Database, Tx } from '../connection/database.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { presentVersion } from '../registry/template-versions.ts';
import { holdSession } from '../runs/change-session.ts';
import { orderSession } from '../runs/claim-order.ts';
import { hasUploads } from '../uploads/uploads-of-node.ts';
import { insertNodeInstances } from './sessions.ts';

/** Absent fields stay unchanged. */
export interface SessionChanges {
  readonly name?: string | undefined;
  /** The person in the session's email field, already resolved. */
  readonly person?: Person | undefined;
  /** Null clears it, on sessions that are not shared. On shared ones it has the form of a name. */
  readonly simulationName?: string | null | undefined;
  readonly sessionTemplateId?: number | undefined;
  readonly projectId?: number | undefined;
  readonly priority?: number | undefined;
  /** The caller's part, with identifiers in place of addresses; replaces the stored part. */
  readonly metadata?: JsonObject | undefined;
}

/**
 * `invalid`: a project or template that does not exist, a template change of a session that has begun, a simulation of
 * a shared session that is no name, or two open shared sessions that would overlap.
 */
export type SessionUpdate = 'saved' | 'missing' | 'invalid';

/** Thrown so that everything rolls back. */
class InvalidChange extends Error {}

interface StoredSession {
  readonly isShared: boolean;
  readonly sessionTemplateId: number;
  readonly userId: string;
  readonly emailIdentifier: string;
  readonly emailKey: string;
}

export async function updateSession(
  database: Database,
  sessionId: string,
  changes: SessionChanges,
): Promise<SessionUpdate> {
  try {
    const update = await holdSession<SessionUpdate>(database, { sessionId }, async (tx) => {
      const [stored] = await tx.query<StoredSession>(
        `select machine_group is not null as is_shared, session_template_id,
                user_id, email_identifier, email_key
           from session where id = $1`,
        [sessionId],
      );
      if (stored === undefined) return 'missing';
      await checkReferences(tx, changes);
      const simulationName = simulationOf(changes, stored);
      const template = changes.sessionTemplateId;
      if (template !== undefined && template !== stored.sessionTemplateId) {
        await replaceNodes(tx, sessionId, template);
      }
      const person = isKnown(changes.person, stored) ? undefined : changes.person;
      await write(tx, sessionId, { ...changes, person, simulationName }, stored);
      return 'saved';
    });
    return update ?? 'missing';
  } catch (error) {
    if (error instanceof InvalidChange) return 'invalid';
    if (isRefusal(error, sqlStates.exclusionViolation)) return 'invalid';
    throw error;
  }
}

/** Whether the named person is the stored one. A token may resolve to no name; the stored identifier, which may have one, then stays. */
function isKnown(person: Person | undefined, { emailKey }: StoredSession): boolean {
  return person !== undefined && isAnonymous(person.identifier) && person.key === emailKey;
}

/** Part of the match key of shared sessions: stored as a request to join sends it, or no such request matches it. */
function simulationOf({ simulationName }: SessionChanges, { isShared }: StoredSession) {
  if (!isShared || simulationName === undefined) return simulationName;
  if (simulationName === null || !isName(simulationName)) throw new InvalidChange();
  return simulationName.trim();
}

/** Locks both, so that they stay until the commit. */
async function checkReferences(tx: Tx, { projectId, sessionTemplateId }: SessionChanges): Promise<void> {
  if (projectId !== undefined) {
    const rows = await tx.query('select 1 from project where id = $1 for key share', [projectId]);
    if (rows.length === 0) throw new InvalidChange();
  }
  if (sessionTemplateId !== undefined) {
    const rows = await tx.query('select 1 from session_template where id = $1 for key share', [
      sessionTemplateId,
    ]);
    if (rows.length === 0) throw new InvalidChange();
  }
}

/** Replaces the nodes while none of them has received anything. */
async function replaceNodes(tx: Tx, sessionId: string, templateId: number): Promise<void> {
  // An upload that begins meanwhile waits here, and then finds its node gone.
  const states = await tx.query<{ state: number }>(
    'select state from node_instance where session_id = $1 order by id for update',
    [sessionId],
  );
  if (states.some(({ state }) => state !== nodeStateCodes.NeverBegan)) throw new InvalidChange();
  const [busy] = await tx.query<{ isBusy: boolean }>(
    `select exists (select 1 from node_run r where r.session_id = $1 and r.state <> 'done')
         or exists (select 1 from node_instance n where n.session_id = $1 and ${hasUploads}) as is_busy`,
    [sessionId],
  );
  if (busy?.isBusy) throw new InvalidChange();
  await tx.query('delete from node_instance where session_id = $1', [sessionId]);
  await insertNodeInstances(tx, sessionId, templateId);
}

async function write(
  tx: Tx,
  sessionId: string,
  changes: SessionChanges,
  stored: StoredSession,
): Promise<void> {
  const { name, person, simulationName, sessionTemplateId, projectId, priority } = changes;
  const metadata =
    changes.metadata && stored.isShared ? withoutPlatformKeys(changes.metadata) : changes.metadata;
  await tx.query(
    `update session
        set name = coalesce($2, name), email_identifier = coalesce($3, email_identifier),
            email_key = coalesce($4, email_key),
            simulation_name = case when $5 then $6 else simulation_name end,
            session_template_id = coalesce($7, session_template_id),
            session_template_version = case when $7 <> session_template_id then ${presentVersion('$7')}
                                            else session_template_version end,
            project_id = coalesce($8, project_id),
            metadata = case when $9 then $10::jsonb else metadata end,
            logo_url = case when $9 then $11 else logo_url end, priority = coalesce($12, priority)
      where id = $1`,
    [
      sessionId,
      name ?? null,
      person?.identifier ?? null,
      person?.key ?? null,
      simulationName !== undefined,
      simulationName ?? null,
      sessionTemplateId ?? null,
      projectId ?? null,
      metadata !== undefined,
      jsonOrNull(metadata),
      metadata === undefined ? null : logoUrlOf(metadata),
      priority ?? null,
    ],
  );
  if (priority !== undefined || projectId !== undefined) await orderSession(tx, sessionId);
  if (person !== undefined && !stored.isShared) await replaceUser(tx, sessionId, person, stored);
}

/** The person in the email field is the participant of a session that is not shared. */
async function replaceUser(
  tx: Tx,
  sessionId: string,
  person: Person,
  { emailIdentifier, userId }: StoredSession,
): Promise<void> {
  if (emailIdentifier !== userId && emailIdentifier !== person.identifier) {
    await tx.query('delete from session_member where session_id = $1 and identifier = $2', [
      sessionId,
      emailIdentifier,
    ]);
  }
  await tx.query(
    'insert into session_member (session_id, identifier) values ($1, $2) on conflict do nothing',
    [sessionId, person.identifier],
  );
}
