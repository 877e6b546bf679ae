/**
 * Checks configurations of nodes against their templates' schemas when a task is made (decisions 10). A template import
 * has done so for the schema of its time, so only a schema published since needs work here.
 */
import { checkBudget } from '../../domain/templates/configuration-schema.ts';
import { configurationFault } from '../../domain/templates/node-configuration.ts';
import type { Tx } from '../connection/database.ts';

/** Of a node instance `n` with its template `t`: its configuration is known to match the present schema. */
export const isConfigurationChecked = 'n.checked_revision = t.schema_revision';

/**
 * What is wrong with the configurations of these nodes, by node; those that match are marked, so that they are not
 * checked again before the schema changes. The session is locked.
 */
export async function checkConfigurations(
  tx: Tx,
  nodeInstanceIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const faults = new Map<number, string>();
  if (nodeInstanceIds.length === 0) return faults;
  const nodes = await tx.query<{ id: number; configuration: string; schema: unknown; revision: number }>(
    `select n.id, n.configuration, t.configuration_schema as schema, t.schema_revision as revision
       from node_instance n join node_template t on t.id = n.node_template_id
      where n.id = any ($1::bigint[]) and not ${isConfigurationChecked}`,
    [nodeInstanceIds],
  );
  const matching: typeof nodes = [];
  const budget = checkBudget();
  for (const node of nodes) {
    const fault = configurationFault(node.configuration, node.schema, budget);
    if (fault === null) matching.push(node);
    else faults.set(node.id, fault);
  }
  if (matching.length > 0) {
    await tx.query(
      `update node_instance n set checked_revision = v.revision
         from unnest($1::bigint[], $2::int[]) as v (id, revision) where n.id = v.id`,
      [matching.map(({ id }) => id), matching.map(({ revision }) => revision)],
    );
  }
  return faults;
}
