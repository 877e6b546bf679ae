/** One page of sessions in an order, and how many there are in all. */
import { limits } from '../../domain/limits.ts';
import type { Database } from '../connection/database.ts';
import { Parameters } from '../connection/parameters.ts';

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
  readonly where: (parameters: Parameters) => string;
  readonly order: (parameters: Parameters) => readonly OrderTerm[];
  /** The order is that of an index, and says which of two rows comes first without any other term. */
  readonly isIndexed: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** How far a search reads on. */
export interface SearchBounds {
  /** Matches are counted up to here. */
  readonly counted: number;
  /** A page is searched among this many sessions, the first in the order, before all are. */
  readonly walked: number;
}

const searchBounds: SearchBounds = { counted: limits.sessionsMatched, walked: 20_000 };

const orderOf = (terms: readonly (readonly [sql: string, term: OrderTerm])[]) =>
  terms
    .map(([sql, { direction, nullable }]) => `${sql} ${direction}${nullable ? ' nulls last' : ''}`)
    .join(', ');

/** The matches with their order terms, from which a statement of one page is made. */
interface Matches {
  readonly order: readonly OrderTerm[];
  readonly text: string;
}

/** @param source of the sessions `c`, by the terms of the order */
function matchesOf(
  { where, order }: PageParts,
  parameters: Parameters,
  source: (order: string) => string = () => 'session_search',
): Matches {
  const terms = order(parameters);
  const text = `
    select c.session_id as id, ${terms.map(({ sql }, index) => `${sql} as o${index}`).join(', ')}
      from ${source(orderOf(terms.map((term) => [term.sql, term])))} c where ${where(parameters)}`;
  return { order: terms, text };
}

/** Reads only the page's sessions whole. @param from an SQL table `x` of the matches @param total their number, in SQL */
function pageFrom(
  { columns, joins = '', limit, offset }: PageParts,
  parameters: Parameters,
  order: readonly OrderTerm[],
  from: { readonly with?: string; readonly x: string; readonly total: string },
): Statement {
  const ordered = orderOf(order.map((term, index) => [`o${index}`, term]));
  const text = `
    ${from.with ?? ''}
    select ${columns}, m.total
      from (select x.*, ${from.total} as total from ${from.x}
             order by ${ordered} limit ${parameters.bind(limit, 'bigint')} offset ${parameters.bind(offset, 'bigint')}) m
      join session_search c on c.session_id = m.id ${joins}
     order by ${ordered}`;
  return { text, values: parameters.values };
}

/** One page of all matches, whose number is known otherwise: an index in the order's own order is not read to its end. */
export function pageStatement(parts: PageParts): Statement {
  const parameters = new Parameters();
  const { order, text } = matchesOf(parts, parameters);
  return pageFrom(parts, parameters, order, { x: `(${text}) x`, total: 'null::bigint' });
}

/**
 * One page and the number of matches. The matches are found before they are put in order: an index in the order's own order
 * might have none for a long time. @param most with more matches than this the page is not the right one
 */
function matchingStatement(parts: PageParts, most?: number): Statement {
  const parameters = new Parameters();
  const { order, text } = matchesOf(parts, parameters);
  const found = `with x as materialized (${text}${most === undefined ? '' : ` limit ${most + 1}`})`;
  return pageFrom(parts, parameters, order, { with: found, x: 'x', total: '(select count(*) from x)' });
}

/** One page of the matches among the first sessions in the order. */
function walkStatement(parts: PageParts, { walked }: SearchBounds): Statement {
  const parameters = new Parameters();
  const first = (order: string) => `(select * from session_search c order by ${order} limit ${walked})`;
  const { order, text } = matchesOf(parts, parameters, first);
  return pageFrom(parts, parameters, order, { x: `(${text}) x`, total: 'null::bigint' });
}

/** Runs a statement of one page; `total` is undefined when the statement does not return it. */
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

/** `isExact` is false when there are more than `count`. */
export interface Count {
  readonly count: number;
  readonly isExact: boolean;
}

/**
 * One page of a search and how many sessions it matches, to a bound. Few matches are found by their own index and put in
 * order. Of many the first are soon met in the index of the order, where there is one.
 */
export async function searchPage<Row>(
  database: Database,
  parts: PageParts,
  bounds: SearchBounds = searchBounds,
): Promise<{ rows: Row[]; total: Count }> {
  const { limit, offset, isIndexed } = parts;
  if (offset + limit <= bounds.counted) {
    const { rows, total } = await readPage<Row>(database, matchingStatement(parts, bounds.counted));
    if (total === undefined) return { rows, total: await countBeyond(database, parts, bounds) };
    if (total <= bounds.counted) return { rows, total: { count: total, isExact: true } };
  }
  const walked = isIndexed ? await readPage<Row>(database, walkStatement(parts, bounds)) : undefined;
  if (walked?.rows.length === limit) {
    const total = { count: bounds.counted, isExact: false };
    return { rows: walked.rows, total: pastPage(total, { offset, limit, found: limit }) };
  }
  const { rows, total } = await readPage<Row>(database, matchingStatement(parts));
  if (total === undefined) return { rows, total: await countBeyond(database, parts, bounds) };
  return { rows, total: { count: total, isExact: true } };
}

/** The count for a page without rows, which is beyond the end or the first of none. */
async function countBeyond(database: Database, parts: PageParts, { counted }: SearchBounds): Promise<Count> {
  return parts.offset === 0 ? { count: 0, isExact: true } : countUpTo(database, parts.where, counted);
}

/** A count that ends at a bound is above the rows of a full page, so that a caller who reads page after page continues. */
export function pastPage(
  total: Count,
  { offset, limit, found }: { readonly offset: number; readonly limit: number; readonly found: number },
): Count {
  return total.isExact || found < limit
    ? total
    : { ...total, count: Math.max(total.count, offset + found + 1) };
}

/** How many sessions a search matches, to a bound: so that a count costs no more than it is worth. */
export async function countUpTo(
  database: Database,
  where: PageParts['where'],
  counted: number,
): Promise<Count> {
  const parameters = new Parameters();
  const [row] = await database.queryUnprepared<{ count: number }>(
    `select count(*) as count from (select from session_search c where ${where(parameters)} limit ${counted + 1}) x`,
    parameters.values,
  );
  const count = row?.count ?? 0;
  return { count: Math.min(count, counted), isExact: count <= counted };
}
