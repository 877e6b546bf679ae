/** A caller's own account, and offline tokens. */
import { describe, expect, test } from 'vitest';
import { roles } from '../../domain/access/access.ts';
import { apiStage, ask } from '../support/api.ts';

const { api, people } = await apiStage();

describe('GET /user_data', () => {
  test('shows exactly the documented fields, in PascalCase, for every role and for offline tokens', async () => {
    for (const role of roles) {
      const { status, body } = await ask(api.url, 'GET', '/user_data', { token: people[role].token });
      expect(status).toBe(200);
      expect(body).toEqual({
        UserId: people[role].userId,
        Username: people[role].username,
        FirstName: role,
        LastName: expect.stringMatching(/^No \d+$/),
        Title: '',
        Company: '',
        Email: people[role].email,
        Role: role,
        CreatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        UpdatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        ForceChangePasswordNextSignin: false,
        IsRegistrationComplete: true,
        HasAcceptedDataPrivacy: false,
        IsActive: true,
      });
    }
    const device = await ask(api.url, 'GET', '/api/v2/user_data', { token: people.offlineToken });
    expect([device.status, device.body.Username]).toEqual([200, 'admin']);
  });

  test('accepts the scheme in any spelling, and no other scheme', async () => {
    const { token } = people.Trainee;
    const status = async (authorization: string) =>
      (await ask(api.url, 'GET', '/user_data', { headers: { authorization } })).status;
    expect(await status(`bearer ${token}`)).toBe(200);
    expect(await status(`BEARER   ${token} `)).toBe(200);
    for (const wrong of [token, `Basic ${token}`, `Bearer${token}`, 'Bearer', `Bearer ${token} x`]) {
      expect([wrong.slice(0, 10), await status(wrong)]).toEqual([wrong.slice(0, 10), 401]);
    }
  });
});

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
