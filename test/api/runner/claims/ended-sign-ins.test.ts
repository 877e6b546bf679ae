/** Waiting claims of accounts whose sign-in ends; those of runner tokens are in test/api/runner-tokens. */
import { afterAll, describe, expect, test } from 'vitest';
import { ask, makePerson, startTestApi, type TestPerson } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { openAuthWire } from '../../../support/network/auth-wire.ts';
import { runnerStage, type TestRunner } from '../../../support/runner.ts';
import { stretched } from '../../../support/stretched.ts';

const stage = await runnerStage();
const { api, database, people, platform } = stage;
/** It asks a separate authentication service: that of the first process. */
const wire = await openAuthWire(api.url);
const second = await startTestApi({ ...platform.environment, AUTH_URL: wire.url });
afterAll(async () => {
  wire.close();
  await second.stop();
});
/** The time that the platform promises. */
const limitMs = 5_000;
const auth = '/api/authorization';
const admin = { token: people.adminToken };

const newDeveloper = () => makePerson(api.url, people.adminToken, 'Developer');
const revoke = ({ username }: TestPerson) =>
  ask(api.url, 'POST', `${auth}/revoke`, { ...admin, json: { username } });
const change = ({ userId }: TestPerson, json: object) =>
  ask(api.url, 'PATCH', `${auth}/users/${userId}`, { ...admin, json });
const waiting = (count: number, process = api) =>
  eventually(`${count} claims wait`, () => process.composed.services.runners.waiters.idleCount === count);
const claimsOf = ({ instanceId }: TestRunner) =>
  database.query('select 1 from node_claim where instance_id = $1', [instanceId]);

describe('a waiting claim of an account', () => {
  test.each([
    ['is revoked', 401, revoke],
    ['is signed out', 401, ({ token }: TestPerson) => ask(api.url, 'POST', `${auth}/logout`, { token })],
    ['is deactivated with its person', 401, (person: TestPerson) => change(person, { isActive: false })],
    ['loses the role', 403, (person: TestPerson) => change(person, { role: 'Trainee' })],
  ])('gets no task once its sign-in %s; another gets it at once', async (_, status, end) => {
    const graph = await stage.chainOf(1);
    const person = await newDeveloper();
    const runner = stage.runner({ token: person.token });
    const ended = runner.claim(graph.template, 60);
    await waiting(1);
    const other = stage.runner().claim(graph.template, 60);
    await waiting(2);
    expect((await end(person)).status).toBeLessThan(300);
    await stage.upload(graph, 'input', '1');
    const readyAtMs = performance.now();
    expect((await other).status).toBe(200);
    expect(performance.now() - readyAtMs).toBeLessThan(stretched(500));
    expect((await ended).status).toBe(status);
    expect(await claimsOf(runner)).toEqual([]);
  });

  test('ends with 401 soon after its sign-in, at any process', async () => {
    const graph = await stage.chainOf(1);
    const person = await newDeveloper();
    const claims = [api, second].map(({ url }) =>
      stage.runner({ token: person.token, url }).claim(graph.template, 60),
    );
    await waiting(1);
    await waiting(1, second);
    await revoke(person);
    const endedAtMs = performance.now();
    for (const answer of await Promise.all(claims)) {
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(performance.now() - endedAtMs).toBeLessThan(stretched(limitMs));
  });

  test('that came with the end of a task: the end is answered, and the next call is 401', async () => {
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', '1');
    const person = await newDeveloper();
    const runner = stage.runner({ token: person.token });
    const { taskId } = await runner.acquire(graph.template);
    const next = { waitSeconds: 30, templates: [graph.template] };
    const ended = runner.end(taskId, 'complete', { outcome: 'no-output', next });
    await waiting(1);
    await revoke(person);
    const endedAtMs = performance.now();
    expect(await ended).toMatchObject({ status: 200, body: { nodeState: 'Succeeded', next: null } });
    expect(performance.now() - endedAtMs).toBeLessThan(stretched(limitMs));
    expect((await runner.claim(graph.template)).status).toBe(401);
  });

  test('waits on while its sign-in cannot be checked, and gets no task unchecked', async () => {
    const graph = await stage.chainOf(1);
    const claimed = stage.runner({ url: second.url }).claim(graph.template, 60);
    await waiting(1, second);
    wire.fault = { path: '/validate', kind: 'failing' };
    const before = wire.calls.length;
    await eventually('two checks fail', () => wire.calls.length >= before + 2);
    await waiting(1, second);
    await stage.upload(graph, 'input', '1');
    expect(await claimed).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    wire.fault = null;
    expect((await stage.runner({ url: second.url }).claim(graph.template)).status).toBe(200);
  });

  test('is checked once, as every call, when it gets a task at its first try', async () => {
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', '1');
    const before = wire.calls.length;
    expect((await stage.runner({ url: second.url }).claim(graph.template, 60)).status).toBe(200);
    expect(wire.calls.slice(before).filter((call) => call === 'POST /validate')).toHaveLength(1);
  });
});
