/**
 * The filter of a session query (contract: Session query model; decisions 13): read, checked and typed. What a filter
 * means is defined here once; `store/search/session-query.ts` states it in SQL, and a test in plain code.
 *
 * - Properties compare by their own type; text letter by letter, in any case as written. `ne` is what `eq` is not, so
 *   it also matches a property that is null.
 * - Metadata are matched as shown. A segment of the path that is a whole number is a place in a list, or a key.
 * - `eq`, `ne` and `in` accept text, numbers, truth values and null, each equal to its own kind alone; null also
 *   matches what is missing. `ne` is what `eq` is not.
 * - `gt`, `gte`, `lt`, `lte` accept numbers, which compare with numbers, or text, which compares with text by code
 *   points.
 * - `contains` finds part of a text, or an element of a list that equals the value; `startsWith`, `endsWith` text alone.
 * - `exists` accepts true (the default) or false; a present null exists.
 * - `annotation.label` and `annotation.tags` match a session that has such an annotation; `ne` one that has none.
 * - An address, at a place for people, matches the person's identifier and key: see `isPersonPlace` in `filter-people.ts`.
 */
import { jsonPath, quote } from '../issue.ts';
import { limits } from '../limits.ts';
import { isJsonObject, isStorableText, isUuid, type JsonObject } from '../text.ts';
import { parseTimestamp } from '../timestamp.ts';
import { sessionStates } from './session-state.ts';

const equality = ['eq', 'ne'] as const;
const order = ['gt', 'gte', 'lt', 'lte'] as const;
const textual = ['contains', 'startsWith', 'endsWith'] as const;

type Operator =
  | (typeof equality)[number]
  | (typeof order)[number]
  | (typeof textual)[number]
  | 'in'
  | 'exists';

const metadataOperators: readonly Operator[] = [...equality, ...order, ...textual, 'in', 'exists'];
const ofIds: readonly Operator[] = equality;
const ofTexts: readonly Operator[] = [...equality, ...textual];
const ofOrdered: readonly Operator[] = [...equality, ...order];

/** The contract's table, and what was added to it. Only what can be absent can be compared with null. */
export const sessionProperties = {
  id: { type: 'uuid', nullable: false, operators: ofIds },
  name: { type: 'string', nullable: false, operators: ofTexts },
  email: { type: 'string', nullable: false, operators: ofTexts },
  projectId: { type: 'int', nullable: false, operators: ofOrdered },
  sessionTemplateId: { type: 'int', nullable: false, operators: ofOrdered },
  simulationName: { type: 'string', nullable: true, operators: ofTexts },
  logoUrl: { type: 'string', nullable: true, operators: ofTexts },
  userId: { type: 'uuid', nullable: true, operators: ofIds },
  createdAt: { type: 'timestamp', nullable: true, operators: ofOrdered },
  state: { type: 'state', nullable: false, operators: ofIds },
  lastActivityAt: { type: 'timestamp', nullable: false, operators: ofOrdered },
  owner: { type: 'person', nullable: false, operators: ofIds },
} as const;
/** Paths to the session's annotations, which hide equal paths of metadata. */
const annotationPlaces = { 'annotation.label': 'label', 'annotation.tags': 'tags' } as const;
type AnnotationPlace = (typeof annotationPlaces)[keyof typeof annotationPlaces];
const ofAnnotations: readonly Operator[] = ['eq', 'ne', 'contains', 'startsWith', 'endsWith'];

export type SessionProperty = keyof typeof sessionProperties;
type PropertyType = (typeof sessionProperties)[SessionProperty]['type'];

export type Scalar = string | number | boolean | null;

export type Place =
  | { readonly kind: 'property'; readonly property: SessionProperty }
  | { readonly kind: 'annotation'; readonly of: AnnotationPlace }
  | { readonly kind: 'metadata'; readonly keys: readonly string[] };

export type AnnotationLeaf = {
  readonly kind: 'annotation';
  readonly of: AnnotationPlace;
  readonly op: Operator;
  readonly value: string;
};
export type PropertyLeaf = {
  readonly kind: 'property';
  readonly property: SessionProperty;
  readonly op: Operator;
  readonly value: string | number | Date | null;
};
export type MetadataLeaf = {
  readonly kind: 'metadata';
  readonly keys: readonly string[];
  readonly op: Exclude<Operator, 'in' | 'exists'>;
  readonly value: Scalar;
};
export type MetadataListLeaf = {
  readonly kind: 'metadata';
  readonly keys: readonly string[];
  readonly op: 'in';
  readonly values: readonly Scalar[];
};
type MetadataExistsLeaf = {
  readonly kind: 'metadata';
  readonly keys: readonly string[];
  readonly op: 'exists';
  readonly wanted: boolean;
};
export type FilterLeaf = PropertyLeaf | AnnotationLeaf | MetadataLeaf | MetadataListLeaf | MetadataExistsLeaf;
export type FilterNode = FilterLeaf | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] };

/** A fault of a query: the JSON path of the offending node, and a sentence about it. */
export class QueryFault extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.name = 'QueryFault';
    this.path = path;
  }
}

type Steps = readonly (string | number)[];

const fault = (steps: Steps, message: string) => new QueryFault(jsonPath(...steps), message);

interface Reading {
  leaves: number;
  /** Whom `me` means. */
  readonly callerId: string | undefined;
}

/** Reads a filter. @throws QueryFault */
export function readFilter(value: unknown, steps: Steps, callerId?: string): FilterNode {
  return readNode(value, steps, 1, { leaves: 0, callerId });
}

function readNode(value: unknown, steps: Steps, level: number, reading: Reading): FilterNode {
  if (!isJsonObject(value)) throw fault(steps, 'A filter node must be an object.');
  if (level > limits.queryFilterLevels) {
    throw fault(steps, `A filter must have at most ${limits.queryFilterLevels} levels.`);
  }
  const kinds = (['and', 'or', 'path'] as const).filter((key) => Object.hasOwn(value, key));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    throw fault(steps, 'A filter node must be either {path, op, value}, {and} or {or}.');
  }
  const children = kind === 'path' ? undefined : value[kind];
  if (children !== undefined && !Array.isArray(children))
    throw fault(steps, `${kind} must be a list of nodes.`);
  // A list without nodes counts as a leaf, so that the number of nodes is bounded too.
  if (children === undefined || children.length === 0) reading.leaves += 1;
  if (reading.leaves > limits.queryFilterLeaves) {
    throw fault(steps, `A filter must have at most ${limits.queryFilterLeaves} conditions.`);
  }
  if (kind === 'path') return readLeaf(value, steps, reading.callerId);
  const nodes = (children ?? []).map((child: unknown, index: number) =>
    readNode(child, [...steps, kind, index], level + 1, reading),
  );
  return { kind, nodes };
}

function readLeaf(node: JsonObject, steps: Steps, callerId: string | undefined): FilterLeaf {
  const place = readPlace(node.path, steps);
  const known = operatorsOf(place);
  const op = known.find((one) => one === node.op);
  if (op === undefined) {
    const named = metadataOperators.find((one) => one === node.op);
    const given = named === undefined ? 'this operator' : `the operator ${quote(named)}`;
    throw fault(steps, `The path does not support ${given}; it supports ${known.join(', ')}.`);
  }
  const value = Object.hasOwn(node, 'value') ? node.value : undefined;
  if (place.kind === 'annotation') {
    const text = readers.string(value);
    if (typeof text !== 'string') throw fault(steps, 'value must be text.');
    return { ...place, op, value: text };
  }
  return place.kind === 'metadata'
    ? readMetadataLeaf(place.keys, op, value, steps)
    : {
        ...place,
        op,
        value: readPropertyValue(place.property, op, isCaller(place, value) ? callerId : value, steps),
      };
}

const isCaller = (place: Place, value: unknown) =>
  place.kind === 'property' && place.property === 'owner' && value === 'me';

function operatorsOf(place: Place): readonly Operator[] {
  if (place.kind === 'metadata') return metadataOperators;
  return place.kind === 'annotation' ? ofAnnotations : sessionProperties[place.property].operators;
}

/** A session property, a part of its annotations, or a path into the metadata. @throws QueryFault */
export function readPlace(path: unknown, steps: Steps): Place {
  if (typeof path !== 'string' || path.length > limits.queryPathCharacters || !isStorableText(path)) {
    throw fault(steps, `path must be text of at most ${limits.queryPathCharacters} characters.`);
  }
  if (Object.hasOwn(sessionProperties, path)) return { kind: 'property', property: path as SessionProperty };
  if (Object.hasOwn(annotationPlaces, path))
    return { kind: 'annotation', of: annotationPlaces[path as keyof typeof annotationPlaces] };
  const keys = path.split('.');
  if (keys.includes('') || keys.length > limits.freeJsonDepthLevels) {
    throw fault(steps, `path must have 1 to ${limits.freeJsonDepthLevels} names, separated by single dots.`);
  }
  return { kind: 'metadata', keys };
}

function readPropertyValue(
  property: SessionProperty,
  op: Operator,
  value: unknown,
  steps: Steps,
): string | number | Date | null {
  const { type, nullable } = sessionProperties[property];
  if (value === null && nullable && (op === 'eq' || op === 'ne')) return null;
  const read = readers[type](value);
  if (read === undefined) throw fault(steps, `value must be ${typeNames[type]}.`);
  return read;
}

const typeNames: Readonly<Record<PropertyType, string>> = {
  uuid: 'a UUID',
  string: 'text',
  int: 'a whole number',
  timestamp: 'an ISO 8601 timestamp',
  state: `one of ${sessionStates.join(', ')}`,
  person: 'a UUID, or me',
};
const readers: Readonly<Record<PropertyType, (value: unknown) => string | number | Date | undefined>> = {
  uuid: (value) => (typeof value === 'string' && isUuid(value) ? value.toLowerCase() : undefined),
  string: (value) => (typeof value === 'string' && isStorableText(value) ? value : undefined),
  int: (value) => (Number.isSafeInteger(value) ? (value as number) : undefined),
  timestamp: (value) => (typeof value === 'string' ? (parseTimestamp(value) ?? undefined) : undefined),
  state: (value) => sessionStates.find((state) => state === value),
  person: (value) => readers.uuid(value),
};

function readMetadataLeaf(keys: readonly string[], op: Operator, value: unknown, steps: Steps): FilterLeaf {
  if (op === 'exists') {
    if (value !== undefined && typeof value !== 'boolean') throw fault(steps, 'value must be true or false.');
    return { kind: 'metadata', keys, op, wanted: value ?? true };
  }
  if (op === 'in') {
    if (!Array.isArray(value) || value.length > limits.queryListValues || !value.every(isScalar)) {
      throw fault(
        steps,
        `value must be a list of at most ${limits.queryListValues} texts, numbers, booleans or nulls.`,
      );
    }
    return { kind: 'metadata', keys, op, values: value };
  }
  if (!isScalar(value)) throw fault(steps, 'value must be text, a number, a boolean or null.');
  if (isOneOf(order, op) && typeof value !== 'number' && typeof value !== 'string') {
    throw fault(steps, 'value must be a number or text.');
  }
  if ((op === 'startsWith' || op === 'endsWith') && typeof value !== 'string') {
    throw fault(steps, 'value must be text.');
  }
  if (op === 'contains' && value === null) throw fault(steps, 'value must be text, a number or a boolean.');
  return { kind: 'metadata', keys, op, value };
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return isStorableText(value);
  return value === null || typeof value === 'boolean' || typeof value === 'number';
}

const isOneOf = (list: readonly Operator[], op: Operator) => list.includes(op);

/** A segment of a path that can be a place in a list. */
export function isListIndex(key: string): boolean {
  return /^(0|[1-9]\d{0,8})$/.test(key);
}
