/** What the compiler of JSON Schemas finds wrong with a document, in the words of our issues. */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { jsonPath, quote } from '../issue.ts';
import { type JsonObject, startOf } from '../text.ts';

/** Path and message of one compiler finding. Its pointer is read along the document to tell index from key. */
export function describeFault(
  error: ErrorObject,
  document: unknown,
  steps: readonly (string | number)[],
): [path: string, message: string] {
  const path: (string | number)[] = [...steps];
  let current: unknown = document;
  const pointer = error.instancePath.split('/').slice(1);
  for (const escaped of pointer) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(current) ? Number(key) : key);
    current = typeof current === 'object' && current !== null ? (current as JsonObject)[key] : undefined;
  }
  const extra = error.params.additionalProperty ?? error.params.unevaluatedProperty;
  if (typeof extra === 'string')
    return [jsonPath(...path, extra), 'This property is not allowed by the schema.'];
  const allowed: unknown = error.params.allowedValues;
  const list =
    Array.isArray(allowed) && allowed.length <= 20
      ? ` (${allowed.map((item) => quoteValue(item)).join(', ')})`
      : '';
  return [
    jsonPath(...path),
    `Does not match the schema: ${quoteMessage(error.message ?? error.keyword)}${list}.`,
  ];
}

const quoteValue = (value: unknown) =>
  typeof value === 'string' ? quote(value) : quote(JSON.stringify(value));
const maxMessageCharacters = 300;
const quoteMessage = (message: string) => startOf(message, maxMessageCharacters);
