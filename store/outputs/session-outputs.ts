/** The published outputs of a session, newest first, page by page. */
import type { Queryable } from '../connection/database.ts';
import { escapeLike } from '../connection/like.ts';
import { dataSourceColumns } from '../objects/data-sources.ts';
import type { Count } from '../search/session-page.ts';
import { type ListedOutputWithSource, listedOutputColumns, splitSource } from './outputs.ts';

/** A session may have millions of outputs: no more are counted. */
const maxCounted = 10_000;

export interface OutputSearch {
  /** Null: of all nodes. */
  readonly nodeInstanceId: number | null;
  /** A part of an identifier or of a file's name. */
  readonly text: string | null;
  /** Only the newest of each node. */
  readonly isLatest: boolean;
}

/** @property before the position of the last output of the page before; null for the first page */
export interface OutputPage {
  readonly before: number | null;
  readonly limit: number;
}

/** The outputs of each node by its index, so that none is read that no page shows. */
const ofNodes = (columns: string, condition: string, limit: string) => `
  node_instance n cross join lateral (
    select ${columns} from node_output o
     where o.node_instance_id = n.id and o.position is not null and ${condition}
       and ($3::text is null or o.output_identifier ilike $3
            or o.metadata->>'fileName' ilike $3 or o.metadata->>'name' ilike $3)
     order by o.position desc limit ${limit}) found
  where n.session_id = $1 and ($2::bigint is null or n.id = $2)`;

const countStatement = `
  select exists (select from session where id = $1) as is_session,
         (select count(*) from (select from ${ofNodes('', 'true', 'case when $4 then 1 else $5 end')} limit $5) counted)
           as counted`;

const pageStatement = `
  select ${listedOutputColumns}, ${dataSourceColumns('d', 'source.')}
    from (select found.id
            from ${ofNodes('o.id, o.position', '($4 or $5::bigint is null or o.position < $5)', 'case when $4 then 1 else $6 end')}
             and ($5::bigint is null or found.position < $5)
           order by found.position desc limit $6) page
    join node_output o on o.id = page.id
    join data_source d on d.id = o.data_source_id
   order by o.position desc`;

/** In the reverse order of publication, which is also that of `createdAt`. @returns undefined without the session */
export async function sessionOutputs(
  database: Queryable,
  sessionId: string,
  { nodeInstanceId, text, isLatest }: OutputSearch,
  { before, limit }: OutputPage,
): Promise<{ readonly outputs: ListedOutputWithSource[]; readonly total: Count } | undefined> {
  const search = [sessionId, nodeInstanceId, text === null ? null : `%${escapeLike(text)}%`, isLatest];
  const [[sum], rows] = await Promise.all([
    database.query<{ isSession: boolean; counted: number }>(countStatement, [...search, maxCounted + 1]),
    database.query(pageStatement, [...search, before, limit]),
  ]);
  if (sum?.isSession !== true) return undefined;
  const total = { count: Math.min(sum.counted, maxCounted), isExact: sum.counted <= maxCounted };
  return { outputs: rows.map(splitSource), total };
}
