import { describe, expect, test } from 'vitest';
import { apiStage, ask, makePerson, tokenOf } from '../support/api.ts';

const { api, people } = await apiStage({ variables: { AUTH_SERVICE_KEY: 'k'.repeat(40) } });

const users = (method: string, path: string, token: string | undefined, json?: unknown) =>
  ask(api.url, method, `/api/authorization/users${path}`, {
    ...(token === undefined ? {} : { token }),
    json,
  });
const newUser = (username: string, fields: object = {}) => ({
  username,
  password: 'a good password',
  role: 'Trainee',
  ...fields,
});

describe('making users', () => {
  test('sets the defaults of the decisions', async () => {
    const { status, body } = await users('POST', '', people.adminToken, newUser(' Ada ', { role: 'Admin' }));
    expect(status).toBe(201);
    expect(body).toMatchObject({
      username: 'Ada',
      role: 'Administrator',
      email: '',
      isActive: true,
      isRegistrationComplete: true,
      hasAcceptedDataPrivacy: false,
      forceChangePasswordNextSignin: false,
    });
    expect(body).not.toHaveProperty('passwordHash');
  });

  test('refuses wrong fields with 400 and an existing username or address with 409, case-insensitively', async () => {
    const wrong = [
      { username: '' },
      { password: 'short' },
      { password: 'x'.repeat(257) },
      { role: 'King' },
      { email: 'no address' },
      { username: 'a\nb' },
      { company: 'x'.repeat(256) },
    ];
    for (const fields of wrong) {
      expect([fields, (await users('POST', '', people.adminToken, newUser('bob', fields))).status]).toEqual([
        fields,
        400,
      ]);
    }
    await users('POST', '', people.adminToken, newUser('Grace', { email: 'grace@example.org' }));
    expect((await users('POST', '', people.adminToken, newUser('GRACE'))).status).toBe(409);
    const sameAddress = newUser('other', { email: 'Grace@Example.org' });
    expect((await users('POST', '', people.adminToken, sameAddress)).status).toBe(409);
  });
});

describe('reading users', () => {
  test('pages and searches, with % and _ as plain characters', async () => {
    for (const username of ['percent-100%', 'under_score', 'underXscore']) {
      await users('POST', '', people.adminToken, newUser(username));
    }
    const search = async (text: string) => {
      const { body } = await users('GET', `?search=${encodeURIComponent(text)}`, people.Instructor.token);
      return body.users.map((user: { username: string }) => user.username);
    };
    expect(await search('100%')).toEqual(['percent-100%']);
    expect(await search('UNDER_')).toEqual(['under_score']);
    expect(await search('%')).toEqual(['percent-100%']);
    expect(await search('\\')).toEqual([]);
    const page = await users('GET', '?page=2&pageSize=3', people.Developer.token);
    expect(page.body).toMatchObject({ page: 2, pageSize: 3 });
    expect(page.body.users).toHaveLength(3);
    expect(page.body.totalPages).toBe(Math.ceil(page.body.totalCount / 3));
    for (const query of ['?page=0', '?pageSize=0', '?pageSize=101', '?page=x', '?page=1.5']) {
      expect((await users('GET', query, people.Developer.token)).status).toBe(400);
    }
  });

  test('shows a Trainee only themselves and their own company', async () => {
    const company = { company: 'Acme' };
    const one = await makePerson(api.url, people.adminToken, 'Trainee', company);
    const colleague = await makePerson(api.url, people.adminToken, 'Instructor', { company: ' acme' });
    const alone = await makePerson(api.url, people.adminToken, 'Trainee');
    const read = async (userId: string, token: string) => (await users('GET', `/${userId}`, token)).status;
    expect(await read(one.userId, one.token)).toBe(200);
    expect(await read(colleague.userId, one.token)).toBe(200);
    expect(await read(alone.userId, one.token)).toBe(404);
    expect(await read(people.Trainee.userId, alone.token)).toBe(404);
    expect(await read(alone.userId, people.Developer.token)).toBe(200);
    const resolve = async (email: string, token: string) =>
      (await users('POST', '/resolve', token, { email })).status;
    expect(await resolve(colleague.email, one.token)).toBe(200);
    expect(await resolve(alone.email, one.token)).toBe(404);
    expect(await resolve('nobody@example.org', people.adminToken)).toBe(404);
    expect(await resolve('', people.adminToken)).toBe(404);
    for (const id of ['abc', '00000000-0000-4000-8000-000000000000']) {
      expect(await read(id, people.adminToken)).toBe(404);
    }
  });

  test('reports active users only to the platform', async () => {
    const idle = await makePerson(api.url, people.adminToken, 'Developer', { isActive: true });
    await users('PATCH', `/${idle.userId}`, people.adminToken, { isActive: false });
    const ids = [idle.userId, people.Developer.userId, '00000000-0000-4000-8000-000000000000'];
    const { status, body } = await users('POST', '/active', 'k'.repeat(40), { ids });
    expect([status, body]).toEqual([
      200,
      { users: [{ userId: people.Developer.userId, role: 'Developer', tokensRevokedAt: null }] },
    ]);
    for (const token of [undefined, 'k'.repeat(39), people.adminToken]) {
      expect((await users('POST', '/active', token, { ids })).status).toBe(401);
    }
  });
});

describe('changing users', () => {
  test('changes the sent fields, keeps the rest, and ignores unknown fields', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Trainee');
    const path = `/${person.userId}`;
    const changed = await users('PATCH', path, people.adminToken, {
      title: 'Dr',
      passwordHash: 'x',
      id: 'y',
    });
    expect([changed.status, changed.body.title, changed.body.email]).toEqual([200, 'Dr', person.email]);
    expect((await users('PATCH', path, people.adminToken, {})).body.title).toBe('Dr');
    expect((await users('PATCH', path, people.adminToken, { username: 'admin' })).status).toBe(409);
    expect((await users('PATCH', path, people.Developer.token, { title: 'x' })).status).toBe(403);
    expect((await users('PATCH', '/abc', people.adminToken, {})).status).toBe(404);
    await tokenOf(api.url, person.username, person.password);
  });

  test('leaves a user as they are when no known field is sent', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Trainee');
    const path = `/${person.userId}`;
    const before = await users('GET', path, people.adminToken);
    for (const json of [{}, { unknown: 1 }]) {
      const { status, body } = await users('PATCH', path, people.adminToken, json);
      expect([status, body]).toEqual([200, before.body]);
    }
    expect((await users('GET', path, people.adminToken)).body).toEqual(before.body);
  });

  test('always keeps one active Administrator, also when all are removed at once', async () => {
    const { body } = await users('GET', '?pageSize=100', people.adminToken);
    const administrators: string[] = body.users
      .filter((user: { role: string }) => user.role === 'Administrator')
      .map((user: { userId: string }) => user.userId);
    const admin = administrators[0];
    const others = administrators.slice(1);
    expect(others.length).toBeGreaterThan(1);
    const ways = [
      (id: string) => users('DELETE', `/${id}`, people.adminToken),
      (id: string) => users('PATCH', `/${id}`, people.adminToken, { isActive: false }),
      (id: string) => users('PATCH', `/${id}`, people.adminToken, { role: 'Trainee' }),
    ];
    const removed = await Promise.all(others.map((id, index) => ways[index % 3]?.(id)));
    expect(removed.every((answer) => [200, 204].includes(answer?.status ?? 0))).toBe(true);
    for (const way of ways) {
      const answer = await way(admin ?? '');
      expect([answer.status, answer.body.message]).toEqual([
        409,
        'The last active Administrator cannot be removed.',
      ]);
    }
  });
});

describe('changing a password', () => {
  const path = (userId: string) => `/${userId}/password`;

  test('needs the present one from everybody but Administrators, and ends other sign-ins', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Developer');
    const elsewhere = await tokenOf(api.url, person.username, person.password);
    const change = (token: string, json: object, userId = person.userId) =>
      users('POST', path(userId), token, json);
    const newPassword = 'another good password';
    expect((await change(person.token, { newPassword })).status).toBe(400);
    expect((await change(person.token, { newPassword, currentPassword: 'wrong' })).status).toBe(400);
    const short = await change(person.token, { newPassword: 'short', currentPassword: person.password });
    expect([short.status, short.body.message]).toEqual([400, 'Passwords must have 12 to 256 characters.']);
    expect((await change(person.token, { newPassword, currentPassword: person.password })).status).toBe(204);
    const read = async (token: string) => (await ask(api.url, 'GET', '/user_data', { token })).status;
    expect([await read(person.token), await read(elsewhere)]).toEqual([200, 401]);
    await tokenOf(api.url, person.username, newPassword);
    expect((await change(people.Instructor.token, { newPassword })).status).toBe(403);
    expect((await change(people.adminToken, { password: 'set by the administrator' })).status).toBe(204);
    await tokenOf(api.url, person.username, 'set by the administrator');
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect((await change(people.adminToken, { newPassword }, unknown)).status).toBe(404);
  });

  test('counts wrong guesses of the present one as failed sign-ins', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Developer');
    const guess = { currentPassword: 'wrong', newPassword: 'another good password' };
    const statuses: number[] = [];
    for (let index = 0; index < 12; index += 1) {
      statuses.push((await users('POST', path(person.userId), person.token, guess)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429]);
  });
});
