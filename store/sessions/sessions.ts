/** Sessions and their node instances (contract: Session; decisions 5). */

import type { Person } from '../../domain/sessions/participant.ts';
import { type TimeWindow, windowOverAt } from '../../domain/sessions/shared-session.ts';
import type { JsonObject } from '../../domain/text.ts';
import { noteAuditedSession } from '../connection/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { newId } from '../connection/ids.ts';
import { milliseconds, readTimes } from '../connection/json-times.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { findProject, type ShownProject } from '../registry/projects.ts';
import { findTemplateOfSession, type TemplateWithNodes } from '../registry/session-templates.ts';
import { presentVersion } from '../registry/template-versions.ts';
import { isMember } from '../search/membership.ts';

export interface NewSession {
  readonly name: string;
  readonly simulationName: string | null;
  readonly sessionTemplateId: number;
  readonly projectId: number;
  /** The person in the session's email field; the first participant. */
  readonly participant: Person;
  /** GUID of the creator. */
  readonly userId: string;
  readonly logoUrl: string;
  /** The metadata with identifiers in place of addresses. */
  readonly metadata: JsonObject | null;
  /** The fields of a shared session. */
  readonly shared?: {
    readonly machineGroup: number;
    readonly timeWindowSeconds: number;
    readonly window: TimeWindow;
  };
}

export type SessionCreation =
  | { readonly outcome: 'created'; readonly sessionId: string }
  | { readonly outcome: 'project-missing' }
  | { readonly outcome: 'template-missing' };

/**
 * Makes a session with its own node instances, in one transaction.
 * @param read may read what was made: what it sends at once goes out with the commit. Not called when this call's
 * idempotency key has made the session before.
 */
export async function createSession(
  database: Database,
  session: NewSession,
  read: (sent: Queryable, sessionId: string) => void,
): Promise<SessionCreation> {
  return database.transaction(
    oncePerKey(
      async (tx) => {
        const made = await insertSession(tx, session);
        const sent: Queryable = { query: (statement, parameters) => tx.pipelined(statement, parameters) };
        if (made.outcome === 'created') read(sent, made.sessionId);
        return made;
      },
      ({ outcome }) => outcome === 'created',
    ),
  );
}

/** As {@link createSession}, inside the caller's transaction. Its nodes and members go out with what follows. */
export async function insertSession(tx: Tx, session: NewSession): Promise<SessionCreation> {
  const sessionId = newId();
  const { shared } = session;
  const [inserted] = await tx.query(
    `insert into session
            (id, name, email_identifier, email_key, simulation_name, session_template_id,
             session_template_version, project_id, user_id, logo_url, metadata, created_at,
             machine_group, window_seconds, window_start_at, window_end_at, window_due_at, opened_by, window_dirty_since)
     select $1, $2, $3, $4, $5, t.id,
            ${presentVersion('t.id')}, p.id, $8, $9, $10::jsonb, clock_timestamp(),
            $11::int, $12::int, $13::timestamptz, $14::timestamptz, $15::timestamptz,
            case when $11::int is not null then $3 end, case when $11::int is not null then clock_timestamp() end
       from project p, session_template t where p.id = $7 and t.id = $6
     returning 1`,
    [
      sessionId,
      session.name,
      session.participant.identifier,
      session.participant.key,
      session.simulationName,
      session.sessionTemplateId,
      session.projectId,
      session.userId,
      session.logoUrl,
      jsonOrNull(session.metadata),
      shared?.machineGroup ?? null,
      shared?.timeWindowSeconds ?? null,
      shared?.window.startAt ?? null,
      shared?.window.endAt ?? null,
      shared === undefined ? null : windowOverAt(shared.window),
    ],
  );
  if (inserted === undefined) {
    const projects = await tx.query('select 1 from project where id = $1', [session.projectId]);
    return { outcome: projects.length === 0 ? 'project-missing' : 'template-missing' };
  }
  noteAuditedSession(sessionId);
  void insertNodeInstances(tx, sessionId, session.sessionTemplateId);
  void tx.pipelined(
    `insert into session_member (session_id, identifier, created_at)
     select s.id, u.identifier, s.created_at
       from session s, unnest($2::text[]) with ordinality as u (identifier, place)
      where s.id = $1 order by u.place
     on conflict do nothing`,
    [sessionId, [session.userId, session.participant.identifier]],
  );
  return { outcome: 'created', sessionId };
}

/** Gives a session the nodes of a template, with parents in the order of the template and children in that of the nodes. */
export function insertNodeInstances(tx: Tx, sessionId: string, templateId: number): Promise<unknown> {
  // The very promise, whose failure the transaction reports: one made of it here would be a rejection of its own.
  return tx.pipelined(
    `with nodes as materialized (
       select n.*, nextval(pg_get_serial_sequence('node_instance', 'id')) as new_id
         from (select * from session_template_node where session_template_id = $2 order by ordinal) n
     ), edges as (
       select c.new_id as child_id, c.ordinal as child_ordinal, p.new_id as parent_id, u.place
         from nodes c
         cross join unnest(c.parent_names) with ordinality as u (name, place)
         join nodes p on p.name = u.name
     ), parents as (
       select child_id as id, array_agg(parent_id order by place) as ids from edges group by child_id
     ), children as (
       select parent_id as id, array_agg(child_id order by child_ordinal) as ids from edges group by parent_id
     )
     insert into node_instance
            (id, session_id, ordinal, name, node_template_id, configuration, checked_revision, parent_ids, child_ids)
     overriding system value
     select n.new_id, $1, n.ordinal, n.name, n.node_template_id, n.default_configuration, n.checked_revision,
            coalesce(p.ids, '{}'), coalesce(c.ids, '{}')
       from nodes n left join parents p on p.id = n.new_id left join children c on c.id = n.new_id`,
    [sessionId, templateId],
  );
}

export interface SessionRow {
  readonly id: string;
  readonly name: string;
  readonly emailIdentifier: string;
  readonly emailKey: string;
  readonly simulationName: string | null;
  readonly sessionTemplateId: number;
  readonly projectId: number;
  readonly userId: string;
  readonly logoUrl: string;
  /** As shown, with the platform's own keys, and with identifiers. */
  readonly metadata: JsonObject | null;
  readonly isShared: boolean;
  readonly frozenAt: Date | null;
  readonly createdAt: Date;
}

interface SessionUserRow {
  readonly id: number;
  /** GUID or anonymous key. */
  readonly identifier: string;
  readonly createdAt: Date;
}

export interface SessionDimensionRow {
  readonly id: number;
  readonly name: string;
  readonly dashboardName: string;
  readonly dashboardVersion: string;
  readonly nodeInstanceId: number;
  readonly createdAt: Date;
}

export interface SessionScenarioRow {
  readonly id: string;
  readonly simulationId: string;
  readonly scenarioName: string;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly createdAt: Date;
}

/** A session with all that its routes show. */
export interface SessionDetails extends SessionRow {
  readonly project: ShownProject;
  /** See {@link findTemplateOfSession}. */
  readonly sessionTemplate: TemplateWithNodes;
  readonly users: readonly SessionUserRow[];
  readonly dimensions: readonly SessionDimensionRow[];
  readonly scenarios: readonly SessionScenarioRow[];
}

const sessionColumns = `
  id, name, email_identifier, email_key, simulation_name,
  session_template_id, project_id, user_id, logo_url,
  session_shown_metadata(session) as metadata, machine_group is not null as is_shared, frozen_at,
  created_at`;

export async function findSession(database: Queryable, id: string): Promise<SessionRow | undefined> {
  const [row] = await database.query<SessionRow>(`select ${sessionColumns} from session where id = $1`, [id]);
  return row;
}

/** @param ids of the project and the template, where the caller knows them: all is then sent at once */
export async function findSessionDetails(
  database: Queryable,
  id: string,
  ids?: Pick<SessionRow, 'projectId' | 'sessionTemplateId'>,
): Promise<SessionDetails | undefined> {
  const found = withLists(database, id);
  const known = ids ?? (await found);
  if (known === undefined) return undefined;
  const [session, project, sessionTemplate] = await Promise.all([
    found,
    findProject(database, known.projectId),
    findTemplateOfSession(database, id, known.sessionTemplateId),
  ]);
  if (session === undefined || project === undefined || sessionTemplate === undefined) return undefined;
  return { ...session, project, sessionTemplate };
}

/** The creator and the participants in the order in which they joined, the dashboards, the scenarios. */
async function withLists(
  database: Queryable,
  id: string,
): Promise<Omit<SessionDetails, 'project' | 'sessionTemplate'> | undefined> {
  const list = (table: string, fields: string, order: string) =>
    `coalesce((select json_agg(json_build_object(${fields}, 'createdAt', ${milliseconds('o.created_at')}) order by ${order})
       from ${table} o where o.session_id = session.id), '[]')`;
  const [row] = await database.query<Omit<SessionDetails, 'project' | 'sessionTemplate'>>(
    `select ${sessionColumns},
            ${list('session_member', `'id', o.id, 'identifier', o.identifier`, 'o.id')} as users,
            ${list(
              'dimension',
              `'id', o.id, 'name', o.name, 'dashboardName', o.dashboard_name,
               'dashboardVersion', o.dashboard_version, 'nodeInstanceId', o.node_instance_id`,
              'o.id',
            )} as dimensions,
            ${list(
              'scenario_instance',
              `'id', o.id, 'simulationId', o.simulation_id, 'scenarioName', o.scenario_name,
               'from', ${milliseconds('o.from_at')}, 'to', ${milliseconds('o.to_at')}`,
              'o.created_at, o.id',
            )} as scenarios
       from session where id = $1`,
    [id],
  );
  if (row === undefined) return undefined;
  for (const rows of [row.users, row.dimensions]) readTimes(rows, ['createdAt']);
  readTimes(row.scenarios, ['from', 'to', 'createdAt']);
  return row;
}

/**
 * Whether a person is a participant: of a shared session one who joined, else the person in its email field.
 * Undefined when there is no such session.
 */
export async function isParticipant(
  database: Queryable,
  sessionId: string,
  person: Person,
): Promise<boolean | undefined> {
  const [row] = await database.query<{ isOne: boolean }>(
    `select case when s.machine_group is null then s.email_identifier = $2 or s.email_key = $3
                 else exists (select 1 from session_participant p
                               where p.session_id = s.id and (p.identifier = $2 or p.key = $3)) end as is_one
       from session s where s.id = $1`,
    [sessionId, person.identifier, person.key],
  );
  return row?.isOne;
}

/** Whether a person is the session's creator or a participant (decisions 6, 12). */
export async function isSessionMember(
  database: Queryable,
  sessionId: string,
  person: Person,
): Promise<boolean> {
  const rows = await database.query(`select 1 from session s where s.id = $1 and ${isMember('$2', '$3')}`, [
    sessionId,
    person.identifier,
    person.key,
  ]);
  return rows.length > 0;
}
