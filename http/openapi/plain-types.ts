/** Unions in the form that client generators of every language read. */

type Schema = Record<string, unknown>;

/** Values of these keys are data, unless the key is the name of a field. */
const dataKeys = new Set(['default', 'example', 'examples', 'const', 'enum']);

/**
 * Writes `type: [number, string, null]` as alternatives, and alternatives within alternatives as one list; a type or
 * null stays as it is. A type beside alternatives with null would forbid null.
 * @param namesFields whether the keys of the value are names of fields
 */
export function writePlainTypes(value: unknown, namesFields = false): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (namesFields || !dataKeys.has(key)) writePlainTypes(part, key === 'properties' && !namesFields);
  }
  if (!namesFields && !Array.isArray(value)) writeUnion(value as Schema);
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
