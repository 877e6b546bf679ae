import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { RunnerPresence } from '../../../api/runners/presence.ts';
import { sweepRunnerInstances } from '../../../store/runners/runner-instances.ts';
import { eventually } from '../../support/eventually.ts';
import { chain, claim, makeGraph, upload } from '../../support/graph.ts';
import { runnerStage, type TestRunner } from '../../support/runner.ts';
import { tokenStage } from '../runner-tokens/support.ts';
import { administration } from './support.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const { waiters } = api.composed.services.runners;
const { admin, shown, unseen } = administration(stage);

const daySeconds = 86_400;
const isSeen = async (runner: TestRunner) =>
  Date.now() - Date.parse((await shown(runner.instanceId)).lastSeenAt) < 60_000;

describe('the list of runners', () => {
  test('shows an instance of a token with its task', async () => {
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
      version: 'node',
      firstSeenAt: expect.stringMatching(/Z$/),
      lastSeenAt: expect.stringMatching(/Z$/),
      drained: false,
      state: 'waiting',
      task: null,
    });
    await upload(database, graph, 'input');
    const task = await runner.acquire(graph.template);
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

  test('shows an instance of an account, and no built-in nodes', async () => {
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

  test('shows the version of a runner, cleaned and bounded, and when it was last seen', async () => {
    const graph = await stage.chainOf(1);
    const versions: [string, string][] = [
      ['lap-splitter/1.4.2 node/24', 'lap-splitter/1.4.2 node/24'],
      ['a\tb\u00e9\u00ffc', 'a b c'],
      [`x/${'9'.repeat(500)}`, `x/${'9'.repeat(198)}`],
      [`leak/${people.Developer.token}`, 'leak/[token]'],
      ['<script>', '<script>'],
    ];
    async function announces(runner: TestRunner, agent: string, version: string): Promise<void> {
      const json = { instanceId: runner.instanceId, templates: [graph.template] };
      await runner.call('POST', '/tasks/claim', json, { 'user-agent': agent });
      await eventually(`${agent} shows`, async () => (await shown(runner.instanceId)).version === version);
    }
    const runner = stage.runner();
    await Promise.all(versions.map(([agent, version]) => announces(stage.runner(), agent, version)));
    await announces(runner, 'kit/1', 'kit/1');
    await announces(runner, 'kit/2', 'kit/2');
    await upload(database, graph, 'input');
    const task = await runner.acquire(graph.template);
    await unseen(runner, daySeconds);
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {});
    await eventually('the heartbeat counts as seen', () => isSeen(runner));
  });

  test('keeps the last-seen time of an instance until its row exists and is unlocked', async () => {
    const presence = new RunnerPresence({ database, log: pino({ enabled: false }), waiting: () => [] });
    const identity = { holder: 'system', instanceId: randomUUID() };
    const version = async () => {
      const read = 'select version from runner_instance where instance_id = $1';
      return (await database.query<{ version: string | null }>(read, [identity.instanceId]))[0]?.version;
    };
    presence.seen(identity, 'kit/1');
    // Its first claim is only arriving.
    await presence.stop();
    await database.query('insert into runner_instance (holder, instance_id) values ($1, $2)', [
      identity.holder,
      identity.instanceId,
    ]);
    await database.transaction(async (tx) => {
      await tx.query('select from runner_instance where instance_id = $1 for update', [identity.instanceId]);
      await presence.stop();
    });
    expect(await version()).toBeNull();
    await presence.stop();
    expect(await version()).toBe('kit/1');
  });

  test('counts a waiting claim as seen', async () => {
    const graph = await stage.chainOf(1);
    const runner = stage.runner();
    const gone = new AbortController();
    const waiting = runner.claim(graph.template, 60, gone.signal);
    await eventually('it waits', () => waiters.idleCount > 0);
    await unseen(runner, daySeconds);
    await eventually('it is seen', () => isSeen(runner));
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

describe('administration of runners', () => {
  test('is for Administrators and Developers, not for runners', async () => {
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

  test('answers 404 for unknown instances', async () => {
    for (const id of ['00000000-0000-4000-8000-000000000000', 'abc', "'", '%00'])
      for (const method of ['POST', 'DELETE'])
        expect(await admin(method, `/${id}/drain`)).toMatchObject({
          status: 404,
          body: { status: 'error', message: 'Runner not found.' },
        });
  });
});

test('instances unseen for long are removed, drained ones later, and never one that holds a task', async () => {
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
