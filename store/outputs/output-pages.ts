/** The list of a node's outputs, read page by page: nothing is held between two pages. */

import type { Queryable } from '../connection/database.ts';
import { dataSourceColumns } from '../objects/data-sources.ts';
import { type OutputWithSource, outputColumns, splitSource } from './outputs.ts';

const ofPage = 'o.node_instance_id = $1 and o.position > $2 and o.position <= $3';

/**
 * The versions of a node's outputs that were current at position $3, from above $2: those still current, and those
 * replaced since. Each arm has its own limit, so that a page costs the same at any position.
 */
const pageStatement = `
  select page.*, ${dataSourceColumns('d', 'source.')}
    from ((select ${outputColumns} from node_output o where ${ofPage} order by o.position limit $4)
          union all
          (select ${outputColumns}
             from (select v.*, v.output_id as id, p.output_identifier
                     from node_output_superseded v join node_output p on p.id = v.output_id) o
            where ${ofPage} and o.superseded_at_position > $3 order by o.position limit $4)) page
    join data_source d on d.id = page.data_source_id
   order by page.position limit $4`;
const firstPageOutputs = 16;
const maxPageOutputs = 100;
const pageCharacters = 128 * 1024;

/**
 * Published outputs of a node as of the first page, in the order of their publication, which is also that of
 * `createdAt`. Each page is read on request; nothing is held between them. None is empty.
 */
export async function* outputPages(
  database: Queryable,
  nodeInstanceId: number,
): AsyncGenerator<OutputWithSource[], void, undefined> {
  const [node] = await database.query<{ newest: number }>(
    'select newest_position as newest from node_instance where id = $1',
    [nodeInstanceId],
  );
  let after = 0;
  let count = firstPageOutputs;
  while (node !== undefined && after < node.newest) {
    const rows = await database.query(pageStatement, [nodeInstanceId, after, node.newest, count]);
    const page = rows.map(splitSource);
    const last = page.at(-1)?.output.position;
    if (last === undefined || last === null) return;
    after = last;
    yield page;
    if (page.length < count) return;
    // Configurations differ greatly in length.
    const characters = page.reduce((sum, { output }) => sum + output.configuration.length + 1024, 0);
    count = Math.min(maxPageOutputs, Math.max(1, Math.floor((pageCharacters * page.length) / characters)));
  }
}
