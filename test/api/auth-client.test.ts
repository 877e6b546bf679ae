import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAuth } from '../../auth/main.ts';
import { authServerSettings, authSettings } from '../../auth/settings.ts';
import type { RunningServer } from '../../http/server.ts';
import { ask, makePeople, type People, startTestApi, type TestApi } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
let auth: RunningServer;
let api: TestApi;
let people: People;
beforeAll(async () => {
  auth = await startAuth(
    authSettings.parse(platform.environment),
    authServerSettings.parse({ PORT: '0', LOG_LEVEL: 'silent', RESPONSE_CHECKS: 'strict' }),
  );
  api = await startTestApi({ ...platform.environment, AUTH_URL: `${auth.url}/` });
  people = await makePeople(auth.url, platform.administrator);
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
  test('that are under way at the same moment share one call, and later ones ask again', async () => {
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
