import { describe, expect, test } from 'vitest';
import { formatToken, tokenFamily } from '../../domain/access/token-format.ts';
import { limits } from '../../domain/limits.ts';
import { ask, makePerson, tokenOf } from '../support/api.ts';
import { authWorld } from './support.ts';

const { api, auth, database, isAccepted, people, platform } = await authWorld();
const { username, password } = platform.administrator;

describe('signing in', () => {
  test('returns an access token of eight hours, and a refresh token only with rememberMe', async () => {
    const plain = await auth('POST', '/token', { json: { username, password } });
    expect(plain.status).toBe(200);
    expect(plain.body).toMatchObject({
      tokenType: 'Bearer',
      refreshToken: null,
      refreshExpiresAt: null,
      user: { username: 'admin', role: 'Administrator', isActive: true },
    });
    expect(tokenFamily(plain.body.accessToken)).toBe('access');
    const hours = (Date.parse(plain.body.expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeCloseTo(8, 1);
    const kept = await auth('POST', '/token', { json: { username: ' ADMIN ', password, rememberMe: true } });
    expect(tokenFamily(kept.body.refreshToken)).toBe('refresh');
    expect((Date.parse(kept.body.refreshExpiresAt) - Date.now()) / 86_400_000).toBeCloseTo(30, 1);
  });

  test('answers unknown user, wrong password and inactive account alike', async () => {
    const idle = await makePerson(api.url, people.adminToken, 'Trainee');
    await auth('PATCH', `/users/${idle.userId}`, { token: people.adminToken, json: { isActive: false } });
    const answers = await Promise.all([
      auth('POST', '/token', { json: { username: 'nobody', password } }),
      auth('POST', '/token', { json: { username: people.Trainee.username, password: 'wrong password' } }),
      auth('POST', '/token', { json: { username: idle.username, password: idle.password } }),
      auth('POST', '/token', { json: { username: 'nobody', password: 'x'.repeat(300_000) } }),
    ]);
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([401, { status: 'error', message: 'Invalid username or password.' }]);
    }
  });

  test('refuses bodies of the wrong form with 400', async () => {
    for (const json of [
      {},
      { username },
      { username: 1, password },
      [],
      'x',
      { username, password, rememberMe: 'yes' },
    ]) {
      expect((await auth('POST', '/token', { json })).status).toBe(400);
    }
  });

  test('stores no token value, only digests', async () => {
    const token = await tokenOf(api.url, username, password);
    const { rows } = await database.query('select t::text as row from auth.tokens t');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.some((row) => row.row.includes(token.slice(4, 20)))).toBe(false);
  });
});

describe('a token', () => {
  test('is refused as garbage, with a wrong checksum, unknown, expired, revoked, or without its user', async () => {
    const good = await makePerson(api.url, people.adminToken, 'Developer');
    expect(await isAccepted(good.token)).toBe(true);
    const last = good.token.at(-1) === 'a' ? 'b' : 'a';
    const unknown = formatToken('access', Buffer.alloc(32, 7));
    const expired = await tokenOf(api.url, good.username, good.password);
    await database.query("update auth.tokens set expires_at = now() - interval '1 s' where hint = $1", [
      expired.slice(-4),
    ]);
    for (const token of ['x', 'hat_', good.token.slice(0, -1) + last, unknown, expired, `${good.token}x`]) {
      const answer = await ask(api.url, 'GET', '/user_data', { token });
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect((await auth('POST', '/validate', { json: { token } })).status).toBe(401);
    }
    await auth('DELETE', `/users/${good.userId}`, { token: people.adminToken });
    expect(await isAccepted(good.token)).toBe(false);
  });

  test('ends at once when its user is deactivated, and stays ended when the user is reactivated', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Instructor');
    const path = `/users/${person.userId}`;
    await auth('PATCH', path, { token: people.adminToken, json: { isActive: false } });
    expect(await isAccepted(person.token)).toBe(false);
    await auth('PATCH', path, { token: people.adminToken, json: { isActive: true } });
    expect(await isAccepted(person.token)).toBe(false);
  });

  test('follows the present role of its user', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Instructor');
    await auth('PATCH', `/users/${person.userId}`, { token: people.adminToken, json: { role: 'Trainee' } });
    expect((await ask(api.url, 'GET', '/user_data', { token: person.token })).body.Role).toBe('Trainee');
  });

  test('is ended by logout, with its refresh token, and no other is', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Trainee');
    const credentials = { username: person.username, password: person.password };
    const { body } = await auth('POST', '/token', { json: { ...credentials, rememberMe: true } });
    expect((await auth('POST', '/logout', { token: body.accessToken })).status).toBe(204);
    expect(await isAccepted(body.accessToken)).toBe(false);
    expect((await auth('POST', '/refresh', { json: { refreshToken: body.refreshToken } })).status).toBe(401);
    expect(await isAccepted(person.token)).toBe(true);
  });
});

describe('refreshing', () => {
  test('replaces the refresh token; using a replaced one ends the family', async () => {
    const credentials = { username: people.Developer.username, password: people.Developer.password };
    const first = (await auth('POST', '/token', { json: { ...credentials, rememberMe: true } })).body;
    const second = await auth('POST', '/refresh', { json: { refreshToken: first.refreshToken } });
    expect(second.status).toBe(200);
    expect(second.body.user).toEqual(first.user);
    expect(await isAccepted(second.body.accessToken)).toBe(true);
    expect((await auth('POST', '/refresh', { json: { refreshToken: first.refreshToken } })).status).toBe(401);
    const { refreshToken, accessToken } = second.body;
    expect((await auth('POST', '/refresh', { json: { refreshToken } })).status).toBe(401);
    expect(await isAccepted(accessToken)).toBe(false);
    expect(await isAccepted(people.Developer.token)).toBe(true);
  });

  test('of one token at the same moment returns at most one new family member', async () => {
    const credentials = { username: people.Developer.username, password: people.Developer.password };
    const first = (await auth('POST', '/token', { json: { ...credentials, rememberMe: true } })).body;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        auth('POST', '/refresh', { json: { refreshToken: first.refreshToken } }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  test('accepts no other kind of token', async () => {
    for (const refreshToken of [people.Developer.token, people.offlineToken, 'x', '']) {
      expect((await auth('POST', '/refresh', { json: { refreshToken } })).status).toBe(401);
    }
  });
});

describe('revoking all tokens', () => {
  test('is for Administrators and for oneself, and returns the number of ended tokens', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Trainee');
    await tokenOf(api.url, person.username, person.password);
    const json = { username: person.username };
    expect((await auth('POST', '/revoke', { token: people.Instructor.token, json })).status).toBe(403);
    const answer = await auth('POST', '/revoke', { token: people.adminToken, json });
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'ok', username: person.username, revoked: 2 },
    ]);
    expect(await isAccepted(person.token)).toBe(false);
    const own = await tokenOf(api.url, person.username, person.password);
    expect((await auth('POST', '/revoke', { token: own, json })).body.revoked).toBe(1);
    expect(await isAccepted(own)).toBe(false);
    const unknown = await auth('POST', '/revoke', { token: people.adminToken, json: { username: 'nobody' } });
    expect([unknown.status, unknown.body.message]).toEqual([404, 'User not found.']);
  });
});

describe('validation', () => {
  test('returns exactly the documented fields', async () => {
    const answer = await auth('POST', '/validate', { json: { token: people.Trainee.token } });
    expect(Object.keys(answer.body).sort()).toEqual(
      [
        ...['userId', 'username', 'firstName', 'lastName', 'title', 'company', 'email', 'role', 'createdAt'],
        ...['updatedAt', 'forceChangePasswordNextSignin', 'isRegistrationComplete', 'hasAcceptedDataPrivacy'],
        ...['isActive', 'isOfflineToken'],
      ].sort(),
    );
    expect(answer.body).toMatchObject({ role: 'Trainee', isOfflineToken: false });
  });

  test('knows offline tokens, is open to all, and asks for a token', async () => {
    const json = { token: people.offlineToken };
    const open = await auth('POST', '/validate', { json });
    expect(open.body).toMatchObject({ username: 'admin', isOfflineToken: true });
    expect((await auth('POST', '/validate', { json, token: people.offlineToken })).status).toBe(200);
    for (const wrong of [{}, { token: 1 }, { token: null }, []]) {
      expect((await auth('POST', '/validate', { json: wrong })).status).toBe(400);
    }
  });
});

describe('guessing', () => {
  test('is limited after ten failures for a username, with Retry-After, and locks out no other user', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Trainee');
    const wrong = { username: person.username, password: 'not the password' };
    for (let failure = 1; failure <= limits.signInFailuresPerUsernameAndAddress; failure += 1) {
      expect((await auth('POST', '/token', { json: wrong })).status).toBe(401);
    }
    expect((await auth('POST', '/token', { json: wrong })).status).toBe(429);
    const right = await auth('POST', '/token', { json: { ...wrong, password: person.password } });
    expect(right.status).toBe(429);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await isAccepted(person.token)).toBe(true);
    expect((await auth('POST', '/token', { json: { username, password } })).status).toBe(200);
    await database.query('delete from auth.sign_in_failures');
  });

  test('from one address is limited after fifty failures for any usernames', async () => {
    await database.query('delete from auth.sign_in_failures');
    for (let failure = 1; failure <= limits.signInFailuresPerAddress; failure += 1) {
      await auth('POST', '/token', { json: { username: `user-${failure}`, password: 'wrong password' } });
    }
    expect((await auth('POST', '/token', { json: { username: 'another', password: 'x' } })).status).toBe(429);
    expect((await auth('POST', '/token', { json: { username, password } })).status).toBe(429);
    await database.query('delete from auth.sign_in_failures');
    expect((await auth('POST', '/token', { json: { username, password } })).status).toBe(200);
  });
});
