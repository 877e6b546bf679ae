/**
 * One page of sessions in an order, and how many there are in all, in one statement: it searches once, reading of each
 * match only what the order needs, and reads only the page's sessions whole.
 */
import type { Database } from '../connection/database.ts';
import type { Parameters } from './session-filter.ts';

/** One term of an order over `session_search c`. */
export interface OrderTerm {
  readonly sql: string;
  readonly direction: 'asc' | 'desc';
  /** What is null comes last; written only where it matters, since an index has its nulls at one end. */
  readonly nullable?: boolean;
}

/** Newest first, ties by id. */
export const newestFirst: readonly OrderTerm[] = [
  { sql: 'c.created_at', direction: 'desc' },
  { sql: 'c.session_id', direction: 'desc' },
];

export interface PageParts {
  /** Select list over `session_search c` and what `joins` adds. */
  readonly columns: string;
  readonly joins?: string;
  /** Condition over `session_search c`. */
  readonly where: string;
  readonly order: readonly OrderTerm[];
  readonly limit: number;
  readonly offset: number;
  /** False where the total is known otherwise: then an index in the order's own order is not read to its end. */
  readonly countsAll: boolean;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** `parameters` holds the values bound by `where` and `order`. */
export function pageStatement(parts: PageParts, parameters: Parameters): Statement {
  const { columns, joins = '', where, order, countsAll } = parts;
  const terms = order.map(({ sql }, index) => `${sql} as o${index}`);
  const ordered = order
    .map(({ direction, nullable }, index) => `o${index} ${direction}${nullable ? ' nulls last' : ''}`)
    .join(', ');
  const limit = parameters.bind(parts.limit, 'bigint');
  const offset = parameters.bind(parts.offset, 'bigint');
  const text = `
    select ${columns}, m.total
      from (select x.*, ${countsAll ? 'count(*) over ()' : 'null::bigint'} as total
              from (select c.session_id as id, ${terms.join(', ')} from session_search c where ${where}) x
             order by ${ordered} limit ${limit} offset ${offset}) m
      join session_search c on c.session_id = m.id ${joins}
     order by ${ordered}`;
  return { text, values: parameters.values };
}

/** Runs a statement of {@link pageStatement}; `total` is undefined when the statement does not return it. */
export async function readPage<Row>(
  database: Database,
  statement: Statement,
): Promise<{ rows: Row[]; total: number | undefined }> {
  const found = await database.queryUnprepared<Row & { total: number | null }>(
    statement.text,
    statement.values,
  );
  const rows = found.map(({ total: _, ...row }) => row as unknown as Row);
  return { rows, total: found[0]?.total ?? undefined };
}

/** How many sessions a condition matches: for pages beyond the end, which have no row to return it. */
export async function countMatches(
  database: Database,
  where: string,
  parameters: Parameters,
): Promise<number> {
  const [row] = await database.queryUnprepared<{ count: number }>(
    `select count(*) as count from session_search c where ${where}`,
    parameters.values,
  );
  return row?.count ?? 0;
}

/** `isExact` is false when there are more than `count`. */
export interface Count {
  readonly count: number;
  readonly isExact: boolean;
}

/** As {@link countMatches}, to a bound: so that a count costs no more than it is worth. */
export async function countUpTo(
  database: Database,
  where: string,
  parameters: Parameters,
  most: number,
): Promise<Count> {
  const [row] = await database.queryUnprepared<{ count: number }>(
    `select count(*) as count from (select from session_search c where ${where} limit ${most + 1}) x`,
    parameters.values,
  );
  const count = row?.count ?? 0;
  return { count: Math.min(count, most), isExact: count <= most };
}
