/**
 * A session query being edited: a tree of groups and conditions with texts in their fields, and its conversion to and
 * from the platform's filter. Pure: tested without a browser.
 */
import type { Project, SessionMetadataKey, SessionTemplate } from '../../../client/types.ts';
import { inShownZone, timeInShownZone } from '../days.ts';
import type { Field, Operator } from './fields.ts';
import { fieldOf, isBare, operatorsOf } from './fields.ts';

/** The choices for conditions. */
export interface QueryWorld {
  /** The metadata keys of the newest sessions. */
  keys: readonly SessionMetadataKey[];
  projects: readonly Project[];
  templates: readonly Pick<SessionTemplate, 'id' | 'name'>[];
}

/** The type of a metadata value; properties have their own types. */
export type ValueType = 'text' | 'number' | 'truth' | 'json';

export interface Condition {
  kind: 'condition';
  /** Unique within one query; it preserves the focus while conditions are added and removed. */
  id: number;
  /** A property; `''` for metadata, whose path is in `key`. */
  path: string;
  /** Path into the metadata, with dots. */
  key: string;
  operator: Operator;
  valueType: ValueType;
  /** The text of the input; several values are one per line. */
  text: string;
}

export interface Group {
  kind: 'and' | 'or';
  id: number;
  nodes: QueryNode[];
}

export type QueryNode = Condition | Group;

export interface Ordering {
  path: string;
  direction: 'asc' | 'desc';
}

let lastId = 0;
const nextId = () => {
  lastId += 1;
  return lastId;
};

export function newCondition(): Condition {
  return {
    kind: 'condition',
    id: nextId(),
    path: 'name',
    key: '',
    operator: 'contains',
    valueType: 'text',
    text: '',
  };
}

export function newGroup(kind: 'and' | 'or', nodes: QueryNode[] = [newCondition()]): Group {
  return { kind, id: nextId(), nodes };
}

/** The condition with another field: its operator and value stay if the field accepts them. */
export function withField(condition: Condition, field: Field): Condition {
  const operators = operatorsOf(field);
  const operator = operators.includes(condition.operator) ? condition.operator : operators[0]!;
  const sameKind = fieldOf(condition.path).type === field.type;
  return { ...condition, path: field.path, operator, text: sameKind ? condition.text : '' };
}

/** The tree with the node of this id changed; null removes it. */
export function changeNode(group: Group, id: number, change: (node: QueryNode) => QueryNode | null): Group {
  const nodes = group.nodes.flatMap((node): QueryNode[] => {
    const next =
      node.id === id ? change(node) : node.kind === 'condition' ? node : changeNode(node, id, change);
    return next === null ? [] : [next];
  });
  const changed = { ...group, nodes };
  return group.id === id ? ((change(changed) as Group | null) ?? { ...group, nodes: [] }) : changed;
}

export function countConditions(node: QueryNode): number {
  if (node.kind === 'condition') return 1;
  return Math.max(
    1,
    node.nodes.reduce((sum, child) => sum + countConditions(child), 0),
  );
}

export interface Written {
  /** Null: no condition, so every session. */
  filter: unknown;
  /** The faults that prevent sending the query, by the id of the condition. */
  faults: Map<number, string>;
  /** Ids of the nodes by their JSON path, as the platform names the place of a fault. */
  places: Map<string, number>;
}

/** The filter of the tree. Groups without conditions are left out. */
export function writeFilter(root: Group): Written {
  const faults = new Map<number, string>();
  const places = new Map<string, number>();
  const write = (node: QueryNode, place: string): unknown => {
    places.set(place, node.id);
    if (node.kind === 'condition') return writeCondition(node, faults);
    const kept = node.nodes.filter((child) => !isHollow(child));
    return { [node.kind]: kept.map((child, index) => write(child, `${place}.${node.kind}[${index}]`)) };
  };
  return { filter: isHollow(root) ? null : write(root, '$.filter'), faults, places };
}

function isHollow(node: QueryNode): boolean {
  return node.kind !== 'condition' && node.nodes.every(isHollow);
}

function writeCondition(condition: Condition, faults: Map<number, string>) {
  const field = fieldOf(condition.path);
  const path = field.type === 'metadata' ? condition.key.trim() : field.path;
  if (path === '') faults.set(condition.id, 'Enter a metadata path.');
  const { operator } = condition;
  if (operator === 'exists' || operator === 'absent') {
    return { path, op: 'exists', value: operator === 'exists' };
  }
  if (operator === 'empty' || operator === 'filled') {
    return { path, op: operator === 'empty' ? 'eq' : 'ne', value: null };
  }
  try {
    return { path, op: operator, value: readValue(condition, field) };
  } catch (error) {
    faults.set(condition.id, error instanceof Error ? error.message : String(error));
    return { path, op: operator, value: null };
  }
}

function readValue({ operator, text, valueType }: Condition, field: Field): unknown {
  if (field.type === 'project' || field.type === 'template') {
    if (!/^\d+$/.test(text)) throw new Error(`Choose a ${field.type}.`);
    return Number(text);
  }
  if (field.type === 'time') {
    const time = timeInShownZone(text);
    if (text === '' || Number.isNaN(time.getTime())) throw new Error('Enter a date and a time.');
    return time.toISOString();
  }
  if (field.type === 'state' && text === '') throw new Error('Choose a state.');
  if (field.type === 'owner' && text === '') return 'me';
  if (field.type !== 'metadata') return text;
  if (valueType === 'json') return readJson(text);
  if (operator !== 'in') return readScalar(text, valueType);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => readScalar(valueType === 'text' ? line : line.trim(), valueType));
}

function readScalar(text: string, valueType: ValueType): unknown {
  if (valueType === 'text') return text;
  if (valueType === 'truth') return text.trim() !== 'false';
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new Error('Enter a number.');
  return number;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('This is not JSON.');
  }
}

/** The tree of a filter, as addresses carry it; null for an invalid one. */
export function readFilter(filter: unknown): Group | null {
  const node = readNode(filter, 0);
  if (node === null) return null;
  return node.kind === 'condition' ? newGroup('and', [node]) : node;
}

function readNode(value: unknown, level: number): QueryNode | null {
  if (typeof value !== 'object' || value === null || level > 20) return null;
  for (const kind of ['and', 'or'] as const) {
    const children: unknown = (value as Record<string, unknown>)[kind];
    if (!Array.isArray(children)) continue;
    const nodes = children.map((child) => readNode(child, level + 1));
    return nodes.includes(null) ? null : newGroup(kind, nodes as QueryNode[]);
  }
  const { path, op, value: wanted } = value as Record<string, unknown>;
  if (typeof path !== 'string' || typeof op !== 'string') return null;
  return readCondition(path, op, wanted);
}

function readCondition(path: string, op: string, value: unknown): Condition | null {
  const field = fieldOf(path);
  const operator = operatorOf(op, value);
  if (!operatorsOf(field).includes(operator)) return null;
  return {
    ...newCondition(),
    path: field.path,
    key: field.type === 'metadata' ? path : '',
    operator,
    ...(isBare(operator) ? {} : textOf(value, field)),
  };
}

function operatorOf(op: string, value: unknown): Operator {
  if (op === 'exists') return value === false ? 'absent' : 'exists';
  if (value === null && op === 'eq') return 'empty';
  if (value === null && op === 'ne') return 'filled';
  return op as Operator;
}

function textOf(value: unknown, field: Field): { valueType: ValueType; text: string } {
  if (field.type === 'time') return { valueType: 'text', text: localTime(String(value)) };
  if (field.type !== 'metadata') return { valueType: 'text', text: String(value) };
  const list = Array.isArray(value) ? value : [value];
  const types = new Set(list.map((item) => (item === null ? 'null' : typeof item)));
  const [type] = types;
  const known: Record<string, ValueType> = { string: 'text', number: 'number', boolean: 'truth' };
  const isPlain = types.size === 1 && known[type ?? ''] !== undefined && !list.some(hasLines);
  if (!isPlain) return { valueType: 'json', text: JSON.stringify(value) };
  return { valueType: known[type!]!, text: list.map(String).join('\n') };
}

const hasLines = (value: unknown) => typeof value === 'string' && /\n|^\s*$/.test(value);

/** A time in the zone in which times are shown, as an input for times holds it. */
function localTime(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return '';
  return inShownZone(time).toISOString().slice(0, 19);
}

/** The condition at another path; with the type of the values that sessions have there, unless a value is written. */
export function withKey(condition: Condition, key: string, keys: readonly SessionMetadataKey[]): Condition {
  const sample = keys.find(({ path }) => path === key)?.samples[0];
  if (sample === undefined || condition.text !== '') return { ...condition, key };
  return { ...condition, key, valueType: textOf(sample, fieldOf('')).valueType };
}
