/**
 * The configuration of a node, and its revisions. The first claim of a run fixes the revision for all of its attempts:
 * store/runs/configuration-check.ts.
 */

import type { Issue } from '../../domain/issue.ts';
import { isSameJson } from '../../domain/same-json.ts';
import { configurationValidator } from '../../domain/templates/configuration-schema.ts';
import { configurationOf } from '../../domain/templates/node-configuration.ts';
import type { JsonObject } from '../../domain/text.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { Refused, refusable } from '../connection/refused.ts';
import { type Change, changed, changeSession, unchanged } from '../runs/change-session.ts';
import { type ReprocessResult, reprocessWithin } from '../runs/reprocess.ts';

export interface StoredConfiguration {
  readonly revision: number;
  /** JSON text. */
  readonly configuration: string;
}

/** The present one; undefined when there is no such node. */
export async function findConfiguration(
  database: Queryable,
  nodeInstanceId: number,
): Promise<StoredConfiguration | undefined> {
  const [row] = await database.query<StoredConfiguration>(
    'select configuration_revision as revision, configuration from node_instance where id = $1',
    [nodeInstanceId],
  );
  return row;
}

export interface ConfigurationSchema {
  readonly nodeTemplate: string;
  readonly schema: JsonObject;
}

/**
 * What the node's template asks of its configuration, its properties in the published order; undefined when there is no
 * such node.
 */
export async function findConfigurationSchema(
  database: Queryable,
  nodeInstanceId: number,
): Promise<ConfigurationSchema | undefined> {
  const [row] = await database.query<ConfigurationSchema>(
    `select t.name as node_template,
            case when t.configuration_schema_text::jsonb = t.configuration_schema
              then t.configuration_schema_text::json else t.configuration_schema::json end as schema
       from node_instance n join node_template t on t.id = n.node_template_id where n.id = $1`,
    [nodeInstanceId],
  );
  return row;
}

export interface ConfigurationRevision extends StoredConfiguration {
  /** The authentication service's id; null: the session template, when the session was made. */
  readonly changedBy: string | null;
  readonly changedAt: Date;
}

/** Newest first, those before `before`; undefined when there is no such node. */
export async function listRevisions(
  database: Queryable,
  nodeInstanceId: number,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<ConfigurationRevision[] | undefined> {
  const rows = await database.query<ConfigurationRevision>(
    `select revision, configuration, changed_by, changed_at from node_configuration where node_instance_id = $1
      and ($2::int is null or revision < $2) order by revision desc limit $3`,
    [nodeInstanceId, before, limit],
  );
  if (rows.length > 0) return rows;
  // A node whose configuration has never changed has no row.
  const [first] = await database.query<ConfigurationRevision>(
    `select n.configuration_revision as revision, n.configuration, null::uuid as changed_by, s.created_at as changed_at
       from node_instance n join session s on s.id = n.session_id where n.id = $1`,
    [nodeInstanceId],
  );
  if (first === undefined) return undefined;
  return first.revision === 1 && (before === null || before > 1) ? [first] : [];
}

export interface ConfigurationRequest {
  readonly nodeInstanceId: number;
  readonly configuration: JsonObject;
  readonly changedBy: string;
  /** Whether the change is meant for the present revision. */
  readonly isExpected: (revision: number) => boolean;
  /** Reprocesses the node in the same transaction. */
  readonly rerun: boolean;
}

export type ConfigurationResult =
  | ({ readonly outcome: 'saved' } & StoredConfiguration)
  | { readonly outcome: 'overtaken'; readonly revision: number }
  | { readonly outcome: 'invalid'; readonly issues: readonly Issue[] }
  | { readonly outcome: RerunRefusal };

/** A rerun names no inputs, so none is unknown. */
type RerunRefusal = Exclude<ReprocessResult['outcome'], 'queued' | 'unknown-input'>;

/** Gives a node another configuration, for every run that is not yet claimed. An equal one is no change. */
export async function changeConfiguration(
  database: Database,
  request: ConfigurationRequest,
): Promise<ConfigurationResult> {
  const { nodeInstanceId, rerun } = request;
  const result = await refusable<ConfigurationResult | undefined, RerunRefusal>(() =>
    changeSession(database, { nodeInstanceId }, async (tx, session) => {
      if (session.frozen) return unchanged({ outcome: 'frozen' });
      const change = await saveRequested(tx, request);
      if (!rerun || change.result.outcome !== 'saved') return change;
      const { outcome } = (await reprocessWithin(tx, session, nodeInstanceId, null)).result;
      // The change is rolled back with the rerun.
      if (outcome !== 'queued' && outcome !== 'unknown-input') throw new Refused<RerunRefusal>(outcome);
      return changed(change.result);
    }),
  );
  if (result === undefined) return { outcome: 'node-missing' };
  return 'why' in result ? { outcome: result.why } : result;
}

interface ChangedNode extends StoredConfiguration {
  readonly schema: unknown;
  readonly schemaRevision: number;
}

async function saveRequested(tx: Tx, request: ConfigurationRequest): Promise<Change<ConfigurationResult>> {
  const { nodeInstanceId, configuration, changedBy, isExpected } = request;
  const [node] = await tx.query<ChangedNode>(
    `select n.configuration_revision as revision, n.configuration, t.configuration_schema as schema, t.schema_revision
       from node_instance n join node_template t on t.id = n.node_template_id where n.id = $1`,
    [nodeInstanceId],
  );
  if (node === undefined) return unchanged({ outcome: 'node-missing' });
  const issues = configurationValidator(node.schema)(configuration, ['configuration']);
  if (issues.length > 0) return unchanged({ outcome: 'invalid', issues });
  if (!isExpected(node.revision)) return unchanged({ outcome: 'overtaken', revision: node.revision });
  if (isSameJson(configurationOf(node.configuration), configuration)) {
    return unchanged({ outcome: 'saved', revision: node.revision, configuration: node.configuration });
  }
  const text = JSON.stringify(configuration);
  const change = { nodeInstanceId, configuration: text, checkedRevision: node.schemaRevision };
  await saveRevisions(tx, [change], changedBy, 'person');
  return changed({ outcome: 'saved', revision: node.revision + 1, configuration: text });
}

export interface RevisedNode {
  readonly nodeInstanceId: number;
  /** JSON text. */
  readonly configuration: string;
  /** The revision of its template's schema which the configuration matches. */
  readonly checkedRevision: number;
}

/** Writes the next revision of each node. The session is locked. @param from who gave the configurations */
export async function saveRevisions(
  tx: Tx,
  nodes: readonly RevisedNode[],
  changedBy: string,
  from: 'person' | 'template',
): Promise<void> {
  if (nodes.length === 0) return;
  await tx.query(
    `with given as (
       select * from unnest($1::bigint[], $2::text[], $3::int[]) as g (id, configuration, checked_revision)
     ), first as (
       insert into node_configuration (node_instance_id, revision, configuration, changed_at)
       select n.id, 1, n.configuration, s.created_at
         from given join node_instance n on n.id = given.id join session s on s.id = n.session_id
        where n.configuration_revision = 1
       on conflict do nothing
     ), pinned as (
       -- Runs that a version without revisions claimed: they keep their configuration too.
       update node_run r set configuration_revision = n.configuration_revision
         from given join node_instance n on n.id = given.id
        where r.node_instance_id = n.id and r.configuration_revision is null
          and (r.state <> 'done' or r.outcome in ('failed', 'cancelled'))
          and exists (select from node_attempt a where a.run_id = r.id and a.started_at is not null)
     ), node as (
       update node_instance n
          set configuration = given.configuration, configuration_revision = n.configuration_revision + 1,
              checked_revision = given.checked_revision,
              template_configuration =
                case when not $5::boolean then coalesce(n.template_configuration, n.configuration) end
         from given where n.id = given.id
       returning n.id, n.configuration_revision, n.configuration
     )
     insert into node_configuration (node_instance_id, revision, configuration, changed_by, changed_at)
     select id, configuration_revision, configuration, $4, clock_timestamp() from node`,
    [
      nodes.map(({ nodeInstanceId }) => nodeInstanceId),
      nodes.map(({ configuration }) => configuration),
      nodes.map(({ checkedRevision }) => checkedRevision),
      changedBy,
      from === 'template',
    ],
  );
}
