import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { apiStage, ask, makePerson } from '../support/api.ts';

const { api, people } = await apiStage({ routes: [] });

const lookUp = (token: string, ids: unknown) =>
  ask(api.url, 'POST', '/api/authorization/users/lookup', { token, json: { ids } });
const found = (answer: Awaited<ReturnType<typeof lookUp>>) =>
  answer.body.users.map((user: { userId: string }) => user.userId).sort();

test('many users at once are shown as one by one: to staff all, to a Trainee those of the same company', async () => {
  const one = await makePerson(api.url, people.adminToken, 'Trainee', { company: 'Acme' });
  const two = await makePerson(api.url, people.adminToken, 'Developer', { company: ' acme ' });
  const other = await makePerson(api.url, people.adminToken, 'Developer', { company: 'Other' });
  const ids = [one.userId, two.userId, other.userId.toUpperCase(), randomUUID()];
  const all = [one.userId, two.userId, other.userId].sort();
  for (const role of ['Administrator', 'Instructor', 'Developer'] as const)
    expect(found(await lookUp(people[role].token, ids))).toEqual(all);
  expect(found(await lookUp(one.token, ids))).toEqual([one.userId, two.userId].sort());
  expect(found(await lookUp(people.Trainee.token, ids))).toEqual([]);
  expect(found(await lookUp(people.adminToken, []))).toEqual([]);
});

test('an invalid list of ids is refused, and offline tokens see no user', async () => {
  for (const ids of [undefined, 'x', ['abc'], Array.from({ length: 1001 }, () => randomUUID())])
    expect((await lookUp(people.adminToken, ids)).status).toBe(400);
  expect((await lookUp(people.offlineToken, [])).status).toBe(403);
});
