/**
 * The filter of a session query as SQL over `session_search c`. Every value from a caller is a bound parameter; the
 * statement's text depends on the shape of the filter alone. Where an index can answer a condition, the condition has
 * the form of that index.
 */
import { isAddress, isListOfPeople, isPersonPlace } from '../../domain/sessions/filter-people.ts';
import { normaliseAddress, type Person } from '../../domain/sessions/participant.ts';
import {
  type AnnotationLeaf,
  type FilterLeaf,
  type FilterNode,
  isListIndex,
  type MetadataLeaf,
  type MetadataListLeaf,
  type PropertyLeaf,
  type Scalar,
  type SessionProperty,
} from '../../domain/sessions/session-filter.ts';
import type { SessionState } from '../../domain/sessions/session-state.ts';
import { escapeLike } from '../connection/like.ts';
import type { Parameters } from '../connection/parameters.ts';
import { isInState, lastActivityIs, lastActivityOf, stateOf } from './session-state.ts';

/** The person of an address, by its normal form. */
export type PeopleByAddress = ReadonlyMap<string, Person>;

/** Columns of properties; each is of the type that its property compares by. */
export const propertyColumns: Readonly<Record<SessionProperty, string>> = {
  id: 'c.session_id',
  name: 'c.name',
  email: 'c.email_identifier',
  projectId: 'c.project_id',
  sessionTemplateId: 'c.session_template_id',
  simulationName: 'c.simulation_name',
  logoUrl: 'c.logo_url',
  userId: 'c.user_id',
  createdAt: 'c.created_at',
  state: stateOf('c.session_id'),
  lastActivityAt: lastActivityOf('c.session_id'),
  owner: 'c.user_id',
};

/** A condition that is true exactly for the sessions that the filter matches; for others it may be null. */
export function filterCondition(node: FilterNode, people: PeopleByAddress, parameters: Parameters): string {
  if ('nodes' in node) {
    if (node.nodes.length === 0) return node.kind === 'and' ? 'true' : 'false';
    const parts = node.nodes.map((child) => filterCondition(child, people, parameters));
    return `(${parts.join(` ${node.kind} `)})`;
  }
  return new LeafCompiler(people, parameters).condition(node);
}

/** The value at a path of a jsonb column; null where nothing is there. */
export function jsonAt(root: string, keys: readonly string[], parameters: Parameters): string {
  return keys.reduce(
    (sql, key) =>
      isListIndex(key)
        ? `(${sql} #> array[${parameters.bind(key, 'text')}])`
        : `(${sql} -> ${parameters.bind(key, 'text')})`,
    root,
  );
}

/** `{"a": {"b": value}}` for the keys `a` and `b`. */
const nestedIn = (keys: readonly string[], value: unknown): unknown =>
  keys.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value);

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;
const isComparison = (op: string): op is keyof typeof comparisons => Object.hasOwn(comparisons, op);

class LeafCompiler {
  readonly #people: PeopleByAddress;
  readonly #parameters: Parameters;

  constructor(people: PeopleByAddress, parameters: Parameters) {
    this.#people = people;
    this.#parameters = parameters;
  }

  condition(leaf: FilterLeaf): string {
    if (leaf.kind === 'property') return this.#property(leaf);
    if (leaf.kind === 'annotation') return this.#annotation(leaf);
    if (leaf.op === 'exists') {
      return `${this.#at(leaf.keys)} is ${leaf.wanted ? 'not null' : 'null'}`;
    }
    if (leaf.op === 'in') return this.#equalsAny(leaf, leaf.values);
    if (leaf.op === 'eq') return this.#equalsAny(leaf, [leaf.value]);
    if (leaf.op === 'ne') return `not coalesce(${this.#equalsAny(leaf, [leaf.value])}, false)`;
    const condition = leaf.op === 'contains' ? this.#contains(leaf) : this.#compares(leaf);
    const isPerson = this.#person(leaf, leaf.value) !== undefined;
    return isPerson ? `(${this.#equals(leaf, leaf.value)} or ${condition})` : condition;
  }

  #bind(value: unknown, type: string): string {
    return this.#parameters.bind(value, type);
  }

  #at(keys: readonly string[], root = 'c.metadata'): string {
    return jsonAt(root, keys, this.#parameters);
  }

  #annotation({ of, op, value }: AnnotationLeaf): string {
    const has = (condition: string) =>
      `exists (select from annotation a where a.session_id = c.session_id and not a.staged and ${condition})`;
    const equal = () =>
      of === 'label'
        ? `a.label = ${this.#bind(value, 'text')}`
        : `a.tags @> array[${this.#bind(value, 'text')}]`;
    if (op === 'eq') return has(equal());
    if (op === 'ne') return `not ${has(equal())}`;
    if (of === 'label') return has(this.#textCondition('a.label', op, value));
    return has(`exists (select from unnest(a.tags) as tag where ${this.#textCondition('tag', op, value)})`);
  }

  /** The person of a value, when it is an address at a place for people. */
  #person(leaf: FilterLeaf, value: unknown): Person | undefined {
    return isPersonPlace(leaf) && isAddress(value) ? this.#people.get(normaliseAddress(value)) : undefined;
  }

  #property(leaf: PropertyLeaf): string {
    const { property, op, value } = leaf;
    const column = propertyColumns[property];
    if (value === null) return `${column} is ${op === 'eq' ? '' : 'not '}null`;
    if (property === 'createdAt') return this.#time(column, op, value as Date);
    if (property === 'lastActivityAt')
      return lastActivityIs('c.session_id', (at) => this.#time(at, op, value as Date));
    if (property === 'state')
      return `${op === 'eq' ? '' : 'not '}${isInState(value as SessionState, 'c.session_id')}`;
    const person = this.#person(leaf, value);
    if (person !== undefined) {
      const { identifier, key } = person;
      const same = `(${column} in (${this.#bind(identifier, 'text')}, ${this.#bind(key, 'text')})
        or c.email_key = ${this.#bind(key, 'text')})`;
      return op === 'ne' ? `not ${same}` : same;
    }
    const type =
      typeof value === 'number'
        ? 'bigint'
        : column === 'c.session_id' || column === 'c.user_id'
          ? 'uuid'
          : 'text';
    if (op === 'eq') return `${column} = ${this.#bind(value, type)}`;
    if (op === 'ne') return `${column} is distinct from ${this.#bind(value, type)}`;
    if (isComparison(op)) return `${column} ${comparisons[op]} ${this.#bind(value, type)}`;
    return this.#textPart(column, op, String(value), property === 'name' || property === 'simulationName');
  }

  /** Times are shown in milliseconds, and compare as they are shown. */
  #time(column: string, op: string, value: Date): string {
    const begin = () => this.#bind(value, 'timestamptz');
    const end = () => this.#bind(new Date(value.getTime() + 1), 'timestamptz');
    switch (op) {
      case 'eq':
        return `(${column} >= ${begin()} and ${column} < ${end()})`;
      case 'ne':
        return `(${column} < ${begin()} or ${column} >= ${end()})`;
      case 'gt':
        return `${column} >= ${end()}`;
      case 'gte':
        return `${column} >= ${begin()}`;
      case 'lt':
        return `${column} < ${begin()}`;
      default:
        return `${column} < ${end()}`;
    }
  }

  #textPart(text: string, op: string, value: string, isSearched: boolean): string {
    const exact = this.#textCondition(text, op, value);
    // Below three characters the index of the search text cannot be used.
    if (!isSearched || [...value].length < 3) return exact;
    const pattern = this.#bind(escapeLike(value), 'text');
    return `(c.search_text like '%' || lower(${pattern}) || '%' and ${exact})`;
  }

  #textCondition(text: string, op: string, value: string): string {
    const wanted = this.#bind(value, 'text');
    if (op === 'contains') return `strpos(${text}, ${wanted}) > 0`;
    if (op === 'startsWith') return `starts_with(${text}, ${wanted})`;
    return `right(${text}, length(${wanted})) = ${wanted}`;
  }

  #equalsAny(leaf: MetadataLeaf | MetadataListLeaf, values: readonly Scalar[]): string {
    const wanted = [...new Set(values)];
    const plain = wanted.filter((value) => value !== null && this.#person(leaf, value) === undefined);
    const others = wanted.filter((value) => !plain.includes(value)).map((value) => this.#equals(leaf, value));
    // Each value in a condition of its own would take seconds to plan, and more parameters than a statement has.
    const conditions = plain.length === 0 ? others : [...others, this.#equalsOneOf(leaf.keys, plain)];
    return conditions.length === 0 ? 'false' : `(${conditions.join(' or ')})`;
  }

  #equalsOneOf(keys: readonly string[], values: readonly Scalar[]): string {
    const [first = null, ...more] = values;
    if (more.length === 0) return this.#equalsJson(keys, first);
    const any = (list: readonly unknown[]) =>
      `any(${this.#bind(
        list.map((one) => JSON.stringify(one)),
        'jsonb[]',
      )})`;
    return keys.some(isListIndex)
      ? `${this.#at(keys)} = ${any(values)}`
      : `c.metadata @> ${any(values.map((value) => nestedIn(keys, value)))}`;
  }

  #equals(leaf: FilterLeaf & { keys: readonly string[] }, value: Scalar): string {
    if (value === null) return `coalesce(${this.#at(leaf.keys)}, 'null') = 'null'`;
    const person = this.#person(leaf, value);
    if (person === undefined) return this.#equalsJson(leaf.keys, value);
    const { identifier, key } = person;
    const shown = [...new Set([identifier, key])].map((one) => this.#equalsJson(leaf.keys, one));
    return `(${shown.join(' or ')} or ${this.#equalsJson(leaf.keys, key, 'c.metadata_keys')})`;
  }

  #equalsJson(keys: readonly string[], value: Scalar, root = 'c.metadata'): string {
    return (
      this.#containment(root, keys, value) ??
      `${this.#at(keys, root)} = ${this.#bind(JSON.stringify(value), 'jsonb')}`
    );
  }

  /**
   * The condition that the index answers: below keys of objects, an equal plain value is contained, and so is a list
   * whose elements are. Undefined for a segment that may be a place in a list: it has no one form there.
   */
  #containment(root: string, keys: readonly string[], value: unknown): string | undefined {
    if (keys.some(isListIndex)) return undefined;
    return `${root} @> ${this.#bind(JSON.stringify(nestedIn(keys, value)), 'jsonb')}`;
  }

  #contains(leaf: MetadataLeaf): string {
    const { keys, value } = leaf;
    const elements =
      isListOfPeople(keys) && typeof value === 'string'
        ? this.#containsPerson(leaf, value)
        : this.#containsElement(keys, value);
    if (typeof value !== 'string') return elements;
    const at = this.#at(keys);
    return `(${elements} or case when jsonb_typeof(${at}) = 'string' then ${this.#textCondition(`(${at} #>> '{}')`, 'contains', value)} end)`;
  }

  #containsElement(keys: readonly string[], element: unknown, root = 'c.metadata'): string {
    const indexed = this.#containment(root, keys, [element]);
    if (indexed !== undefined) return indexed;
    const at = this.#at(keys, root);
    return `(jsonb_typeof(${at}) = 'array' and ${at} @> ${this.#bind(JSON.stringify([element]), 'jsonb')})`;
  }

  /** A list of people holds each as an object with an id, or as the id itself. */
  #containsPerson(leaf: MetadataLeaf, value: string): string {
    const person = this.#person(leaf, value);
    const identifiers = person === undefined ? [value] : [...new Set([person.identifier, person.key])];
    const shown = identifiers.flatMap((id) => [
      this.#containsElement(leaf.keys, id),
      this.#containsElement(leaf.keys, { id }),
    ]);
    const hidden =
      person === undefined ? [] : [this.#containsElement(leaf.keys, { id: person.key }, 'c.metadata_keys')];
    return `(${[...shown, ...hidden].join(' or ')})`;
  }

  #compares(leaf: MetadataLeaf): string {
    const { keys, op, value } = leaf;
    const at = this.#at(keys);
    if (typeof value === 'number' && isComparison(op)) {
      const json = this.#bind(JSON.stringify(value), 'jsonb');
      return `(jsonb_typeof(${at}) = 'number' and ${at} ${comparisons[op]} ${json})`;
    }
    const text = `(${at} #>> '{}')`;
    const condition = isComparison(op)
      ? `${text} collate "C" ${comparisons[op]} ${this.#bind(value, 'text')}`
      : this.#textCondition(text, op, String(value));
    return `case when jsonb_typeof(${at}) = 'string' then ${condition} end`;
  }
}
