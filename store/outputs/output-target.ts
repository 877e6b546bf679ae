/** Where a node's outputs go: the data source its own configuration names, else its nearest Input ancestor's, else `platform`. */

import type { Queryable } from '../connection/database.ts';
import { type DataSourceRow, findDataSourceByName, platformDataSourceName } from '../objects/data-sources.ts';

/** The data source that new outputs of the node are written to; undefined when the named one is not registered. */
export async function outputDataSource(
  database: Queryable,
  nodeInstanceId: number,
): Promise<DataSourceRow | undefined> {
  const nodes = await database.query<{ configuration: string; depth: number }>(
    `with recursive ancestry as (
       select n.id, n.parent_ids, n.configuration, n.node_template_id, 0 as depth from node_instance n where n.id = $1
       union
       select p.id, p.parent_ids, p.configuration, p.node_template_id, a.depth + 1
         from ancestry a join node_instance p on p.id = any (a.parent_ids) where a.depth < 500
     )
     select a.configuration, min(a.depth) as depth from ancestry a join node_template t on t.id = a.node_template_id
      where a.depth = 0 or t.type = 'Input' group by a.id, a.configuration order by depth, a.id`,
    [nodeInstanceId],
  );
  const names = nodes
    .map((node) => dataSourceNameOf(node.configuration))
    .filter((name) => name !== undefined);
  return findDataSourceByName(database, names[0] ?? platformDataSourceName);
}

/** The `dataSourceName` of a node's configuration; undefined when it names none or is no JSON object. */
function dataSourceNameOf(configuration: string): string | undefined {
  try {
    const name = (JSON.parse(configuration) as { dataSourceName?: unknown } | null)?.dataSourceName;
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    return undefined;
  }
}
