import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAuth } from '../../auth/main.ts';
import { authServerSettings, authSettings } from '../../auth/settings.ts';
import type { RunningServer } from '../../http/server/server.ts';
import { ask, makePeople, type People, startTestApi, type TestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const processes = testProcesses(platform.environment);
let auth: RunningServer;
let api: TestApi;
let people: People;
beforeAll(async () => {
  auth = await startAuth(
    authSettings.parse(platform.environment),
    authServerSettings.parse({ PORT: '0', LOG_LEVEL: 'silent', RESPONSE_CHECKS: 'strict' }),
  );
  api = await startTestApi({ ...platform.environment, AUTH_URL: `${auth.url}/` });
  people = await makePeople(auth.url, platform);
});
afterAll(async () => {
  await api.stop();
  await auth.stop(1);
});

describe('a separate authentication service', () => {
  test('decides about every token, as the one inside does', async () => {
    const token = people.Trainee.token;
    expect((await ask(api.url, 'GET', '/user_data', { token })).body.Role).toBe('Trainee');
    expect((await ask(api.url, 'GET', '/user_data', { token: people.offlineToken })).status).toBe(200);
    expect((await ask(api.url, 'GET', '/user_data', { token: 'x' })).status).toBe(401);
    await ask(auth.url, 'POST', '/api/authorization/logout', { token });
    expect((await ask(api.url, 'GET', '/user_data', { token })).status).toBe(401);
  });

  test('answers under the address of the platform too, with its own statuses and headers', async () => {
    const json = { username: people.Developer.username, password: people.Developer.password };
    const signedIn = await ask(api.url, 'POST', '/api/authorization/token', { json });
    expect([signedIn.status, signedIn.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const token = signedIn.body.accessToken;
    expect((await ask(api.url, 'POST', '/api/authorization/logout', { token })).status).toBe(204);
    const wrong = await ask(api.url, 'GET', '/api/authorization/token');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    const refused = await ask(api.url, 'GET', '/api/authorization/users', { token: people.offlineToken });
    expect([refused.status, refused.body.status]).toEqual([403, 'error']);
    const missing = await ask(api.url, 'GET', '/api/authorization/users');
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await ask(api.url, 'GET', '/api/authorization/health')).body).toEqual({ status: 'ok' });
  });

  test('shows people to those who may see them', async () => {
    const { auth: client } = api.composed.services;
    const { Instructor, Developer } = people;
    const found = await client.resolveEmail(Instructor.token, ` ${Developer.email.toUpperCase()} `, 'x');
    expect(found?.userId).toBe(Developer.userId);
    expect(await client.resolveEmail(Instructor.token, 'nobody@example.org', 'x')).toBeNull();
    expect(await client.resolveEmail(people.offlineToken, Developer.email, 'x')).toBeNull();
    expect((await client.findPerson(Instructor.token, Developer.userId, 'x'))?.username).toBe(
      Developer.username,
    );
    expect(await client.findPerson(Instructor.token, 'no-id', 'x')).toBeNull();
  });

  test('that does not answer makes every guarded route 503, never open and never 401', async () => {
    const away = await startTestApi({ ...platform.environment, AUTH_URL: 'http://127.0.0.1:9' });
    const answer = await ask(away.url, 'GET', '/user_data', { token: people.Developer.token });
    expect([answer.status, answer.body.message]).toEqual([
      503,
      'Service unavailable. Please try again later.',
    ]);
    expect((await ask(away.url, 'GET', '/user_data')).status).toBe(401);
    expect((await ask(away.url, 'GET', '/api/v2/health')).status).toBe(200);
    await away.stop();
  });
});

describe('checks of one token', () => {
  test('at the same moment share one call, and later ones make a new call', async () => {
    const { services } = api.composed;
    const before = people.Developer.token;
    const [one, other] = [services.auth.identify(before, 'x'), services.auth.identify(before, 'y')];
    expect(one).toBe(other);
    expect((await one)?.role).toBe('Developer');
    const later = services.auth.identify(before, 'z');
    expect(later).not.toBe(one);
    expect((await later)?.role).toBe('Developer');
  });
});

describe('a separate authentication service that stops', () => {
  const path = '/api/authorization';
  /** The answer, or the code of the failure. */
  const answerTo = (call: ClientRequest) =>
    new Promise<readonly [number | string | undefined, string | undefined]>((resolve) => {
      call.on('response', (response: IncomingMessage) => {
        response.resume();
        response.on('end', () => resolve([response.statusCode, response.headers.connection]));
      });
      call.on('error', (error: NodeJS.ErrnoException) => resolve([error.code, undefined]));
    });

  test('reports it to its load balancer, finishes open calls, closes idle connections with their last answer, and loses no call', async () => {
    const leaving = await processes.startAuth({ variables: { SHUTDOWN_DELAY_SECONDS: '1' } });
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const busy = new Agent({ keepAlive: true });
    const get = (url: string, agent: Agent | false = false) =>
      answerTo(request(`${url}${path}/health`, { agent }).end());
    try {
      expect(await get(leaving.url, kept)).toEqual([200, 'keep-alive']);
      const { username, password } = people.Developer;
      const body = JSON.stringify({ username, password });
      const underWay = request(`${leaving.url}${path}/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      });
      underWay.write(body.slice(0, 5));
      const signedIn = answerTo(underWay);

      // Calls without a pause, over kept connections, to the first of two services until its health check fails.
      let first = leaving.url;
      let isOver = false;
      const statuses: unknown[] = [];
      const callers = Array.from({ length: 4 }, async () => {
        while (!isOver) {
          const options = { agent: busy, headers: { authorization: `Bearer ${people.adminToken}` } };
          statuses.push((await answerTo(request(`${first}${path}/users`, options).end()))[0]);
        }
      });
      leaving.kill('SIGTERM');
      await eventually('the health check says no', async () => (await get(leaving.url))[0] === 503);
      first = auth.url;
      expect(await get(leaving.url, kept)).toEqual([503, 'close']);
      underWay.end(body.slice(5));
      expect(await signedIn).toEqual([200, 'close']);
      expect(await leaving.ended).toBe(0);
      expect(await get(leaving.url)).toEqual(['ECONNREFUSED', undefined]);
      isOver = true;
      await Promise.all(callers);
      expect(statuses.length).toBeGreaterThan(10);
      expect(new Set(statuses)).toEqual(new Set([200]));
    } finally {
      kept.destroy();
      busy.destroy();
    }
  });

  test('finishes open calls without a load balancer too', async () => {
    const own = await startAuth(
      authSettings.parse(platform.environment),
      authServerSettings.parse({ PORT: '0', LOG_LEVEL: 'silent' }),
    );
    const { username, password } = people.Developer;
    const body = JSON.stringify({ username, password });
    const underWay = request(`${own.url}${path}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    });
    const accepted = new Promise((resolve) => own.server.once('request', resolve));
    underWay.write(body.slice(0, 5));
    await accepted;
    const signedIn = answerTo(underWay);
    const stopped = own.stop();
    underWay.end(body.slice(5));
    expect(await signedIn).toEqual([200, 'close']);
    await stopped;
  });
});
