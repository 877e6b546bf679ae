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
