/**
 * Keywords of JSON Schema whose compiled form is too expensive for untrusted schemas: the compiler's `uniqueItems` compares
 * every pair, its `enum` every value with every entry, and its `dependentRequired` takes quadratic time to compile.
 * These mean the same and take linear time.
 */
import { _, type Ajv } from 'ajv';
import { isJsonObject, type JsonObject } from '../text.ts';

/** Puts them in the place of the compiler's. */
export function withLinearKeywords<T extends Ajv>(ajv: T): T {
  for (const keyword of ['uniqueItems', 'enum', 'dependentRequired']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    error: { message: 'must NOT have duplicate items' },
    validate: (wanted: boolean, items: unknown[]) =>
      !wanted || new Set(items.map(canonical)).size === items.length,
  });
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    errors: false,
    error: {
      message: 'must be equal to one of the allowed values',
      params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
    },
    compile(allowed: unknown[]) {
      const known = new Set(allowed.map(canonical));
      return (value: unknown) => known.has(canonical(value));
    },
  });
  ajv.addKeyword({
    keyword: 'dependentRequired',
    type: 'object',
    schemaType: 'object',
    errors: false,
    error: { message: 'must have the properties that its other properties depend on' },
    validate: (dependents: JsonObject, value: JsonObject) =>
      Object.entries(dependents).every(
        ([name, required]) =>
          !Object.hasOwn(value, name) ||
          !Array.isArray(required) ||
          required.every((other) => Object.hasOwn(value, String(other))),
      ),
  });
  return ajv;
}

/** Equal JSON values, and only they, have equal texts: keys sorted. Depth is bounded before. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}
