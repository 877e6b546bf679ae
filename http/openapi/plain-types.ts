/** Types in the form that client generators of every language read. */
import { limits } from '../../domain/limits.ts';

type Schema = Record<string, unknown>;

/** Values of these keys are data, unless the key is the name of a field. */
const dataKeys = new Set(['default', 'example', 'examples', 'const', 'enum']);

/**
 * Writes `type: [number, string, null]` as alternatives, and alternatives within alternatives as one list; a type or
 * null stays as it is. A type beside alternatives with null would forbid null. Numbers get their width: generators take
 * one without as a float of 32 bits (Go) or an integer of 32 bits (Java).
 * @param namesFields whether the keys of the value are names of fields
 */
export function writePlainTypes(value: unknown, namesFields = false): void {
  if (typeof value !== 'object' || value === null) return;
  if (!namesFields && !Array.isArray(value)) {
    writeUnion(value as Schema);
    writeType(value as Schema);
    // Generators for Java make an enumeration of texts of it.
    if ((value as Schema).type === 'boolean') delete (value as Schema).const;
    writeWidth(value as Schema);
  }
  for (const [key, part] of Object.entries(value))
    if (namesFields || !dataKeys.has(key)) writePlainTypes(part, key === 'properties' && !namesFields);
}

function writeUnion(schema: Schema): void {
  const { type, anyOf } = schema;
  if (Array.isArray(type) && type.filter((one) => one !== 'null').length > 1) {
    delete schema.type;
    schema.anyOf = type.map((one) => ({ type: one }));
  }
  if (!Array.isArray(anyOf)) return;
  schema.anyOf = anyOf.flatMap(alternatives);
  if (anyOf.some((one) => one.type === 'null')) delete schema.type;
}

/** An alternative that is a list of alternatives and nothing else stands for them. */
const alternatives = (schema: Schema): unknown[] =>
  Array.isArray(schema.anyOf) && Object.keys(schema).length === 1 ? schema.anyOf : [schema];

/** Of values of one kind, where the schema names the values alone, or takes whole numbers such as `z.literal(1)` for fractions. */
function writeType(schema: Schema): void {
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  if (values.length === 0 || (schema.type ?? 'number') !== 'number') return;
  if (values.every((value) => typeof value === 'string')) schema.type = 'string';
  if (values.every(Number.isInteger)) schema.type = 'integer';
}

function writeWidth(schema: Schema): void {
  const types = [schema.type].flat();
  if (types.includes('number')) schema.format ??= 'double';
  if (types.includes('integer') && !isNarrow(schema)) schema.format ??= 'int64';
}

/** Whether every value is one of a few, or has 32 bits. */
const isNarrow = ({ minimum, maximum, ...schema }: Schema) =>
  'const' in schema ||
  'enum' in schema ||
  (Number(minimum) >= limits.minInt32 && Number(maximum) <= limits.maxInt32);
