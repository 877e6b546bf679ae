import { request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forwardTo } from '../../api/identity/auth-forward.ts';
import { routes as platformRoutes } from '../../api/routes.ts';
import { authRoutes } from '../../auth/service.ts';
import { limits } from '../../domain/limits.ts';
import { createApp } from '../../http/app.ts';
import type { Route } from '../../http/route.ts';
import { listen } from '../../http/server/server.ts';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { ask, makePeople, type People, startTestApi, type TestApi } from '../support/api.ts';
import { type AuthWire, openAuthWire, type WireFault, wireFaults } from '../support/network/auth-wire.ts';
import { type ApiProcess, spawnAuth } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';
import { stretched } from '../support/stretched.ts';
import { inputNode, ship, templateFile } from '../support/templates.ts';

const platform = await testEnvironment();
const guarded = platformRoutes.filter(({ access }) => !access.open);
const unavailable = 'Service unavailable. Please try again later.';
let auth: ApiProcess;
let wire: AuthWire;
let api: TestApi;
let people: People;
let ingest: { readonly path: string; readonly secret: string };

beforeAll(async () => {
  auth = await spawnAuth(platform.environment);
  wire = await openAuthWire(auth.url);
  api = await startTestApi({ ...platform.environment, AUTH_URL: wire.url });
  people = await makePeople(api.url, platform);
  const { database, objects } = api.composed.services;
  await ship(database);
  await ensurePlatformDataSource(database, objects.platformAccess);
  ingest = await makeIngest();
});
afterAll(async () => {
  wire.close();
  await api.stop();
  auth.kill('SIGTERM');
  await auth.ended;
});
beforeEach(() => {
  wire.fault = null;
  wire.slownessMs = 0;
  wire.calls.length = 0;
});

async function makeIngest() {
  const token = people.Developer.token;
  const call = async (path: string, json: object) => (await ask(api.url, 'POST', path, { token, json })).body;
  const project = await call('/projects', { Title: 'Ingest' });
  const template = await call('/api/v2/admin/session-templates', templateFile('one', [inputNode('in')]));
  const made = await call('/api/v2/admin/ingests', {
    urlPath: 'files',
    projectId: project.id,
    sessionTemplateId: template.id,
    inputNode: 'in',
  });
  return { path: '/ingest/files', secret: made.secret as string };
}

const someId = '00000000-0000-4000-8000-000000000000';
const call = (route: Route, token: string) =>
  ask(api.url, route.method, route.path.replaceAll(/\{\w+\+?\}/g, someId), {
    token,
    ...(route.method === 'GET' ? {} : { json: { email: 'somebody@example.org', name: 'never written' } }),
  });

/** All stored rows except the heartbeats of processes, in a comparable form. */
async function everything(): Promise<string> {
  const { database } = api.composed.services;
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
        and table_name not in ('platform_process', 'runner_token_creator') order by 1`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => database.query(`select t::text as row from ${name} t order by 1`)),
  );
  return JSON.stringify(tables.map(({ name }, index) => [name, rows[index]]));
}

describe.each([...wireFaults, 'gone'] as const)(
  'while the answer of the authentication service is: %s',
  (kind) => {
    let target: TestApi;
    beforeAll(async () => {
      target =
        kind === 'gone'
          ? await startTestApi({ ...platform.environment, AUTH_URL: 'http://127.0.0.1:9' })
          : api;
    });
    afterAll(async () => {
      if (target !== api) await target.stop();
    });
    beforeEach(() => {
      if (kind !== 'gone') wire.fault = { path: '', kind: kind as WireFault };
    });
    const callTarget = (route: Route, token: string) =>
      ask(target.url, route.method, route.path.replaceAll(/\{\w+\+?\}/g, someId), {
        token,
        ...(route.method === 'GET' ? {} : { json: { email: 'somebody@example.org', name: 'never written' } }),
      });

    test('every route that needs a token is 503 with the common body, never open, never 401, and writes nothing', async () => {
      const before = await everything();
      for (const token of [people.Administrator.token, people.offlineToken]) {
        const answers = await Promise.all(
          guarded.map(async (route) => ({ route, answer: await callTarget(route, token) })),
        );
        for (const { route, answer } of answers) {
          const coded = route.errorStyle === 'coded' ? { code: 'unavailable' } : {};
          expect([route.id, answer.status, answer.body]).toEqual([
            route.id,
            503,
            { status: 'error', ...coded, message: unavailable },
          ]);
        }
      }
      expect(await everything()).toBe(before);
    });

    test('its own routes are 503 with the common body under the platform’s address', async () => {
      const answers = await Promise.all(
        authRoutes.map(async (route) => ({
          route,
          answer: await callTarget(route, people.Administrator.token),
        })),
      );
      for (const { route, answer } of answers) {
        const status = kind === 'failing' ? 500 : 503;
        expect([route.id, answer.status]).toEqual([route.id, status]);
        if (status === 503) expect(answer.body).toEqual({ status: 'error', message: unavailable });
      }
    });

    test('health, the reference and managed ingest continue, and a call without a token is 401', async () => {
      for (const path of ['/health_check', '/api/v2/health', '/api/v2/openapi.json', '/docs'])
        expect([path, (await ask(target.url, 'GET', path)).status]).toEqual([path, 200]);
      const sent = await fetch(target.url + ingest.path, {
        method: 'POST',
        headers: { 'x-ingest-secret': ingest.secret, 'content-type': 'text/csv' },
        body: 't,v\n1,2\n',
      });
      expect(sent.status).toBe(201);
      expect((await ask(target.url, 'GET', '/user_data')).status).toBe(401);
    });
  },
);

describe('while the authentication service accepts calls and never answers', () => {
  test('every route that needs a token is 503 within the bound of one call, however many wait, and writes nothing', async () => {
    const before = await everything();
    wire.fault = { path: '', kind: 'silent' };
    const startedAt = performance.now();
    const answers = await Promise.all(guarded.map((route) => call(route, people.Administrator.token)));
    const seconds = (performance.now() - startedAt) / 1000;
    for (const { status, body } of answers) expect([status, body.message]).toEqual([503, unavailable]);
    expect(seconds).toBeGreaterThan(limits.authCallSeconds - 1);
    expect(seconds).toBeLessThan(stretched(limits.authCallSeconds + 4));
    // One token needs one request to the service.
    expect(wire.calls.filter((path) => path === 'POST /validate')).toHaveLength(1);
    expect(await everything()).toBe(before);
  });

  test('its own routes are 503 within their bound', async () => {
    wire.fault = { path: '', kind: 'silent' };
    const routeSets = [forwardTo(wire.url, authRoutes, undefined, 300)];
    const shutdown = new AbortController();
    const { log } = api.composed.services;
    const app = createApp({ routeSets, log, shutdown: shutdown.signal });
    const server = await listen(app.callback(), { port: 0, shutdown });
    const json = { username: 'x', password: 'y' };
    const answer = await ask(server.url, 'POST', '/api/authorization/token', { json });
    await server.stop(1);
    expect([answer.status, answer.body]).toEqual([503, { status: 'error', message: unavailable }]);
  });
});

describe('checks of one token', () => {
  test('at the same moment share one call; later checks and other tokens make their own', async () => {
    wire.slownessMs = 300;
    const read = (token: string) => ask(api.url, 'GET', '/user_data', { token });
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () => read(people.Trainee.token)),
      read(people.Developer.token),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(21).fill(200));
    expect(answers.at(-1)?.body.Role).toBe('Developer');
    expect(wire.calls).toEqual(['POST /validate', 'POST /validate']);
    await read(people.Trainee.token);
    expect(wire.calls).toHaveLength(3);
  });

  test('that fail, fail for all callers that shared it, and the next one makes a new call', async () => {
    wire.fault = { path: '/validate', kind: 'failing' };
    const read = () => ask(api.url, 'GET', '/user_data', { token: people.Trainee.token });
    const answers = await Promise.all(Array.from({ length: 10 }, read));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    wire.fault = null;
    expect((await read()).status).toBe(200);
  });
});

/** A raw request, which `fetch` would normalise. */
async function raw(method: string, path: string, text = '', headers: Record<string, string> = {}) {
  const { port } = new URL(api.url);
  return await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = sendRequest({ port, path, method, headers, agent: false }, (answer) => {
      buffer(answer).then(
        (bytes) => resolve({ status: answer.statusCode ?? 0, body: bytes.toString() }),
        reject,
      );
    });
    sent.on('error', reject).end(text);
  });
}

describe('what is passed on to the authentication service', () => {
  test('goes to it, also when the target names another host', async () => {
    const { status } = await raw('GET', 'http://127.0.0.1:9/api/authorization/health?x=1');
    expect([status, wire.calls]).toEqual([200, ['GET /health?x=1', 'POST /users/active']]);
  });

  test('leaves its routes by no path, and arrives letter by letter', async () => {
    for (const path of [
      '/offline_token/.',
      '/../../health_check',
      '/%2e%2e/users',
      '/users//x',
      '/users/%zz',
    ]) {
      const { status } = await raw('DELETE', `/api/authorization${path}`);
      expect([path, status, wire.calls.at(-1)]).toEqual([path, expect.any(Number), `DELETE ${path}`]);
      expect([401, 404, 405]).toContain(status);
    }
  });

  test('is judged by it alone: the token before the body, and the body as it came', async () => {
    const twice = '{"newPassword":"a good password","newPassword":"a good password"}';
    const path = `/api/authorization/users/${someId}/password`;
    const json = { 'content-type': 'application/json' };
    expect((await raw('POST', path, twice, json)).status).toBe(401);
    const authorization = `Bearer ${people.adminToken}`;
    expect(await raw('POST', path, twice, { ...json, authorization })).toMatchObject({
      status: 400,
      body: expect.stringContaining('the same key twice'),
    });
    const packed = { ...json, 'content-encoding': 'gzip', authorization };
    expect((await raw('POST', path, twice, packed)).status).toBe(415);
    const long = ' '.repeat(limits.jsonBodyBytes + 1);
    expect((await raw('POST', path, long, { ...json, authorization })).status).toBe(413);
    const chunked = { ...json, authorization, 'transfer-encoding': 'chunked' };
    expect((await raw('POST', path, twice, chunked)).status).toBe(400);
  });
});
