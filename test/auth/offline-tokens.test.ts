import { describe, expect, test } from 'vitest';
import { authWorld } from './support.ts';

const { auth, database, isAccepted, people } = await authWorld();

describe('offline tokens', () => {
  test('live twelve calendar months, are listed without values, and are revoked one by one', async () => {
    const made = await auth('POST', '/offline_token', { token: people.adminToken });
    const other = await auth('POST', '/offline_token', { token: people.Administrator.token });
    const now = new Date();
    const inTwelveMonths = new Date(now).setUTCFullYear(now.getUTCFullYear() + 1);
    expect(Math.abs(Date.parse(made.body.expiresAt) - inTwelveMonths)).toBeLessThan(86_400_000);
    expect(await isAccepted(made.body.token)).toBe(true);
    const list = await auth('GET', '/offline_token', { token: people.adminToken });
    const item = list.body.find(
      (each: { tokenHint: string }) => each.tokenHint === made.body.token.slice(-4),
    );
    expect(item).toMatchObject({ username: 'admin', revoked: false, expiresAt: made.body.expiresAt });
    expect(
      list.body.some((each: { username: string }) => each.username === people.Administrator.username),
    ).toBe(true);
    expect(JSON.stringify(list.body)).not.toContain(made.body.token);
    const path = `/offline_token/${item.secretId}`;
    expect((await auth('DELETE', path, { token: people.adminToken })).status).toBe(204);
    expect(await isAccepted(made.body.token)).toBe(false);
    expect(await isAccepted(other.body.token)).toBe(true);
    for (const id of ['abc', '00000000-0000-4000-8000-000000000000']) {
      expect((await auth('DELETE', `/offline_token/${id}`, { token: people.adminToken })).status).toBe(404);
    }
  });

  test('have ids that sort by the time when they were made, as sessions and tasks have', async () => {
    await auth('POST', '/offline_token', { token: people.adminToken });
    const { body } = await auth('GET', '/offline_token', { token: people.adminToken });
    for (const { secretId } of body) expect(secretId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const { rows } = await database.query('select id from auth.tokens');
    expect(rows.filter(({ id }) => id[14] !== '7')).toEqual([]);
  });

  test('show when they were last used, written at most once a minute', async () => {
    const made = await auth('POST', '/offline_token', { token: people.adminToken });
    const lastUsed = async () => {
      const { rows } = await database.query('select last_used_at from auth.tokens where hint = $1', [
        made.body.token.slice(-4),
      ]);
      return rows[0].last_used_at as Date | null;
    };
    expect(await lastUsed()).toBeNull();
    await isAccepted(made.body.token);
    await expect.poll(lastUsed).not.toBeNull();
    const first = await lastUsed();
    await isAccepted(made.body.token);
    expect(await lastUsed()).toEqual(first);
  });

  test('are refused by every other route of the authentication service with 403', async () => {
    const id = people.Trainee.userId;
    const calls = [
      ['POST', '/offline_token'],
      ['GET', '/offline_token'],
      ['DELETE', `/offline_token/${id}`],
      ['POST', '/logout'],
      ['POST', '/revoke'],
      ['GET', '/users'],
      ['POST', '/users'],
      ['GET', `/users/${id}`],
      ['PATCH', `/users/${id}`],
      ['DELETE', `/users/${id}`],
      ['POST', '/users/resolve'],
      ['POST', `/users/${id}/password`],
      ['POST', '/users/lookup'],
      ['POST', '/users/active', { ids: [] }],
      ['POST', '/token', { username: 'nobody', password: 'nothing' }],
      ['POST', '/refresh', { refreshToken: 'none' }],
    ] as const;
    for (const [method, path, json] of calls) {
      const answer = await auth(method, path, { token: people.offlineToken, json });
      expect([method, path, answer.status]).toEqual([method, path, 403]);
    }
  });

  test('are created only by Administrators', async () => {
    for (const role of ['Instructor', 'Trainee', 'Developer'] as const) {
      expect((await auth('POST', '/offline_token', { token: people[role].token })).status).toBe(403);
      expect((await auth('GET', '/offline_token', { token: people[role].token })).status).toBe(403);
    }
    expect((await auth('GET', '/offline_token')).status).toBe(401);
  });
});
