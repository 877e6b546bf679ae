import { describe, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { authWorld } from './support.ts';

const serviceKey = 'k'.repeat(40);
const world = await authWorld({ AUTH_SERVICE_KEY: serviceKey });
const { api, auth, people, isAccepted, newPerson, refresh, remember } = world;
const admin = { token: people.adminToken };

describe('revoking all tokens of a user by name', () => {
  test('ends sign-ins, refresh tokens and devices of this user at once, in the service and on the platform', async () => {
    const person = await newPerson('Administrator');
    const remembered = await remember(person);
    const device = (await auth('POST', '/offline_token', { token: person.token })).body.token;
    const other = (await auth('POST', '/offline_token', admin)).body.token;
    const mine = [person.token, remembered.accessToken, device];
    for (const token of mine) expect(await isAccepted(token)).toBe(true);

    const json = { username: ` ${person.username.toUpperCase()} ` };
    const answer = await auth('POST', '/revoke', { ...admin, json });
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'ok', username: person.username, revoked: 4 },
    ]);
    for (const token of mine) {
      expect(await isAccepted(token)).toBe(false);
      expect((await auth('POST', '/validate', { json: { token } })).status).toBe(401);
      expect((await auth('GET', '/users', { token })).status).toBe(401);
    }
    expect((await refresh(remembered.refreshToken)).status).toBe(401);
    expect(await isAccepted(other)).toBe(true);
    expect(await isAccepted(people.adminToken)).toBe(true);
    const list = (await ask(api.url, 'GET', '/api/v2/admin/offline-tokens', admin)).body;
    const revoked = (token: string) =>
      list.find((item: { tokenHint: string }) => item.tokenHint === token.slice(-4)).revoked;
    expect([revoked(device), revoked(other)]).toEqual([true, false]);

    expect((await auth('POST', '/revoke', { ...admin, json })).body.revoked).toBe(0);
    await remember(person);
  });

  test('reports its time to the platform, so that its runner tokens end too', async () => {
    const person = await newPerson();
    const active = async () =>
      (await auth('POST', '/users/active', { token: serviceKey, json: { ids: [person.userId] } })).body.users;
    expect(await active()).toEqual([{ userId: person.userId, role: 'Developer', tokensRevokedAt: null }]);
    const before = Date.now();
    await auth('POST', '/revoke', { ...admin, json: { username: person.username } });
    const [{ tokensRevokedAt }] = await active();
    expect(Date.parse(tokensRevokedAt)).toBeGreaterThanOrEqual(before - 1000);
    await auth('PATCH', `/users/${person.userId}`, { ...admin, json: { isActive: false } });
    expect(await active()).toEqual([]);
  });

  test('is refused for others by everybody but Administrators, and ends nothing then', async () => {
    const person = await newPerson('Trainee');
    const json = { username: person.username };
    for (const role of ['Instructor', 'Trainee', 'Developer'] as const)
      expect((await auth('POST', '/revoke', { token: people[role].token, json })).status).toBe(403);
    expect((await auth('POST', '/revoke', { token: people.offlineToken, json })).status).toBe(403);
    expect((await auth('POST', '/revoke', { json })).status).toBe(401);
    expect(await isAccepted(person.token)).toBe(true);
  });
});

describe('what ends with its Administrator', () => {
  test.each([
    ['deleted', 'DELETE', undefined],
    ['deactivated', 'PATCH', { isActive: false }],
  ] as const)('the devices of one who was %s', async (_, method, json) => {
    const person = await newPerson('Administrator');
    const device = (await auth('POST', '/offline_token', { token: person.token })).body.token;
    const answer = await auth(method, `/users/${person.userId}`, {
      ...admin,
      json,
    });
    expect(answer.status).toBeLessThan(300);
    expect(await isAccepted(device)).toBe(false);
    expect((await auth('POST', '/validate', { json: { token: device } })).status).toBe(401);
  });

  test('not the devices of one who became a Developer, which follow the present role', async () => {
    const person = await newPerson('Administrator');
    const device = (await auth('POST', '/offline_token', { token: person.token })).body.token;
    await auth('PATCH', `/users/${person.userId}`, { ...admin, json: { role: 'Trainee' } });
    const answer = await ask(api.url, 'GET', '/user_data', { token: device });
    expect([answer.status, answer.body.Role]).toEqual([200, 'Trainee']);
    expect((await ask(api.url, 'GET', '/api/v2/session', { token: device })).status).toBe(403);
  });
});
