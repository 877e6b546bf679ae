import { describe, expect, test } from 'vitest';
import { ask, makePerson } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { upload } from '../../support/graph.ts';
import { creatorStage } from './creator-stage.ts';
import { newRunnerType, newToken, requestToken } from './support.ts';

const { stage, api, people, database, users, whoami, becomes, change, makeDue, asked, creator, isRevoked } =
  await creatorStage();
const hourMs = 3_600_000;

describe('a runner token ends with its creator', () => {
  test('who is deactivated, and stays ended when they are reactivated', async () => {
    const { person, made } = await creator();
    await change(person, { isActive: false });
    await asked(person);
    await becomes(401, made.token);
    expect(await isRevoked(made.id)).toBe(true);
    await change(person, { isActive: true });
    await database.query(
      `update runner_token_creator set checked_at = now() - interval '1 hour' where user_id = $1`,
      [person.userId],
    );
    await becomes(401, made.token);
  });

  test('who was deactivated and reactivated between two checks', async () => {
    const { person, made } = await creator();
    await change(person, { isActive: false });
    await change(person, { isActive: true });
    await asked(person);
    await becomes(401, made.token);
  });

  test('who is deleted, and its tasks are released', async () => {
    const { person, runnerType, made } = await creator();
    const graph = await stage.chainOf(1, { runnerType });
    await upload(database, graph, 'input');
    await stage.runner({ token: made.token }).acquire(graph.template);
    await ask(api.url, 'DELETE', `${users}/${person.userId}`, { token: people.adminToken });
    await makeDue(person);
    await eventually('it is refused', async () => (await whoami(made.token)).status === 401);
    const next = await stage.runner().claim(graph.template, 5);
    expect(next).toMatchObject({ status: 200, body: { attempt: 1 } });
  });

  test('whose tokens are all revoked; one made afterwards is good', async () => {
    const { person, runnerType, made } = await creator();
    const json = { username: person.username };
    await ask(api.url, 'POST', '/api/authorization/revoke', { token: people.adminToken, json });
    const fresh = await ask(api.url, 'POST', '/api/authorization/token', {
      json: { username: person.username, password: person.password },
    });
    const later = await newToken(stage, [runnerType], { by: fresh.body.accessToken });
    // Its creation already notified the platform of the revocation.
    await becomes(401, made.token);
    await asked(person);
    await becomes(401, made.token);
    expect((await whoami(later.token)).status).toBe(200);
    await ask(api.url, 'POST', '/api/authorization/revoke', { token: people.adminToken, json });
    await asked(person);
    await becomes(401, later.token);
  });

  test('while the tokens of others stay valid', async () => {
    const [one, other] = [await creator(), await creator()];
    await change(one.person, { isActive: false });
    await asked(one.person);
    await asked(other.person);
    await becomes(401, one.made.token);
    expect((await whoami(other.made.token)).status).toBe(200);
  });
});

describe('a runner token is limited by its creator’s current role', () => {
  test('an Administrator who becomes Developer leaves it the external types and thirty days', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Administrator');
    const [external, deployed] = [await newRunnerType(stage), await newRunnerType(stage, 'sdk')];
    const fields = { ttlHours: 8760 };
    const made = await newToken(stage, [external, deployed], { by: person.token, fields });
    const graph = await stage.chainOf(1, { runnerType: deployed });
    await upload(database, graph, 'input');
    const runner = stage.runner({ token: made.token });
    const task = await runner.acquire(graph.template);
    expect((await whoami(made.token)).body.runnerTypes.sort()).toEqual([external, deployed].sort());
    await change(person, { role: 'Developer' });
    await asked(person);
    const { body } = await whoami(made.token);
    expect(body.runnerTypes).toEqual([external]);
    expect(Math.round((Date.parse(body.expiresAt) - Date.now()) / hourMs)).toBe(720);
    expect((await runner.claim(graph.template)).body.code).toBe('template_not_allowed');
    await eventually(
      'what it holds is given back',
      async () => (await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {})).status === 404,
    );
  });

  test('is of no use while the creator has another role, waiting claims included', async () => {
    const { person, runnerType, made } = await creator();
    const graph = await stage.chainOf(1, { runnerType });
    const waiting = stage.runner({ token: made.token }).claim(graph.template, 60);
    await eventually('it waits', () => api.composed.services.runners.waiters.idleCount === 1);
    await change(person, { role: 'Instructor' });
    await asked(person);
    for (const answer of [await whoami(made.token), await waiting])
      expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    await change(person, { role: 'Developer' });
    await asked(person);
    expect((await whoami(made.token)).status).toBe(200);
  });

  test('cannot be created by a user who has just lost the role or the sign-in', async () => {
    const { person, runnerType } = await creator();
    await change(person, { role: 'Trainee' });
    expect((await requestToken(stage, { runnerTypes: [runnerType] }, person.token)).status).toBe(403);
    await ask(api.url, 'POST', '/api/authorization/logout', { token: person.token });
    expect((await requestToken(stage, { runnerTypes: [runnerType] }, person.token)).status).toBe(401);
  });
});
