/** The published outputs of a session, newest first, page by page. */
import type { Queryable } from '../connection/database.ts';
import { escapeLike } from '../connection/like.ts';
import { dataSourceColumns } from '../objects/data-sources.ts';
import { type ListedOutputWithSource, listedOutputColumns, splitSource } from '../outputs/outputs.ts';
import type { Count } from './session-page.ts';

/** A session may have millions of outputs: no more are counted. */
const maxCounted = 10_000;
/** The most bytes of metadata on a page, as stored: a recording may have much. */
const maxPageBytes = 1024 * 1024;

interface OutputSearch {
  /** Null: of all nodes. */
  readonly nodeInstanceId: number | null;
  /** A part of an identifier or of a file's name. */
  readonly text: string | null;
  /** Only the newest of each node. */
  readonly isLatest: boolean;
}

/**
 * The outputs of each node by its index, so that none is read that no page shows. Of `$1`, a session, or of its node `$2`
 * alone, and with `$3`, a pattern, in their names. `$4` in its users: only the newest of each node.
 */
const ofNodes = (columns: string, condition: string, limit: string) => `
  node_instance n cross join lateral (
    select ${columns} from node_output o
     where o.node_instance_id = n.id and o.position is not null and ${condition}
       and ($3::text is null or o.output_identifier ilike $3
            or o.metadata->>'fileName' ilike $3 or o.metadata->>'name' ilike $3 or o.metadata->>'kind' ilike $3)
     order by o.position desc limit ${limit}) found
  where n.session_id = $1 and ($2::bigint is null or n.id = $2)`;

const countStatement = `
  select exists (select from session where id = $1) as is_session,
         (select count(*) from (select from ${ofNodes('', 'true', 'case when $4 then 1 else $5 end')} limit $5) counted)
           as counted`;

/** Reads one row more than a page has. Rows that would make the page too long are left to the next page. */
const pageStatement = `
  with page as (
    select found.id
      from ${ofNodes('o.id, o.position', '($4 or $5::bigint is null or o.position < $5)', 'case when $4 then 1 else $6 end')}
       and ($5::bigint is null or found.position < $5)
     order by found.position desc limit $6
  ), sized as (
    select ${listedOutputColumns}, count(*) over () as found_count,
           coalesce(sum(pg_column_size(o.metadata)) over (
             order by o.position desc rows between unbounded preceding and 1 preceding), 0) as bytes_before
      from page join node_output o on o.id = page.id
  )
  select o.*, ${dataSourceColumns('d', 'source.')}
    from sized o join data_source d on d.id = o.data_source_id
   where o.bytes_before < ${maxPageBytes}
   order by o.position desc limit $6 - 1`;

interface OutputPage {
  readonly outputs: ListedOutputWithSource[];
  readonly total: Count;
  /** The `before` of the next page; null on the last. */
  readonly next: number | null;
}

/**
 * In the reverse order of publication, which is also that of `createdAt`.
 * @param before the position of the last output of the page before; null for the first page
 * @returns undefined without the session
 */
export async function sessionOutputs(
  database: Queryable,
  sessionId: string,
  { nodeInstanceId, text, isLatest }: OutputSearch,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<OutputPage | undefined> {
  const search = [sessionId, nodeInstanceId, text === null ? null : `%${escapeLike(text)}%`, isLatest];
  const [[sum], rows] = await Promise.all([
    database.query<{ isSession: boolean; counted: number }>(countStatement, [...search, maxCounted + 1]),
    database.query<Record<string, unknown>>(pageStatement, [...search, before, limit + 1]),
  ]);
  if (sum?.isSession !== true) return undefined;
  const outputs = rows.map(({ foundCount: _, bytesBefore: __, ...row }) => splitSource(row));
  const isLast = rows.length === 0 || rows[0]!.foundCount === rows.length;
  return {
    outputs,
    total: { count: Math.min(sum.counted, maxCounted), isExact: sum.counted <= maxCounted },
    next: isLast ? null : outputs.at(-1)!.output.position,
  };
}
