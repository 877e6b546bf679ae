/**
 * The configuration that a run has, and the check of configurations against their templates' schemas when a task is made
 * (decisions 10). A template import has done so for the schema of its time, so only a schema published since needs work
 * here.
 */
import { checkBudget } from '../../domain/templates/configuration-schema.ts';
import { configurationFault } from '../../domain/templates/node-configuration.ts';
import type { Tx } from '../connection/database.ts';

/**
 * Of a run with its node instance `n`: the configuration of the revision that its first claim fixed; the node's before.
 * @param run an SQL alias
 */
export const runConfiguration = (run: string) => `
  case when ${run}.configuration_revision <> n.configuration_revision
       then (select k.configuration from node_configuration k
              where k.node_instance_id = n.id and k.revision = ${run}.configuration_revision)
       else n.configuration end`;

/** The configuration of a node instance `n` is known to match the present schema of its template `t`. */
export const isConfigurationChecked = 'n.checked_revision = t.schema_revision';

/** The configuration of a run is an earlier revision than that of its node instance `n`. */
const isEarlier = 'coalesce(r.configuration_revision <> n.configuration_revision, false)';

interface CheckedNode {
  readonly id: number;
  readonly configuration: string;
  readonly schema: unknown;
  readonly revision: number;
  readonly isEarlier: boolean;
}

/**
 * What is wrong with the configurations of these runs, by node; nodes whose present configuration matches are marked, so
 * that they are not checked again before the schema changes. The session is locked.
 */
export async function checkConfigurations(
  tx: Tx,
  runIds: readonly string[],
): Promise<ReadonlyMap<number, string>> {
  const faults = new Map<number, string>();
  if (runIds.length === 0) return faults;
  const nodes = await tx.query<CheckedNode>(
    `select n.id, ${runConfiguration('r')} as configuration, t.configuration_schema as schema,
            t.schema_revision as revision, ${isEarlier} as is_earlier
       from node_run r join node_instance n on n.id = r.node_instance_id join node_template t on t.id = n.node_template_id
      where r.id = any ($1::uuid[]) and (${isEarlier} or not ${isConfigurationChecked})`,
    [runIds],
  );
  const matching: CheckedNode[] = [];
  const budget = checkBudget();
  for (const node of nodes) {
    const fault = configurationFault(node.configuration, node.schema, budget);
    if (fault !== null) faults.set(node.id, fault);
    else if (!node.isEarlier) matching.push(node);
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
