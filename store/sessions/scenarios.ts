/** Scenario instances of sessions (contract: Scenario instance; decisions 5). */
import { limits } from '../../domain/limits.ts';
import { lockOfText } from '../connection/advisory-locks.ts';
import { noteAudited, noteAuditedSession } from '../connection/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { newId } from '../connection/ids.ts';
import type { SessionDimensionRow, SessionScenarioRow } from './sessions.ts';

interface ScenarioRow extends SessionScenarioRow {
  readonly sessionId: string;
}

/** In an update undefined leaves a field unchanged; null clears it. */
export interface ScenarioFields {
  /** Undefined: a new one. */
  readonly id: string | undefined;
  readonly simulationId: string | undefined;
  readonly scenarioName: string;
  readonly from: Date | null | undefined;
  readonly to: Date | null | undefined;
}

/** `times-reversed`: it would begin after its end. */
export type ScenarioWrite =
  | { readonly outcome: 'saved'; readonly scenario: ScenarioRow }
  | { readonly outcome: 'session-missing' | 'too-many' | 'id-of-another-session' | 'times-reversed' };

const columns = `id, session_id, simulation_id, scenario_name,
  from_at as "from", to_at as "to", created_at`;

/** Makes a scenario instance of a session, or changes the one of this id. */
export async function saveScenario(
  database: Database,
  sessionId: string,
  fields: ScenarioFields,
): Promise<ScenarioWrite> {
  return database.transaction(
    oncePerKey(
      async (tx): Promise<ScenarioWrite> => {
        const sessions = await tx.query('select 1 from session where id = $1 for key share', [sessionId]);
        if (sessions.length === 0) return { outcome: 'session-missing' };
        noteAuditedSession(sessionId);
        const stored = fields.id === undefined ? undefined : await findLocked(tx, fields.id);
        if (stored === undefined && (await isFull(tx, sessionId))) return { outcome: 'too-many' };
        if (stored === undefined) return insertScenario(tx, sessionId, fields);
        return stored.sessionId === sessionId
          ? updateScenario(tx, stored, fields)
          : { outcome: 'id-of-another-session' };
      },
      ({ outcome }) => outcome === 'saved',
    ),
  );
}

/** New scenarios of a session are made one after the other, so that calls at the same moment keep to the limit. */
async function isFull(tx: Tx, sessionId: string): Promise<boolean> {
  await tx.query(lockOfText("'scenario ' || $1"), [sessionId]);
  const last = await tx.query('select 1 from scenario_instance where session_id = $1 offset $2 limit 1', [
    sessionId,
    limits.scenariosPerSession - 1,
  ]);
  return last.length > 0;
}

async function findLocked(tx: Tx, id: string): Promise<ScenarioRow | undefined> {
  const [row] = await tx.query<ScenarioRow>(
    `select ${columns} from scenario_instance where id = $1 for update`,
    [id],
  );
  return row;
}

async function insertScenario(tx: Tx, sessionId: string, fields: ScenarioFields): Promise<ScenarioWrite> {
  const { id = newId(), from = null, to = null } = fields;
  if (isReversed(from, to)) return { outcome: 'times-reversed' };
  const [row] = await tx.query<ScenarioRow>(
    `insert into scenario_instance (id, session_id, simulation_id, scenario_name, from_at, to_at, created_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp())
     on conflict (id) do nothing returning ${columns}`,
    [id, sessionId, fields.simulationId ?? '', fields.scenarioName, from, to],
  );
  if (row !== undefined) {
    noteAudited(row.id);
    return { outcome: 'saved', scenario: row };
  }
  // Another request made it at the same moment.
  const other = await findLocked(tx, id);
  if (other === undefined || other.sessionId !== sessionId) return { outcome: 'id-of-another-session' };
  return updateScenario(tx, other, fields);
}

async function updateScenario(tx: Tx, stored: ScenarioRow, fields: ScenarioFields): Promise<ScenarioWrite> {
  const from = fields.from === undefined ? stored.from : fields.from;
  const to = fields.to === undefined ? stored.to : fields.to;
  if (isReversed(from, to)) return { outcome: 'times-reversed' };
  const [row] = await tx.query<ScenarioRow>(
    `update scenario_instance set simulation_id = $2, scenario_name = $3, from_at = $4, to_at = $5
      where id = $1 returning ${columns}`,
    [stored.id, fields.simulationId ?? stored.simulationId, fields.scenarioName, from, to],
  );
  noteAudited(stored.id);
  return { outcome: 'saved', scenario: row! };
}

const isReversed = (from: Date | null, to: Date | null) =>
  from !== null && to !== null && from.getTime() > to.getTime();

/** The dashboards of a session, without all else that its routes show: it may have thousands of scenarios. */
export async function dimensionsOfSession(database: Queryable, id: string): Promise<SessionDimensionRow[]> {
  return database.query<SessionDimensionRow>(
    `select id, name, dashboard_name, dashboard_version, node_instance_id, created_at
       from dimension where session_id = $1 order by id`,
    [id],
  );
}
