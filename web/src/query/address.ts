/** A session query in the page's address, so that it can be shared. Pure: tested without a browser. */

import { queryLimits } from './fields.ts';
import type { Ordering } from './model.ts';

export interface AskedQuery {
  /** As the platform accepts it; null: every session. */
  filter: unknown;
  orderBy: Ordering[];
}

/** The query of an address; null when it has none or an invalid one. */
export function readAskedQuery(query: URLSearchParams): AskedQuery | null {
  const text = query.get('query');
  if (text === null) return null;
  try {
    const filter: unknown = text === '' ? null : JSON.parse(text);
    return { filter, orderBy: readOrderings(query.get('orderBy') ?? '') };
  } catch {
    return null;
  }
}

export function writeAskedQuery(asked: AskedQuery): URLSearchParams {
  const parameters = new URLSearchParams();
  parameters.set('query', asked.filter === null ? '' : JSON.stringify(asked.filter));
  const orderings = asked.orderBy.filter(({ path }) => path !== '');
  if (orderings.length > 0) {
    parameters.set(
      'orderBy',
      orderings.map(({ path, direction }) => (direction === 'desc' ? `-${path}` : path)).join(','),
    );
  }
  return parameters;
}

/** `-createdAt,name`: descending by creation, then by name. */
function readOrderings(text: string): Ordering[] {
  return text
    .split(',')
    .filter((part) => part.replace(/^-/, '') !== '')
    .slice(0, queryLimits.orderings)
    .map((part) => ({
      path: part.replace(/^-/, ''),
      direction: part.startsWith('-') ? 'desc' : 'asc',
    }));
}
