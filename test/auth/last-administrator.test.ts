import { beforeEach, describe, expect, test } from 'vitest';
import type { TestPerson } from '../support/api.ts';
import { authWorld } from './support.ts';

const world = await authWorld();
const { auth, database, newPerson } = world;

/** Only the active Administrators of a test. */
let administrators: TestPerson[];
beforeEach(async () => {
  await database.query(
    "update auth.users set is_active = true, role = 'Administrator' where username = 'admin'",
  );
  const token = await signIn(world.platform.administrator);
  administrators = [];
  for (let made = 0; made < 4; made += 1) administrators.push(await newPerson('Administrator'));
  await database.query("update auth.users set role = 'Trainee' where not (id = any($1))", [
    administrators.map(({ userId }) => userId),
  ]);
  expect((await auth('GET', '/offline_token', { token })).status).toBe(403);
});

async function signIn(json: { username: string; password: string }): Promise<string> {
  return (await auth('POST', '/token', { json })).body.accessToken;
}

async function activeOnes(): Promise<string[]> {
  const { rows } = await database.query(
    "select id from auth.users where role = 'Administrator' and is_active order by id",
  );
  return rows.map(({ id }) => id);
}

const ways: [string, (by: string, whom: string) => ReturnType<typeof auth>][] = [
  ['deleted', (token, id) => auth('DELETE', `/users/${id}`, { token })],
  ['deactivated', (token, id) => auth('PATCH', `/users/${id}`, { token, json: { isActive: false } })],
  ['demoted', (token, id) => auth('PATCH', `/users/${id}`, { token, json: { role: 'Developer' } })],
];

describe.each(ways)('the last active Administrator cannot be %s', (_, take) => {
  test('by themselves, also with others who are not active', async () => {
    const [last, ...others] = administrators;
    for (const { userId } of others)
      await auth('PATCH', `/users/${userId}`, { token: last?.token ?? '', json: { isActive: false } });
    const answer = await take(last?.token ?? '', last?.userId ?? '');
    expect([answer.status, answer.body]).toEqual([
      409,
      { status: 'error', message: 'The last active Administrator cannot be removed.' },
    ]);
    expect(await activeOnes()).toEqual([last?.userId]);
    expect((await auth('GET', '/users', { token: last?.token ?? '' })).status).toBe(200);
  });

  test('when all of them do it to the next one at the same moment', async () => {
    const answers = await Promise.all(
      administrators.map(({ token }, index) =>
        take(token, administrators[(index + 1) % administrators.length]?.userId ?? ''),
      ),
    );
    for (const { status } of answers) expect([200, 204, 401, 403, 409]).toContain(status);
    expect((await activeOnes()).length).toBeGreaterThanOrEqual(1);
  });
});

test('all ways at once still leave one who can sign in', async () => {
  const one = administrators[0]?.token ?? '';
  await Promise.all(
    administrators.map(({ userId }, index) => (ways[index % ways.length] ?? ways[0])?.[1](one, userId)),
  );
  const [left] = await activeOnes();
  const person = administrators.find(({ userId }) => userId === left);
  expect(person).toBeDefined();
  expect(await signIn(person as TestPerson)).toMatch(/^hat_/);
});

test('renaming, another title and a new password of the last one are no question', async () => {
  const [last, ...others] = administrators;
  for (const { userId } of others) await auth('DELETE', `/users/${userId}`, { token: last?.token ?? '' });
  const change = (json: object) =>
    auth('PATCH', `/users/${last?.userId}`, { token: last?.token ?? '', json });
  expect((await change({ title: 'Dr', role: 'Admin', isActive: true })).status).toBe(200);
  expect((await change({ username: 'renamed' })).body.role).toBe('Administrator');
});
