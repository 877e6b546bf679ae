/** What a schema can cost at each place of a configuration, as a number: its values, as far as each is read. */
import { isJsonObject } from '../text.ts';

/** Keywords whose values are data, looked up at once or ignored. */
const dataKeywords = new Set(['enum', 'const', 'default', 'examples', 'title', 'description', '$comment']);
/** Keywords whose values hold names of the author's, each with something below it. */
const nameKeywords = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  '$defs',
]);

/** Depth is bounded before, so recursion is safe. */
export function schemaCost(schema: unknown): number {
  if (Array.isArray(schema)) return schema.reduce((sum: number, item) => sum + schemaCost(item), 1);
  if (!isJsonObject(schema)) return 1;
  let cost = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    if (dataKeywords.has(keyword)) cost += 1;
    else if (nameKeywords.has(keyword) && isJsonObject(value)) {
      for (const below of Object.values(value)) cost += 1 + schemaCost(below);
    } else cost += schemaCost(value);
  }
  return cost;
}

/** How often a schema says `false`: an upper bound of its subschemas that are `false`. */
export function countFalse(schema: unknown): number {
  if (schema === false) return 1;
  if (typeof schema !== 'object' || schema === null) return 0;
  return Object.values(schema).reduce((sum: number, value) => sum + countFalse(value), 0);
}

/** Values of any kind in a JSON value. */
export function countPlaces(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, item) => sum + countPlaces(item), 1);
}
