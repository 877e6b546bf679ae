import { describe, expect, test } from 'vitest';
import { authRoutes } from '../../auth/service.ts';
import { ask } from '../support/api.ts';
import { authWorld } from './support.ts';

const world = await authWorld();
const { api, auth, people, newPerson, refresh, remember } = world;
const message = 'The password must be changed before this account can be used.';
const someId = '00000000-0000-4000-8000-000000000000';
const duty = { forceChangePasswordNextSignin: true };

describe('a user who must change the password', () => {
  test('is refused with 401 by every route of the authentication service but validation, logout and the own password', async () => {
    const person = await newPerson('Administrator', duty);
    const guarded = authRoutes.filter(({ access }) => !access.open);
    expect(guarded.length).toBeGreaterThan(8);
    for (const { id, method, path } of guarded) {
      if (id === 'signOut') continue;
      const filled = path.replaceAll(/\{\w+\}/g, people.Trainee.userId);
      const json = {
        newPassword: 'another good password',
        ids: [],
        email: 'a@example.org',
        username: 'admin',
      };
      const answer = await ask(api.url, method, filled, {
        token: person.token,
        ...(method === 'GET' ? {} : { json }),
      });
      expect([id, answer.status, answer.body.message]).toEqual([id, 401, message]);
    }
    const valid = await auth('POST', '/validate', { json: { token: person.token } });
    expect([valid.status, valid.body.forceChangePasswordNextSignin]).toEqual([200, true]);
  });

  test('needs the present password for the change even as an Administrator, and is free after it, with the same token', async () => {
    const person = await newPerson('Administrator', duty);
    const change = (json: object) =>
      auth('POST', `/users/${person.userId}/password`, { token: person.token, json });
    const newPassword = 'another good password';
    expect((await change({ newPassword })).status).toBe(400);
    expect((await change({ newPassword, currentPassword: 'wrong' })).status).toBe(400);
    expect((await auth('GET', '/users', { token: person.token })).status).toBe(401);
    // For one's own account the request to keep the duty is ignored.
    const json = { newPassword, currentPassword: person.password, ...duty };
    expect((await change(json)).status).toBe(204);
    expect((await auth('GET', '/users', { token: person.token })).status).toBe(200);
    expect((await ask(api.url, 'GET', '/user_data', { token: person.token })).status).toBe(200);
  });

  test('is not free of it by the password that was set for them, and keeps it', async () => {
    const person = await newPerson('Developer', duty);
    const change = (json: object) =>
      auth('POST', `/users/${person.userId}/password`, { token: person.token, json });
    const { password } = person;
    const refused = await change({ currentPassword: password, newPassword: password });
    const said = 'The new password must differ from the current one.';
    expect([refused.status, refused.body.message]).toEqual([400, said]);
    // Only a caller who knows the password learns that it is the same.
    const guessed = await change({ currentPassword: 'a wrong password', newPassword: 'a wrong password' });
    expect([guessed.status, guessed.body.message]).toEqual([400, 'The current password is wrong.']);
    expect((await auth('GET', '/users', { token: person.token })).status).toBe(401);
    const another = { currentPassword: password, newPassword: 'another good password' };
    expect((await change(another)).status).toBe(204);
    expect((await auth('GET', '/users', { token: person.token })).status).toBe(200);
  });

  test('is bound by it through all sign-ins and refreshes, from the moment that it is laid on them', async () => {
    const person = await newPerson('Developer');
    const remembered = await remember(person);
    const status = async (token: string) => (await ask(api.url, 'GET', '/projects', { token })).status;
    expect(await status(remembered.accessToken)).toBe(200);
    await auth('PATCH', `/users/${person.userId}`, { token: people.adminToken, json: duty });
    expect([await status(remembered.accessToken), await status(person.token)]).toEqual([401, 401]);
    const fresh = (await refresh(remembered.refreshToken)).body.accessToken;
    expect(await status(fresh)).toBe(401);
    expect((await auth('POST', '/logout', { token: fresh })).status).toBe(204);
  });

  test('gets it with a password that an Administrator set so, and not otherwise', async () => {
    const person = await newPerson('Trainee');
    const set = (json: object) =>
      auth('POST', `/users/${person.userId}/password`, { token: people.adminToken, json });
    const read = async (password: string) => {
      const { body } = await auth('POST', '/token', { json: { username: person.username, password } });
      return (await ask(api.url, 'GET', '/user_data', { token: body.accessToken })).status;
    };
    expect((await set({ newPassword: 'first password of theirs', ...duty })).status).toBe(204);
    expect(await read('first password of theirs')).toBe(401);
    expect((await set({ newPassword: 'second password of theirs' })).status).toBe(204);
    expect(await read('second password of theirs')).toBe(200);
    expect(
      (
        await auth('POST', `/users/${someId}/password`, {
          token: people.adminToken,
          json: { newPassword: 'x' },
        })
      ).status,
    ).toBe(400);
  });
});
