import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { sweepRunnerInstances } from '../../store/runner-instances.ts';
import { ask, startTestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { chain, claim, makeGraph, upload } from '../support/graph.ts';
import { runnerStage, type TestRunner } from '../support/runner.ts';
import { tokenStage } from './runner-tokens/support.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const { waiters } = api.composed.services.runners;
const second = await startTestApi(stage.platform.environment);
afterAll(() => second.stop());

const path = '/api/v2/admin/runners';
const admin = (method: string, below = '', token = people.Developer.token) =>
  ask(api.url, method, path + below, { token });

async function shown(instanceId: string) {
  const { body } = await admin('GET', '?pageSize=100');
  return body.runners.find((runner: { instanceId: string }) => runner.instanceId === instanceId);
}
const drain = async (runner: TestRunner, method: 'POST' | 'DELETE' = 'POST') =>
  admin(method, `/${(await shown(runner.instanceId)).id}/drain`);

describe('the list of runners', () => {
  test('shows an instance of a token with what it holds', async () => {
    const { graph, made, runnerType, runner: newRunner } = await tokenStage(stage);
    const runner = newRunner();
    expect(await shown(runner.instanceId)).toBeUndefined();
    expect((await runner.claim(graph.template)).status).toBe(204);
    const idle = await shown(runner.instanceId);
    expect(idle).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      instanceId: runner.instanceId,
      kind: 'token',
      tokenId: made.id,
      tokenLabel: 'test',
      tokenHint: made.token.slice(-4),
      userId: null,
      runnerTypes: [runnerType],
      hosting: 'external',
      version: null,
      firstSeenAt: expect.stringMatching(/Z$/),
      lastSeenAt: expect.stringMatching(/Z$/),
      drained: false,
      task: null,
    });
    await upload(database, graph, 'input');
    const task = await runner.take(graph.template);
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, { phase: 'reading' });
    const busy = await shown(runner.instanceId);
    expect(busy.id).toBe(idle.id);
    expect(busy.task).toEqual({
      taskId: task.taskId,
      runId: task.runId,
      attempt: 1,
      sessionId: graph.sessionId,
      nodeInstanceId: graph.nodes.n1,
      nodeName: 'n1',
      nodeTemplate: graph.template,
      claimedAt: task.claimedAt,
      phase: 'reading',
    });
    await runner.end(task.taskId, 'release');
    expect((await shown(runner.instanceId)).task).toBeNull();
  });

  test('shows an instance of an account, and built-in nodes never', async () => {
    const graph = await stage.chainOf(1);
    const runner = stage.runner();
    await runner.claim(graph.template);
    expect(await shown(runner.instanceId)).toMatchObject({
      kind: 'account',
      tokenId: null,
      tokenLabel: null,
      userId: people.Developer.userId,
      runnerTypes: expect.arrayContaining(['outside-runner']),
      hosting: 'external',
    });
    const instanceId = randomUUID();
    await database.query(`insert into runner_instance (holder, instance_id) values ('system', $1)`, [
      instanceId,
    ]);
    expect(await shown(instanceId)).toBeUndefined();
    const [row] = await database.query<{ id: string }>(
      'select id from runner_instance where instance_id = $1',
      [instanceId],
    );
    expect((await admin('POST', `/${row!.id}/drain`)).status).toBe(404);
  });

  test('shows an instance with a token of the platform itself as deployed', async () => {
    const { graph, made, runner: newRunner } = await tokenStage(stage);
    await database.query('update runner_token set created_by = null where id = $1', [made.id]);
    const runner = newRunner();
    expect((await runner.claim(graph.template)).status).toBe(204);
    expect(await shown(runner.instanceId)).toMatchObject({
      kind: 'token',
      tokenId: made.id,
      hosting: 'deployed',
    });
  });

  test('shows the version that a runner tells, cleaned and bounded, and when it was last seen', async () => {
    const graph = await stage.chainOf(1);
    const runner = stage.runner();
    const claim = (agent: string) =>
      runner.call(
        'POST',
        '/tasks/claim',
        { instanceId: runner.instanceId, templates: [graph.template] },
        { 'user-agent': agent },
      );
    const versions: [string, string | null][] = [
      ['lap-splitter/1.4.2 node/24', 'lap-splitter/1.4.2 node/24'],
      ['a\tb\u00e9\u00ffc', 'a b c'],
      [`x/${'9'.repeat(500)}`, `x/${'9'.repeat(198)}`],
      [`leak/${people.Developer.token}`, 'leak/[token]'],
      ['<script>', '<script>'],
    ];
    for (const [agent, version] of versions) {
      await claim(agent);
      await eventually(
        `${agent} shows`,
        async () => (await shown(runner.instanceId)).version === version,
        10_000,
      );
    }
    await upload(database, graph, 'input');
    const task = await runner.take(graph.template);
    await database.query(
      `update runner_instance set last_seen_at = now() - interval '1 day' where instance_id = $1`,
      [runner.instanceId],
    );
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {});
    await eventually(
      'the heartbeat counts as seen',
      async () => Date.now() - Date.parse((await shown(runner.instanceId)).lastSeenAt) < 60_000,
    );
  });

  test('counts a claim that waits as seen', async () => {
    const graph = await stage.chainOf(1);
    const runner = stage.runner();
    const gone = new AbortController();
    const waiting = runner.claim(graph.template, 60, gone.signal);
    await eventually('it waits', () => waiters.idleCount > 0);
    await database.query(
      `update runner_instance set last_seen_at = now() - interval '1 day' where instance_id = $1`,
      [runner.instanceId],
    );
    await eventually(
      'it is seen',
      async () => Date.now() - Date.parse((await shown(runner.instanceId)).lastSeenAt) < 60_000,
    );
    gone.abort();
    await waiting.catch(() => undefined);
  });

  test('is paged, those seen last first', async () => {
    const graph = await stage.chainOf(1);
    const runners = Array.from({ length: 5 }, () => stage.runner());
    for (const runner of runners) await runner.claim(graph.template);
    const pages = await Promise.all([1, 2].map((page) => admin('GET', `?page=${page}&pageSize=3`)));
    const [one, two] = pages.map(({ body }) => body);
    expect(one).toMatchObject({ page: 1, pageSize: 3, totalPages: Math.ceil(one.totalCount / 3) });
    const seen = [...one.runners, ...two.runners].map((runner: { instanceId: string }) => runner.instanceId);
    expect(seen.slice(0, 5)).toEqual(runners.map((runner) => runner.instanceId).reverse());
    for (const query of ['?page=0', '?pageSize=0', '?pageSize=101', '?page=x'])
      expect((await admin('GET', query)).status).toBe(400);
    expect((await admin('GET', '?page=2147483647&pageSize=100')).body.runners).toEqual([]);
  });
});

describe('a drained instance', () => {
  test('finishes what it holds and gets nothing more, until it is given tasks again', async () => {
    const { graph, runner: newRunner } = await tokenStage(stage, { length: 2 });
    await upload(database, graph, 'input');
    const [runner, other] = [newRunner(), newRunner()];
    const task = await runner.take(graph.template);
    expect(await drain(runner)).toMatchObject({
      status: 200,
      body: { drained: true, task: { taskId: task.taskId } },
    });
    const beat = await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {});
    expect(beat.body.cancelRequested).toBe(false);
    await runner.write(task.taskId, 'a');
    expect((await runner.end(task.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
    expect((await runner.claim(graph.template)).status).toBe(204);
    expect((await runner.claim([])).status).toBe(204);
    expect(await drain(runner, 'DELETE')).toMatchObject({
      status: 200,
      body: { drained: false, task: null },
    });
    expect((await runner.claim(graph.template)).status).toBe(200);
    expect((await other.claim(graph.template)).status).toBe(204);
  });

  test('waits its time, while others take what becomes ready at once', async () => {
    const graph = await stage.chainOf(1);
    const [drained, other] = [stage.runner(), stage.runner()];
    await drained.claim(graph.template);
    expect((await drain(drained)).status).toBe(200);
    const startedAtMs = performance.now();
    const resting = drained.claim(graph.template, 2);
    await eventually('it waits', () => waiters.idleCount === 1);
    const claimed = other.claim(graph.template, 30);
    await eventually('both wait', () => waiters.idleCount === 2);
    await upload(database, graph, 'input');
    expect((await claimed).status).toBe(200);
    expect((await resting).status).toBe(204);
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_990);
  });

  test('that is drained while its claim waits, at any process, gets no task; undrained it takes part at once', async () => {
    const graph = await stage.chainOf(1);
    const runner = stage.runner({ url: second.url });
    const theirs = second.composed.services.runners.waiters;
    const claimed = runner.claim(graph.template, 60);
    await eventually('it waits', () => theirs.idleCount === 1);
    await drain(runner);
    await eventually('it rests', () => theirs.restingCount === 1);
    await upload(database, graph, 'input');
    expect(theirs.count).toBe(1);
    expect((await shown(runner.instanceId)).task).toBeNull();
    const startedAtMs = performance.now();
    await drain(runner, 'DELETE');
    expect((await claimed).status).toBe(200);
    expect(performance.now() - startedAtMs).toBeLessThan(900);
  });

  test('is not claimed for by a claim that crosses the draining', async () => {
    const graph = await stage.chainOf(1);
    const runners = Array.from({ length: 12 }, () => stage.runner());
    for (const runner of runners) await runner.claim(graph.template);
    await upload(database, graph, 'input');
    const ids = await Promise.all(runners.map(async ({ instanceId }) => (await shown(instanceId)).id));
    const answers = await Promise.all(
      runners.map(async (runner, at) => {
        const draining = admin('POST', `/${ids[at]}/drain`);
        const claim = runner.claim(graph.template);
        await draining;
        // Whatever came of the claim under way: from now on there is nothing for it.
        const next = await claim.then(() => runner.claim(graph.template));
        return next.status;
      }),
    );
    expect(answers).toEqual(runners.map(() => 204));
  });
});

describe('administration of runners', () => {
  test('is for Administrators and Developers, and for no runner', async () => {
    const { made, runner: newRunner, graph } = await tokenStage(stage);
    const runner = newRunner();
    await runner.claim(graph.template);
    const { id } = await shown(runner.instanceId);
    for (const [method, below] of [
      ['GET', ''],
      ['POST', `/${id}/drain`],
      ['DELETE', `/${id}/drain`],
    ] as const) {
      for (const token of [people.Instructor.token, people.Trainee.token, people.offlineToken])
        expect((await admin(method, below, token)).status).toBe(403);
      expect((await admin(method, below, made.token)).status).toBe(401);
      expect((await admin(method, below, people.Administrator.token)).status).toBe(200);
    }
  });

  test('knows no other instances: 404', async () => {
    for (const id of ['00000000-0000-4000-8000-000000000000', 'abc', "'", '%00'])
      for (const method of ['POST', 'DELETE'])
        expect(await admin(method, `/${id}/drain`)).toMatchObject({
          status: 404,
          body: { status: 'error', message: 'Runner not found.' },
        });
  });
});

test('instances that were not seen for long are removed, but none that holds a task, and drained ones later', async () => {
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const holder = `user:${randomUUID()}`;
  const claimed = await claim(database, { holder, instanceId: 'busy' });
  const others: [string, number, boolean][] = [
    ['idle', 8, false],
    ['recent', 6, false],
    ['drained', 8, true],
    ['drained long ago', 91, true],
  ];
  for (const [instanceId, days, drained] of others) {
    await database.query(
      `insert into runner_instance (holder, instance_id, last_seen_at, drained)
       values ($1, $2, now() - make_interval(days => $3), $4)`,
      [holder, instanceId, days, drained],
    );
  }
  await database.query(
    `update runner_instance set last_seen_at = now() - interval '8 days' where instance_id = 'busy'`,
  );
  expect(await sweepRunnerInstances(database)).toBe(2);
  const left = await database.query<{ name: string }>(
    'select instance_id as name from runner_instance where holder = $1 order by 1',
    [holder],
  );
  expect(left.map(({ name }) => name)).toEqual(['busy', 'drained', 'recent']);
  expect(claimed).toBeDefined();
  expect(await claim(database, { holder, instanceId: 'idle' })).toBeUndefined();
  expect(await database.query('select 1 from runner_instance where holder = $1', [holder])).toHaveLength(4);
});
