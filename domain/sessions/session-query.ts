/** A session query: filter, order and page (contract: Session query model; decisions 13). */
import { jsonPath } from '../issue.ts';
import { limits } from '../limits.ts';
import { isJsonObject } from '../text.ts';
import { type FilterNode, type Place, QueryFault, readFilter, readPlace } from './session-filter.ts';

export interface OrderBy {
  readonly place: Exclude<Place, { readonly kind: 'annotation' }>;
  readonly direction: 'asc' | 'desc';
}

export interface SessionQuery {
  /** Null: every session. */
  readonly filter: FilterNode | null;
  /** Ties, and all when it is empty, are ordered as the session list is: newest first, then by id. */
  readonly orderBy: readonly OrderBy[];
  readonly limit: number;
  readonly offset: number;
}

/**
 * Reads the body of a query; null and absent fields have their defaults.
 * @param callerId whom `me` means
 * @throws QueryFault
 */
export function readSessionQuery(body: unknown, callerId?: string): SessionQuery {
  if (!isJsonObject(body)) throw new QueryFault('$', 'The query must be a JSON object.');
  const { filter, orderBy, limit, offset } = body;
  return {
    filter: (filter ?? null) === null ? null : readFilter(filter, ['filter'], callerId),
    orderBy: readOrder(orderBy ?? []),
    limit: readInteger(limit ?? limits.queryLimitDefault, 'limit', 1, limits.queryLimitMax),
    offset: readInteger(offset ?? 0, 'offset', 0, limits.queryOffsetMax),
  };
}

function readInteger(value: unknown, name: string, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new QueryFault(jsonPath(name), `${name} must be a whole number from ${min} to ${max}.`);
}

function readOrder(value: unknown): OrderBy[] {
  if (!Array.isArray(value) || value.length > limits.queryOrderings) {
    throw new QueryFault(
      '$.orderBy',
      `orderBy must be a list of at most ${limits.queryOrderings} orderings.`,
    );
  }
  return value.map((item: unknown, index) => {
    const steps = ['orderBy', index];
    if (!isJsonObject(item)) throw new QueryFault(jsonPath(...steps), 'An ordering must be an object.');
    const direction = item.direction ?? 'asc';
    if (direction !== 'asc' && direction !== 'desc') {
      throw new QueryFault(jsonPath(...steps), "direction must be 'asc' or 'desc'.");
    }
    const place = readPlace(item.path, steps);
    if (place.kind === 'annotation') {
      throw new QueryFault(jsonPath(...steps), 'A session may have many annotations: they give no order.');
    }
    return { place, direction };
  });
}
