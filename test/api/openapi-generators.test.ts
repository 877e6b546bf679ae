/** Requirements of client generators on the interface document, beyond the standard. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseIdempotencyKey } from '../../domain/access/idempotency.ts';
import { limits } from '../../domain/limits.ts';
import {
  allOperationsOf,
  allRoutes,
  interfaceDocument,
  type Json,
  operationsOf,
  pointer,
} from '../support/openapi.ts';

const document = interfaceDocument();
const operations = operationsOf(document);

test('client generators can read it: bodies have known types, and arrays have item types', () => {
  const known = ['application/json', 'application/octet-stream', 'application/offset+octet-stream'];
  for (const { id, value } of allOperationsOf(document)) {
    const body = value.requestBody as { readonly content: Json; readonly required: boolean } | undefined;
    if (body === undefined) continue;
    expect([id, known.some((media) => media in body.content)]).toEqual([id, true]);
    const { body: schema } = allRoutes.find((one) => one.id === id.replace('AtEarlierPath', ''))!;
    const isJudged = schema !== 'stream' && !(schema instanceof z.ZodUnknown);
    const required = !isJudged || !schema!.safeParse(undefined).success;
    expect([id, body.required]).toEqual([id, required]);
  }
  const bare = schemasIn(document, '').filter(
    ({ value }) => [value.type].flat().includes('array') && value.items === undefined,
  );
  expect(bare.map(({ at }) => at)).toEqual([]);
});

test('patterns mean the same to every reader: properties of Unicode, which many do not know, stand in none', () => {
  const patterns = JSON.stringify(document).match(/"pattern":"(?:[^"\\\\]|\\\\.)*"/g)!;
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.filter((pattern) => /\\\\p\{/i.test(pattern))).toEqual([]);
});

test('times have no pattern: generated clients compare it with their own form of a time', () => {
  const schemas = JSON.stringify(document).match(/\{[^{}]*"format":"date-time"[^{}]*\}/g)!;
  expect(schemas.length).toBeGreaterThan(100);
  expect(schemas.filter((schema) => schema.includes('"pattern"'))).toEqual([]);
});

test('a path has one name for each parameter, and no schema is of null alone: generators refuse the document', () => {
  const plain = Object.keys(document.paths as Json).map((path) => path.replaceAll(/\{\w+\}/g, '{}'));
  expect(plain.filter((path, at) => plain.indexOf(path) !== at)).toEqual([]);
  expect(JSON.stringify(document).replaceAll(',{"type":"null"}]', ']')).not.toContain('"type":"null"');
});

test('an Idempotency-Key has the form that is accepted; a request id has none, since any other is replaced', () => {
  const { RequestId, IdempotencyKey } = (document.components as Json).parameters as Record<string, Json>;
  expect(RequestId!.schema).toEqual({ type: 'string' });
  const declared = new RegExp((IdempotencyKey!.schema as { readonly pattern: string }).pattern);
  const longest = 'k'.repeat(limits.idempotencyKeyCharacters);
  const keys = [
    '',
    'a',
    'a b',
    'a"b',
    'a\\b',
    'ä',
    '"',
    '""',
    '"a',
    '"a"',
    '"a b"',
    '"a\\"b"',
    '"a\\\\b"',
    '"a\\b"',
  ];
  for (const key of [...keys, longest, `"${longest}"`, `${longest}k`, `"${longest}k"`])
    expect([key, declared.test(key)]).toEqual([key, parseIdempotencyKey(key) !== null]);
});

test('stored bytes may have any type, since they are served with the type that they came with', () => {
  for (const id of ['getNodeOutputData', 'getLatestNodeOutputData', 'getTaskInputData']) {
    const { responses } = operations.find((one) => one.id === id)!.value as {
      responses: Record<string, Json>;
    };
    for (const status of ['200', '206'])
      expect([id, Object.keys(responses[status]!.content as Json)]).toEqual([
        id,
        ['application/octet-stream', '*/*'],
      ]);
  }
});

test('a piece of a resumable upload is declared with the only type that is accepted', () => {
  const pieces = operations.filter(({ value }) =>
    /^(?:create|continue).*Upload$/.test(String(value.operationId)),
  );
  const resumable = pieces.filter(({ value }) => JSON.stringify(value.responses).includes('Upload-Offset'));
  expect(resumable).toHaveLength(4);
  for (const { id, value } of resumable)
    expect([id, Object.keys((value.requestBody as { content: Json }).content)]).toEqual([
      id,
      ['application/offset+octet-stream'],
    ]);
});

test('what a request may leave out or repeat, and how it writes dates, is declared as it is read', () => {
  const operation = (id: string) => operations.find((one) => one.id === id)!.value;
  expect(operation('querySessions').requestBody).toMatchObject({ required: false });
  const { schemas } = document.components as { readonly schemas: Record<string, Json> };
  const of = (schema: string, field: string) => (schemas[schema]!.properties as Json)[field];
  for (const schema of ['WebhookRequest', 'WebhookChangeRequest'])
    expect(of(schema, 'events')).toMatchObject({ uniqueItems: true });
  expect(of('ProjectRequest', 'PinnedMetadata')).toMatchObject({
    anyOf: [{ uniqueItems: true, items: { minLength: 1 } }, { type: 'null' }],
  });
  for (const id of ['listDimensions', 'downloadReport'])
    for (const name of ['from', 'to']) {
      const one = (operation(id).parameters as Json[]).find((parameter) => parameter.name === name)!;
      const declared = new RegExp((one.schema as { readonly pattern: string }).pattern);
      for (const [text, isDate] of [
        ['2026-03-31', true],
        ['2026-03-31T10:00:00+02:00', true],
        ['2026-13-01', false],
        ['yesterday', false],
      ] as const)
        expect([id, name, text, declared.test(text)]).toEqual([id, name, text, isDate]);
    }
});

test('values have one type that every language can write: generators for Go and Java refuse or break others', () => {
  const faults = schemasIn(document, '').flatMap(({ at, value }) => {
    const types = [value.type ?? []].flat();
    const choices = (value.anyOf ?? []) as Json[];
    const kinds = choices.map(({ type }) => type).filter((type) => type !== 'null');
    const values = (value.enum ?? ('const' in value ? [value.const] : [])) as unknown[];
    return [
      ...(types.filter((type) => type !== 'null').length > 1 ? [`${at}: several types`] : []),
      ...(choices.some((one) => 'anyOf' in one) ? [`${at}: alternatives within alternatives`] : []),
      ...(kinds.length > 1 && (kinds.includes('array') || kinds.includes('object'))
        ? [`${at}: an object or a list beside others`]
        : []),
      ...(kinds.length < choices.length && 'type' in value ? [`${at}: null beside a type`] : []),
      ...(types.includes('number') && values.length > 0 && values.every(Number.isInteger)
        ? [`${at}: whole numbers as fractions`]
        : []),
      ...(value.type === 'boolean' && 'const' in value ? [`${at}: a boolean of one value`] : []),
      ...(value.uniqueItems === true && 'enum' in (value.items as Json) ? [`${at}: a nameless set`] : []),
    ];
  });
  expect(faults).toEqual([]);
  for (const { id, value } of operations)
    for (const parameter of value.parameters as Json[])
      expect([id, parameter.name, 'anyOf' in ((parameter.schema ?? {}) as Json)]).toEqual([
        id,
        parameter.name,
        false,
      ]);
});

test('YAML and events are not declared as text: who knows these types parses them before the check', () => {
  for (const [id, media] of [
    ['runnerApiDocument', 'application/yaml'],
    ['readRunLog', 'text/event-stream'],
    ['followSession', 'text/event-stream'],
  ] as const) {
    const { responses } = operations.find((one) => one.id === id)!.value as { responses: Json };
    expect([id, ((responses['200'] as Json).content as Record<string, Json>)[media]!.schema]).toEqual([
      id,
      {},
    ]);
  }
});

test('numbers have their width: generators for Go take others as floats, for Java as integers, of 32 bits', () => {
  const numbers = schemasIn(document, '').filter(({ value }) =>
    [value.type].flat().some((type) => type === 'number' || type === 'integer'),
  );
  expect(numbers.length).toBeGreaterThan(200);
  const narrow = numbers.filter(({ value }) => !('format' in value || 'const' in value || 'enum' in value));
  const wide = narrow.filter(({ value }) => !(Number(value.maximum) < 2 ** 31));
  expect(wide.map(({ at }) => at)).toEqual([]);
  const constants = schemasIn(document, '').filter(
    ({ value }) => ('const' in value || Array.isArray(value.enum)) && !('type' in value),
  );
  expect(constants.map(({ at }) => at)).toEqual([]);
});

test('a schema has another name than the kinds of credentials: generators for Go make one type of each', () => {
  const { schemas, securitySchemes } = document.components as Record<string, Json>;
  const names = Object.keys(schemas!).map((name) => name.toLowerCase());
  expect(Object.keys(securitySchemes!).filter((name) => names.includes(name.toLowerCase()))).toEqual([]);
});

/** Everything that may be a schema, beside examples. */
function schemasIn(value: unknown, at: string): { at: string; value: Json }[] {
  if (typeof value !== 'object' || value === null) return [];
  return [
    ...(Array.isArray(value) || at.endsWith('/properties') ? [] : [{ at, value: value as Json }]),
    ...Object.entries(value).flatMap(([key, part]) =>
      ['example', 'examples'].includes(key) ? [] : schemasIn(part, at + pointer(key)),
    ),
  ];
}
