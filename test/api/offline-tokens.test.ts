import { describe, expect, test } from 'vitest';
import { apiStage, ask } from '../support/api.ts';

const { api, people } = await apiStage();
const path = '/api/v2/admin/offline-tokens';

describe('offline tokens on the platform interface', () => {
  test('are created, listed and revoked by Administrators, as in the authentication service', async () => {
    const token = people.Administrator.token;
    const made = await ask(api.url, 'POST', path, { token });
    expect([made.status, Object.keys(made.body).sort()]).toEqual([200, ['expiresAt', 'token']]);
    expect((await ask(api.url, 'GET', '/user_data', { token: made.body.token })).status).toBe(200);
    const list = await ask(api.url, 'GET', path, { token });
    const same = await ask(api.url, 'GET', '/api/authorization/offline_token', { token });
    expect(list.body).toEqual(same.body);
    const hint = made.body.token.slice(-4);
    const { secretId } = list.body.find((item: { tokenHint: string }) => item.tokenHint === hint);
    expect((await ask(api.url, 'DELETE', `${path}/${secretId}`, { token })).status).toBe(204);
    expect((await ask(api.url, 'GET', '/user_data', { token: made.body.token })).status).toBe(401);
    for (const id of ['x', '00000000-0000-4000-8000-000000000000']) {
      expect((await ask(api.url, 'DELETE', `${path}/${id}`, { token })).status).toBe(404);
    }
  });

  test('are closed to offline tokens and other roles with 403', async () => {
    for (const token of [people.offlineToken, people.Instructor.token, people.Developer.token]) {
      expect((await ask(api.url, 'POST', path, { token })).status).toBe(403);
      expect((await ask(api.url, 'GET', path, { token })).status).toBe(403);
      expect((await ask(api.url, 'DELETE', `${path}/x`, { token })).status).toBe(403);
    }
  });
});
