import { expect, test } from 'vitest';
import { projectRoutes } from '../../api/projects/routes.ts';
import { platformUserRoutes } from '../../api/users/routes.ts';
import { AuthDatabase } from '../../auth/database.ts';
import { apiStage, ask, makePerson } from '../support/api.ts';

const { platform, api, people } = await apiStage({ routes: [...platformUserRoutes, ...projectRoutes] });
type Listed = { id: number; externalPlatformId: string };

const list = (token: string) => ask(api.url, 'GET', '/api/v2/admin/users', { token });

test('GET /api/v2/admin/users lists every user with both ids, and the ids do not change', async () => {
  const made = await ask(api.url, 'POST', '/projects', {
    token: people.Instructor.token,
    json: { Title: 'p' },
  });
  const first = await list(people.Developer.token);
  expect(first.status).toBe(200);
  expect(first.body).toHaveLength(5);
  expect(first.body[0]).toEqual({
    id: made.body.ownerId,
    email: people.Instructor.email,
    type: 'Instructor',
    isActive: true,
    createdAt: expect.stringMatching(/Z$/),
    externalB2CId: null,
    externalPlatformId: people.Instructor.userId,
  });
  const again = await Promise.all([1, 2, 3, 4].map(() => list(people.Administrator.token)));
  for (const answer of again) expect(answer.body).toEqual(first.body);
});

test('a user who never signed in can become an owner', async () => {
  const person = await makePerson(api.url, people.adminToken, 'Instructor');
  const { body } = await list(people.adminToken);
  const { id } = body.find((item: Listed) => item.externalPlatformId === person.userId);
  const json = { Title: 'theirs', OwnerId: id };
  const made = await ask(api.url, 'POST', '/projects', { token: people.Developer.token, json });
  expect(made.body.owner).toMatchObject({ id, email: person.email, externalPlatformId: person.userId });
});

/** More users than the authentication service sends at once, stored without the work of hashing a password. */
async function storeUsers(count: number): Promise<void> {
  const accounts = new AuthDatabase(platform.databaseUrl);
  try {
    await accounts.query(
      {
        name: 'test_store_users',
        text: `insert into auth.users (id, username, username_key, first_name, role, password_hash)
          select gen_random_uuid(), name, name, '', 'Trainee', '' from (select 'many-' || n as name from generate_series(1, $1) n) many`,
      },
      [count],
    );
  } finally {
    await accounts.close();
  }
}

test('all pages of the authentication service are read; a deleted user stays, without an address', async () => {
  await storeUsers(1_103);
  const before = (await list(people.adminToken)).body;
  expect(before.length).toBeGreaterThan(1_108);
  const gone = before.at(-1).externalPlatformId;
  await ask(api.url, 'DELETE', `/api/authorization/users/${gone}`, { token: people.adminToken });
  const after = (await list(people.adminToken)).body;
  expect(after.length).toBe(before.length);
  expect(after.find((item: Listed) => item.externalPlatformId === gone)).toMatchObject({
    email: '',
    isActive: false,
  });
});

test('a list of users that the platform knows already writes no row', async () => {
  await list(people.adminToken);
  const { database } = api.composed.services;
  const rows = () =>
    database.query('select external_id, xmin::text, xmax::text from platform_user order by 1');
  const before = await rows();
  expect(before.length).toBeGreaterThan(5);
  await list(people.adminToken);
  expect(await rows()).toEqual(before);
});
