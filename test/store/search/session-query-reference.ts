/** What a filter and an order mean, in plain code over sessions in memory: the reference for what SQL answers. */

import { isAddress, isPersonPlace } from '../../../domain/sessions/filter-people.ts';
import { normaliseAddress, type Person } from '../../../domain/sessions/participant.ts';
import type {
  FilterLeaf,
  FilterNode,
  Scalar,
  SessionProperty,
} from '../../../domain/sessions/session-filter.ts';
import type { OrderBy } from '../../../domain/sessions/session-query.ts';
import type { SessionState } from '../../../domain/sessions/session-state.ts';

export interface PlainSession {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly emailKey: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  readonly simulationName: string | null;
  readonly logoUrl: string;
  readonly userId: string;
  readonly createdAt: Date;
  readonly state: SessionState;
  readonly lastActivityAt: Date;
  /** The creator again. */
  readonly owner: string;
  /** Finer than what is shown: the order goes by it. */
  readonly createdMicroseconds: number;
  readonly metadata: unknown;
  readonly metadataKeys: unknown;
}
export type People = ReadonlyMap<string, Person>;

/** By code points, as a plain reader would order text. */
function compareText(left: string, right: string): number {
  const [a, b] = [[...left], [...right]];
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const difference = a[at]!.codePointAt(0)! - b[at]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Undefined where nothing is there. */
function valueAt(root: unknown, keys: readonly string[]): unknown {
  let value = root;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) {
      if (!/^(0|[1-9]\d*)$/.test(key)) return undefined;
      value = value[Number(key)];
    } else value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}

export function matches(session: PlainSession, node: FilterNode, people: People): boolean {
  if ('nodes' in node) {
    return node.kind === 'and'
      ? node.nodes.every((child) => matches(session, child, people))
      : node.nodes.some((child) => matches(session, child, people));
  }
  if (node.kind === 'property') return matchesProperty(session, node, people);
  // These sessions have no annotations.
  if (node.kind === 'annotation') return node.op === 'ne';
  const value = valueAt(session.metadata, node.keys);
  const hidden = valueAt(session.metadataKeys, node.keys);
  const equals = (wanted: Scalar) => {
    if (wanted === null) return value === undefined || value === null;
    const person = personOf(node, wanted, people);
    if (person === undefined) return value === wanted;
    return value === person.identifier || value === person.key || hidden === person.key;
  };
  switch (node.op) {
    case 'exists':
      return (value !== undefined) === node.wanted;
    case 'in':
      return node.values.some(equals);
    case 'eq':
      return equals(node.value);
    case 'ne':
      return !equals(node.value);
    case 'contains':
      return (
        contains(node.keys, value, hidden, node.value, personOf(node, node.value, people)) ||
        (personOf(node, node.value, people) !== undefined && equals(node.value))
      );
    default:
      if (personOf(node, node.value, people) !== undefined && equals(node.value)) return true;
      return typeof value === typeof node.value && compares(node.op, value, node.value);
  }
}

function personOf(leaf: FilterLeaf, value: unknown, people: People): Person | undefined {
  return isPersonPlace(leaf) && isAddress(value) ? people.get(normaliseAddress(value)) : undefined;
}

function contains(
  keys: readonly string[],
  value: unknown,
  hidden: unknown,
  wanted: Scalar,
  person: Person | undefined,
): boolean {
  if (typeof value === 'string') return typeof wanted === 'string' && value.includes(wanted);
  const isPeople = keys.length === 1 && keys[0] === 'participants' && typeof wanted === 'string';
  const identifiers: unknown[] = person === undefined ? [wanted] : [person.identifier, person.key];
  const isOne = (item: unknown, ids: unknown[]) =>
    ids.includes(item) ||
    (isPeople && ids.includes(valueAt(item, ['id'])) && typeof valueAt(item, ['id']) === 'string');
  return (
    (Array.isArray(value) && value.some((item) => isOne(item, isPeople ? identifiers : [wanted]))) ||
    (isPeople &&
      person !== undefined &&
      Array.isArray(hidden) &&
      hidden.some((item) => isOne(item, [person.key])))
  );
}

function compares(op: string, value: unknown, wanted: unknown): boolean {
  if (typeof value === 'string' && typeof wanted === 'string') {
    if (op === 'contains') return value.includes(wanted);
    if (op === 'startsWith') return value.startsWith(wanted);
    if (op === 'endsWith') return value.endsWith(wanted);
  }
  const difference =
    typeof value === 'string' ? compareText(value, String(wanted)) : Number(value) - Number(wanted);
  if (op === 'gt') return difference > 0;
  if (op === 'gte') return difference >= 0;
  return op === 'lt' ? difference < 0 : difference <= 0;
}

function matchesProperty(
  session: PlainSession,
  leaf: Extract<FilterLeaf, { kind: 'property' }>,
  people: People,
): boolean {
  const shown = session[leaf.property];
  const value = shown instanceof Date ? shown.getTime() : shown;
  const wanted = leaf.value instanceof Date ? leaf.value.getTime() : leaf.value;
  const person = personOf(leaf, wanted, people);
  if (leaf.op === 'eq' || leaf.op === 'ne' || person !== undefined) {
    const isEqual =
      person === undefined
        ? value === wanted
        : value === person.identifier || value === person.key || session.emailKey === person.key;
    return isEqual === (leaf.op !== 'ne');
  }
  return value !== null && compares(leaf.op, value, wanted);
}

/** Missing last; of metadata numbers, then text, then truth values; ties newest first, then by id downwards. */
export function comparator(orderBy: readonly OrderBy[]) {
  return (left: PlainSession, right: PlainSession): number => {
    for (const { place, direction } of orderBy) {
      const sign = direction === 'asc' ? 1 : -1;
      const [a, b] =
        place.kind === 'property'
          ? [propertyRank(left, place.property), propertyRank(right, place.property)]
          : [rank(valueAt(left.metadata, place.keys)), rank(valueAt(right.metadata, place.keys))];
      if (a.group !== b.group) return a.group - b.group;
      const difference =
        typeof a.value === 'string' ? compareText(a.value, String(b.value)) : a.value - Number(b.value);
      if (difference !== 0) return sign * difference;
    }
    return right.createdMicroseconds - left.createdMicroseconds || compareText(right.id, left.id);
  };
}

type Rank = { group: number; value: string | number };

function rank(value: unknown): Rank {
  if (typeof value === 'number') return { group: 1, value };
  if (typeof value === 'string') return { group: 2, value };
  return typeof value === 'boolean' ? { group: 3, value: Number(value) } : { group: 4, value: 0 };
}

function propertyRank(session: PlainSession, property: SessionProperty): Rank {
  if (property === 'createdAt') return rank(session.createdMicroseconds);
  const value = session[property];
  return rank(value instanceof Date ? value.getTime() : value);
}
