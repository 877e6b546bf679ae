/** Where a node's outputs go: the data source its own configuration names, else its nearest Input ancestor's, else `platform`. */

import type { Queryable } from '../connection/database.ts';
import { type DataSourceRow, dataSourceColumns, platformDataSourceName } from '../objects/data-sources.ts';

/**
 * The `dataSourceName` of a configuration, as SQL; null when it names none or is no JSON object. Escapes that PostgreSQL
 * cannot hold make it name none: no request brings them here, and reading any key of such a text would fail.
 */
const nameIn = (configuration: string) => `
    case when pg_input_is_valid(${configuration}, 'jsonb') then
      case when jsonb_typeof(${configuration}::jsonb -> 'dataSourceName') = 'string'
           then nullif(${configuration}::jsonb ->> 'dataSourceName', '') end end`;

/**
 * For `with recursive`: the step `target`, the data source of a node's new outputs. It has no row when the named one is
 * not registered. @param node an SQL expression of the node's id
 */
export const targetSteps = (node: string) => `
  ancestry as (
    select n.id, n.parent_ids, n.configuration, n.node_template_id, 0 as depth from node_instance n where n.id = ${node}
    union
    select p.id, p.parent_ids, p.configuration, p.node_template_id, a.depth + 1
      from ancestry a join node_instance p on p.id = any (a.parent_ids) where a.depth < 500
  ), naming as (
    select a.id, min(a.depth) as depth, ${nameIn('a.configuration')} as name
      from ancestry a join node_template t on t.id = a.node_template_id
     where a.depth = 0 or t.type = 'Input' group by a.id, a.configuration
  ), target as (
    select d.* from data_source d
     where d.name = coalesce(
             (select name from naming where name is not null order by depth, id limit 1), '${platformDataSourceName}')
  )`;

/** The data source that new outputs of the node are written to; undefined when the named one is not registered. */
export async function outputDataSource(
  database: Queryable,
  nodeInstanceId: number,
): Promise<DataSourceRow | undefined> {
  const [row] = await database.query<DataSourceRow>(
    `with recursive ${targetSteps('$1::bigint')} select ${dataSourceColumns('target')} from target`,
    [nodeInstanceId],
  );
  return row;
}
