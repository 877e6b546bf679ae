import { expect, test } from 'vitest';
import { projectRoutes } from '../../api/projects/routes.ts';
import { platformUserRoutes } from '../../api/users/routes.ts';
import { apiStage, ask, makePerson } from '../support/api.ts';

const { api, people } = await apiStage({ routes: [...platformUserRoutes, ...projectRoutes] });
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

test('all pages of the authentication service are read; a deleted user stays, without an address', async () => {
  const extra = await Promise.all(
    Array.from({ length: 103 }, (_, index) =>
      ask(api.url, 'POST', '/api/authorization/users', {
        token: people.adminToken,
        json: { username: `many-${index}`, password: `password of many ${index}`, role: 'Trainee' },
      }),
    ),
  );
  expect(extra.every(({ status }) => status === 201)).toBe(true);
  const before = (await list(people.adminToken)).body;
  expect(before.length).toBeGreaterThan(108);
  const gone = extra[0]?.body.userId;
  await ask(api.url, 'DELETE', `/api/authorization/users/${gone}`, { token: people.adminToken });
  const after = (await list(people.adminToken)).body;
  expect(after.length).toBe(before.length);
  expect(after.find((item: Listed) => item.externalPlatformId === gone)).toMatchObject({
    email: '',
    isActive: false,
  });
});

test('is for Administrators and Developers with an access token', async () => {
  for (const token of [people.Instructor.token, people.Trainee.token, people.offlineToken])
    expect((await list(token)).status).toBe(403);
  expect((await ask(api.url, 'GET', '/api/v2/admin/users')).status).toBe(401);
});
