/**
 * A form from the JSON Schema of a configuration: its fields, what stands in them as text, and the configuration that they
 * make. What the form does not know is edited as JSON. Pure: tested without a browser.
 */

type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

interface FieldBase {
  /** Names in the configuration, from the outside in; empty: the whole of it. */
  readonly path: readonly string[];
  readonly label: string;
  readonly hint: string;
  readonly required: boolean;
}

export type Field =
  | (FieldBase & { readonly kind: 'text' | 'number' | 'integer' | 'json' })
  | (FieldBase & { readonly kind: 'choice'; readonly options: readonly { value: string; label: string }[] })
  | (FieldBase & { readonly kind: 'group'; readonly fields: readonly Field[] });
export type Leaf = Exclude<Field, { kind: 'group' }>;

/** What stands in the fields, by `keyOf` their paths. A field that is empty is left out of the configuration. */
export type Draft = Readonly<Record<string, string>>;

const maxDepth = 6;

/** As the platform names places in a document: `$.gate.width`. */
export const keyOf = (path: readonly string[]) => ['$', ...path].join('.');

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (value: JsonObject, name: string): Json => (Object.hasOwn(value, name) ? value[name] : undefined);
const textOf = (value: Json) => (typeof value === 'string' ? value : '');

/** The fields of a schema, those that are required first, and one for each further entry of the present configuration. */
export function fieldsOf(schema: JsonObject, configuration: JsonObject): readonly Field[] {
  const fields = fieldsAt(schema, configuration, []);
  if (fields !== null) return fields;
  return [{ kind: 'json', path: [], label: 'Configuration', hint: 'A JSON object.', required: true }];
}

function fieldsAt(schema: JsonObject, value: JsonObject, path: readonly string[]): readonly Field[] | null {
  const { properties, required } = schema;
  if (!isObject(properties) || path.length > maxDepth) return null;
  const needed = new Set(Array.isArray(required) ? required : []);
  const known = Object.entries(properties).map(([name, part]) =>
    fieldOf(isObject(part) ? part : {}, own(value, name), [...path, name], needed.has(name)),
  );
  const others = Object.keys(value)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => fieldOf({}, own(value, name), [...path, name], false));
  const isNeeded = (field: Field) => field.required;
  return [...known.filter(isNeeded), ...known.filter((field) => !isNeeded(field)), ...others];
}

function fieldOf(given: JsonObject, value: Json, path: readonly string[], required: boolean): Field {
  const schema = withoutNull(given);
  const initial = schema.default === undefined ? '' : `Default: ${JSON.stringify(schema.default)}.`;
  const base: FieldBase = {
    path,
    label: textOf(schema.title) || path.at(-1)!,
    hint: [textOf(schema.description), initial].filter((text) => text !== '').join(' '),
    required,
  };
  const inner =
    (value === undefined || isObject(value)) && typeOf(schema) === 'object'
      ? fieldsAt(schema, value ?? {}, path)
      : null;
  if (inner !== null) return { ...base, kind: 'group', fields: inner };
  const choices = choicesOf(schema);
  if (choices !== null && fits(choices, value)) {
    return { ...base, kind: 'choice', options: choices.map(optionOf) };
  }
  const type = typeOf(schema);
  if (type === 'string' && (value === undefined || typeof value === 'string')) {
    return { ...base, kind: 'text' };
  }
  if ((type === 'number' || type === 'integer') && (value === undefined || typeof value === 'number')) {
    return { ...base, kind: type };
  }
  return { ...base, kind: 'json' };
}

/** What may be null too is left empty for that: its field is that of its values. */
function withoutNull(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  const isNull = (one: Json) => one === 'null' || (isObject(one) && one.type === 'null');
  const all = Array.isArray(anyOf) ? anyOf : schema.type;
  if (!Array.isArray(all) || !all.some(isNull)) return schema;
  const [only, ...others] = all.filter((one) => !isNull(one));
  if (others.length > 0 || only === undefined) return schema;
  return isObject(only) ? { ...only, ...rest } : { ...schema, type: only };
}

/** The one type of a schema; null when it has several, or is made of others. */
function typeOf(schema: JsonObject): string | null {
  if (['$ref', 'allOf', 'anyOf', 'oneOf'].some((word) => word in schema)) return null;
  if (typeof schema.type === 'string') return schema.type;
  return isObject(schema.properties) ? 'object' : null;
}

function choicesOf(schema: JsonObject): readonly Json[] | null {
  if (Array.isArray(schema.enum)) return schema.enum;
  return typeOf(schema) === 'boolean' ? [true, false] : null;
}

const fits = (choices: readonly Json[], value: Json) =>
  value === undefined || choices.some((choice) => JSON.stringify(choice) === JSON.stringify(value));

function optionOf(value: Json) {
  const label = value === true ? 'Yes' : value === false ? 'No' : String(value);
  return { value: JSON.stringify(value), label };
}

/** What stands in the fields for a configuration. */
export function draftOf(fields: readonly Field[], configuration: JsonObject): Draft {
  const draft: Record<string, string> = {};
  for (const field of leavesOf(fields)) {
    const value = valueAt(configuration, field.path);
    const isText = field.kind === 'text';
    const text = isText ? textOf(value) : JSON.stringify(value, null, field.kind === 'json' ? 2 : 0);
    draft[keyOf(field.path)] = value === undefined ? '' : text;
  }
  return draft;
}

export function leavesOf(fields: readonly Field[]): readonly Leaf[] {
  return fields.flatMap((field) => (field.kind === 'group' ? leavesOf(field.fields) : [field]));
}

function valueAt(configuration: JsonObject, path: readonly string[]): Json {
  let value: Json = configuration;
  for (const name of path) value = isObject(value) ? own(value, name) : undefined;
  return value;
}

export interface Drafted {
  readonly configuration: JsonObject;
  /** By the key of the field. The platform finds all others. */
  readonly faults: Readonly<Record<string, string>>;
}

/** The configuration that the fields make. */
export function drafted(fields: readonly Field[], draft: Draft): Drafted {
  let configuration: Record<string, Json> = {};
  const faults: Record<string, string> = {};
  for (const field of leavesOf(fields)) {
    const key = keyOf(field.path);
    const text = draft[key] ?? '';
    if (text.trim() === '' && !(field.kind === 'text' && field.required)) continue;
    const read = readLeaf(field, text);
    if ('fault' in read) faults[key] = read.fault;
    else if (field.path.length === 0) configuration = read.value as Record<string, Json>;
    else put(configuration, field.path, read.value);
  }
  return { configuration, faults };
}

function readLeaf(field: Leaf, text: string): { value: Json } | { fault: string } {
  if (field.kind === 'text') return { value: text };
  if (field.kind === 'number' || field.kind === 'integer') {
    const value = Number(text.trim().replace(',', '.'));
    if (field.kind === 'integer' && !Number.isInteger(value)) return { fault: 'Enter a whole number' };
    if (!Number.isFinite(value)) return { fault: 'Enter a number' };
    return { value };
  }
  try {
    const value: Json = JSON.parse(text);
    if (field.path.length === 0 && !isObject(value)) return { fault: 'Enter a JSON object' };
    return { value };
  } catch {
    return { fault: 'Enter JSON, with text in double quotes' };
  }
}

function put(target: Record<string, Json>, path: readonly string[], value: Json): void {
  let place = target;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(place, name)) set(place, name, {});
    place = place[name] as Record<string, Json>;
  }
  set(place, path.at(-1)!, value);
}

/** A name such as `__proto__` is a name like any other. */
function set(target: Record<string, Json>, name: string, value: Json): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
