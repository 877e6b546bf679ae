import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { formatToken } from '../../domain/access/token-format.ts';
import { Problem } from '../../domain/errors.ts';
import { createApp, routeSet } from '../../http/app.ts';
import { errorReply } from '../../http/errors.ts';
import { type Route, routeFactory } from '../../http/route.ts';
import { createLog } from '../../telemetry/log.ts';

const defineRoute = routeFactory<object, never>();
const common = {
  method: 'GET',
  summary: 'Test',
  tags: [],
  access: { open: true },
  responses: { 200: { description: 'Bytes.', media: 'text/plain' } },
  // The error comes when the route has answered already.
  handler: () => ({
    status: 200 as const,
    stream: (): Readable => {
      throw new Error('no bytes');
    },
  }),
} as const;
const guard = { services: {}, identify: async () => null, responseChecks: 'strict' } as const;
const routes = ['/api/v2/runner/late', '/late'].map((path) =>
  defineRoute({ ...common, id: path, path, versions: 'as-listed' }),
);
const under = [defineRoute({ ...common, id: 'auth', path: '/auth/late' })] as Route<object>[];
const server = createApp({
  routeSets: [routeSet(under, guard), routeSet(routes, guard)],
  codedPrefixes: ['/api/v2/runner/'],
  log: createLog({ service: 'test' }, 'silent'),
  shutdown: new AbortController().signal,
}).listen(0);
await once(server, 'listening');
afterAll(() => server.close());

test.each([
  ['/api/v2/runner/late', 'internal'],
  ['/api/v2/runner/late?x=1', 'internal'],
  ['http://elsewhere/api/v2/runner/late', 'internal'],
  ['/late', undefined],
  ['/auth/late', undefined],
])('an error of %s outside its route has the form of the routes there', async (url, code) => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(`GET ${url} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
  expect(answer).toMatch(/^HTTP\/1\.1 500 /);
  expect(body).toMatchObject({ status: 'error', message: 'Internal server error.' });
  expect(body.code).toBe(code);
});

test('an error repeats no token and no address that a caller sent in place of something else', () => {
  const token = formatToken('offline', Buffer.alloc(32, 7));
  const errors = [{ path: `$.Nodes['${token}']`, message: 'petra@example.org is unknown.' }];
  const problem = new Problem('invalidRequest', {
    message: `There is no ${token}.`,
    fields: { errors, count: 1 },
  });
  expect(errorReply(problem, 'common').body).toEqual({
    status: 'error',
    message: 'There is no [token].',
    errors: [{ path: "$.Nodes['[token]']", message: '[address] is unknown.' }],
    count: 1,
  });
});
