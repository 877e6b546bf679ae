/** Generated calls of one operation of the interface document. */
import fc from 'fast-check';
import { decideAccess } from '../../../domain/access/access.ts';
import { allRoutes, type Json, type Operation } from '../../support/openapi.ts';
import { farText, hardValues, nearText } from './json-text.ts';
import type { RawCall } from './raw-call.ts';
import { valueFor } from './values.ts';
import type { Caller, World } from './world.ts';

export type GeneratedCall = RawCall & { readonly caller: Caller };

const hardSegments = [
  ...[
    '0',
    '-1',
    '1.5',
    '9007199254740991',
    '9007199254740993',
    'abc',
    '%00',
    '%',
    '%ff',
    '%zz',
    '%F0%9F%98%80',
  ],
  ...[
    "'",
    '..',
    '%2e%2e',
    '..%2f',
    '%2F',
    '.',
    '',
    '%20',
    '*',
    '{id}',
    '00000000-0000-4000-8000-000000000000',
  ],
  ...[
    'a'.repeat(2000),
    'latest',
    'platform',
    'constructor',
    '__proto__',
    'openapi.json',
    '%E2%80%AE',
    'A%0d%0aB',
  ],
];
const hardHeaders = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    'gzip',
    'br',
    'identity',
    'bytes=0-0',
    'bytes=-1',
    'bytes=9-2',
    'bytes=0-1,2-3',
    '*',
    '"x"',
    'W/"x"',
  ],
  ...[
    '{}',
    '{"a":1}',
    '{"$a":1}',
    '[',
    '{"a":"\\u0000"}',
    'é',
    '\u00ff'.repeat(20),
    'a'.repeat(5000),
    'a/../b',
    'text/csv',
  ],
  ...[
    'application/json',
    'text/html;charset=utf-16',
    'nonsense',
    '1B2M2Y8AsgTpgAmyPhCfg==',
    `"${'x'.repeat(300)}"`,
  ],
];
const word = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hardSegments) },
  fc.string({ unit: 'grapheme', maxLength: 20 }).map(encodeURIComponentLoosely),
);

/** Lone surrogates cannot be encoded. */
function encodeURIComponentLoosely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Calls mostly by permitted callers, on existing objects, and valid in all but a few places. */
export function callsOf(operation: Operation, world: World): fc.Arbitrary<GeneratedCall> {
  const parameters = (operation.value.parameters as Json[]).filter((one) => !('$ref' in one));
  return fc
    .record({
      caller: callerOf(operation, world),
      path: pathOf(operation, parameters, world),
      query: queryOf(operation, parameters, world),
      headers: headersOf(operation, parameters, world),
      body: bodyOf(operation, world),
    })
    .map(({ caller, path, query, headers, body }) => ({
      caller,
      method: operation.method,
      target: `${path}${query}`,
      headers: {
        ...headers,
        ...(caller.token === undefined ? {} : { authorization: `Bearer ${caller.token}` }),
      },
      body,
    }));
}

function callerOf({ id }: Operation, world: World): fc.Arbitrary<Caller> {
  const rule = allRoutes.find((route) => route.id === id)!.access;
  const may = world.callers.filter(({ who }) => who !== undefined && decideAccess(rule, who).allowed);
  const anybody = fc.constantFrom(...world.callers);
  return rule.open ? anybody : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...may) }, anybody);
}

/** `text` in about `percent` of all calls. */
const sometimes = <T>(percent: number, text: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof(
    { weight: percent, arbitrary: text },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
  );

function pathOf(operation: Operation, parameters: readonly Json[], world: World): fc.Arbitrary<string> {
  const forms = [operation.path, ...((operation.value['x-also-at'] ?? []) as string[])];
  const inPath = parameters.filter((one) => one.in === 'path');
  const values = inPath.map(({ name, example }) => {
    const known = valueFor(world, operation, String(name)) ?? example;
    // A path of several segments keeps its slashes.
    const right = String(known).split('/').map(encodeURIComponent).join('/');
    return fc.oneof({ weight: 6, arbitrary: fc.constant(right) }, word);
  });
  return fc
    .tuple(fc.constantFrom(...forms), fc.tuple(...values))
    .map(([form, chosen]) =>
      inPath.reduce((path, { name }, index) => path.replace(`{${name}}`, () => chosen[index] ?? ''), form),
    );
}

function queryOf(operation: Operation, parameters: readonly Json[], world: World): fc.Arbitrary<string> {
  const known = parameters.filter((one) => one.in === 'query');
  const pairs = known.map(({ name, example, required }) => {
    const right = String(valueFor(world, operation, String(name)) ?? example);
    const value = fc.oneof(
      { weight: 3, arbitrary: fc.constant(encodeURIComponent(right)) },
      word,
      fc.constantFrom(...hardValues).map((text) => encodeURIComponentLoosely(text).slice(0, 4000)),
    );
    return sometimes(
      required === true ? 95 : 40,
      value.map((text) => `${name}=${text}`),
    );
  });
  const stray = sometimes(
    10,
    fc.tuple(word, word).map((pair) => pair.join('=')),
  );
  return fc.tuple(...pairs, stray).map((parts) => {
    const query = parts.filter((part) => part !== undefined).join('&');
    // A query cannot hold what a path cannot hold.
    return query === '' ? '' : `?${query.replaceAll(/[^\x21-\x7e]|#/g, '')}`;
  });
}

function headersOf(
  operation: Operation,
  parameters: readonly Json[],
  world: World,
): fc.Arbitrary<Record<string, string>> {
  const text = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...hardHeaders) },
    fc.string({
      unit: fc
        .integer({ min: 0x20, max: 0xff })
        .filter((code) => code < 0x7f || code > 0x9f)
        .map((code) => String.fromCharCode(code)),
      maxLength: 30,
    }),
  );
  const own = parameters
    .filter((one) => one.in === 'header')
    .map(({ name, example, required }) => {
      const right = String(valueFor(world, operation, String(name).toLowerCase()) ?? example);
      const value = fc.oneof({ weight: required === true ? 6 : 2, arbitrary: fc.constant(right) }, text);
      return sometimes(required === true ? 95 : 30, value).map(
        (one) => [String(name).toLowerCase(), one] as const,
      );
    });
  const others = ['x-request-id', 'accept', 'content-type', 'accept-encoding', 'if-none-match'].map((name) =>
    sometimes(10, text).map((one) => [name, one] as const),
  );
  // Guesses from one address are soon answered with 429 alone.
  const address = fc.ipV4().map((one) => ['x-forwarded-for', one] as const);
  return fc.tuple(...own, ...others, address).map((pairs) => {
    const kept = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
    return Object.fromEntries(kept.map(([name, value]) => [name, value.trim()]));
  });
}

function bodyOf(operation: Operation, world: World): fc.Arbitrary<Buffer | undefined> {
  const content = (operation.value.requestBody as Json | undefined)?.content as Json | undefined;
  if (content === undefined)
    return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, farText.map(Buffer.from));
  const json = content['application/json'] as Json | undefined;
  if (json === undefined) return fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes));
  const near = nearText(filled(json.example, operation, world)).map((text) => Buffer.from(text));
  return fc.oneof(
    { weight: 8, arbitrary: near },
    { weight: 2, arbitrary: farText.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(Buffer.alloc(1_048_577, 0x20), Buffer.from(`"${'z'.repeat(1_048_574)}"`)),
    },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

/** An example with ids and names of things that exist here. */
function filled(value: unknown, operation: Operation, world: World, isInside = false): unknown {
  if (Array.isArray(value)) return value.map((item) => filled(item, operation, world, true));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      valueFor(world, operation, key, isInside) ?? filled(part, operation, world, true),
    ]),
  );
}
