import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { routes as platformRoutes } from '../../api/routes.ts';
import { authRoutes } from '../../auth/service.ts';
import type { Route } from '../../http/route.ts';
import { ask, makePerson, startTestApi, type TestApi, tokenOf } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const allRoutes = [...platformRoutes, ...authRoutes] as unknown as readonly Route[];
let api: TestApi;
let token: string;
beforeAll(async () => {
  api = await startTestApi(platform.environment);
  const { username, password } = platform.administrator;
  const admin = await tokenOf(api.url, username, password);
  token = (await makePerson(api.url, admin, 'Administrator')).token;
});
afterAll(() => api.stop());

/** Values on which programs like to stumble. */
const evil: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, '', ' ', '0', '1', '-1', 'NaN', '%', '_'],
  ...[
    '\u0007',
    "'; drop table x; --",
    '\\',
    '../../etc/passwd',
    '{{7*7}}',
    '__proto__',
    'constructor',
    '\ufeff',
    '😀',
  ],
  ...[
    'a'.repeat(300),
    'é'.repeat(70_000),
    '2026-02-30',
    '2026-01-01T00:00:00Z',
    '{"a":1}',
    '[',
    'null',
    'a@b',
  ],
  ...[[], [null], [[[]]], {}, { a: { b: [] } }, { toString: 1 }, { length: -1 }],
  JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"y":1}}}'),
];
const anyValue = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...evil) }, fc.jsonValue({ maxDepth: 3 }));
/** Ends the token that the test works with, or tells the service to wait. */
const left = new Set(['signOut', 'revokeTokens']);

function keysOf(schema: unknown): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodPipe ? keysOf(schema.in) : [];
}
const fields = (schema: unknown) =>
  fc.dictionary(fc.constantFrom('unknown', ...keysOf(schema)), anyValue, {
    maxKeys: 12,
    noNullPrototype: true,
  });
const pathParts = [
  '0',
  '1',
  '9007199254740991',
  '9007199254740993',
  'abc',
  '%00',
  '%',
  '%F0%9F%98%80',
  "'",
  '..%2f',
  'a'.repeat(2000),
];

describe('whatever is sent by somebody who may send it', () => {
  test('is never answered with a 5xx, and errors have the common body', async () => {
    for (const route of allRoutes) {
      if (left.has(route.id)) continue;
      const paths = fc
        .array(fc.constantFrom(...pathParts, '00000000-0000-4000-8000-000000000000'), {
          minLength: 4,
          maxLength: 4,
        })
        .map((parts) => route.path.replaceAll(/\{\w+\+?\}/g, () => parts.pop() ?? '1'));
      const query = fields(route.query).map((values) => {
        const search = new URLSearchParams();
        for (const [name, value] of Object.entries(values)) {
          // A claim would rightly wait.
          search.append(
            name,
            (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 5000),
          );
        }
        return search.size === 0 ? '' : `?${search}`;
      });
      const body =
        route.body === undefined || route.body === 'stream'
          ? fc.constant(undefined)
          : fc.oneof({ weight: 4, arbitrary: fields(route.body) }, anyValue);
      await fc.assert(
        fc.asyncProperty(paths, query, body, async (path, search, json) => {
          const sent = { token, ...(json === undefined ? {} : { json: withoutWaiting(json) }) };
          const answer = await ask(api.url, route.method, path + search, sent);
          expect(answer.status, `${route.id} ${path}`).toBeLessThan(500);
          if (answer.status >= 400) {
            expect(answer.body).toMatchObject({ status: 'error', message: expect.any(String) });
          }
        }),
        { numRuns: 10 },
      );
    }
  }, 300_000);
});

/** A claim with a long `waitSeconds` is right to wait; the test is not. */
function withoutWaiting(json: unknown): unknown {
  return typeof json === 'object' && json !== null && 'waitSeconds' in json
    ? { ...json, waitSeconds: -1 }
    : json;
}
