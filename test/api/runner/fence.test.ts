import { describe, expect, test } from 'vitest';
import { endOverdueClaims } from '../../../store/runs/expire-leases.ts';
import { type Answer, ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../../support/runner.ts';
import { allRows, bucketContents, type TaskUploads, taskUploads } from '../../support/task-uploads.ts';
import { newToken, revoke } from '../runner-tokens/support.ts';

const stage = await runnerStage();
const { api, database, people, platform } = stage;

interface World {
  readonly graph: StageGraph;
  readonly ids: readonly number[];
  readonly runner: TestRunner;
  readonly uploads: TaskUploads;
  readonly taskId: string;
  /** An upload with a part, and one that has become an output. */
  readonly open: string;
  readonly done: string;
}

/** A task that has written, moved its watermark and begun an upload, so that every further call is possible. */
async function held(token = people.Developer.token): Promise<World> {
  const graph = await stage.chainOf(1, { incremental: true });
  const ids: number[] = [];
  for (const bytes of ['1', '2', '3']) ids.push((await stage.upload(graph, 'input', bytes)).body.id);
  const runner = stage.runner({ token });
  const { taskId } = await runner.acquire(graph.template);
  const uploads = taskUploads(api.url, token, runner.instanceId);
  await runner.write(taskId, 'kept', { 'x-platform-output-identifier': 'kept' });
  await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[0] });
  const [open, done] = [await uploads.begin(taskId), await uploads.begin(taskId)];
  for (const handle of [open, done]) await uploads.put(taskId, handle, 1, 'part');
  await uploads.complete(taskId, done);
  return { graph, ids, runner, uploads, taskId, open, done };
}

/** Every call for a task, each of which would change something for its holder. */
function everyCall({ ids, runner, uploads, taskId, open, done }: World): [string, () => Promise<Answer>][] {
  const at = { 'x-platform-watermark': String(ids[1]) };
  const kept = { 'x-platform-output-identifier': 'kept' };
  return [
    ['heartbeat', () => runner.call('PUT', `/tasks/${taskId}/heartbeat`, { phase: 'x', message: 'y' })],
    ['inputs', () => runner.call('GET', `/tasks/${taskId}/inputs`)],
    ['input data', () => runner.call('GET', `/tasks/${taskId}/inputs/${ids[0]}/data`)],
    ['state', () => runner.call('GET', `/tasks/${taskId}/state`)],
    ['output', () => runner.write(taskId, 'new')],
    ['output again', () => runner.write(taskId, 'new', kept)],
    ['output with watermark', () => runner.write(taskId, 'new', at)],
    ['output again with watermark', () => runner.write(taskId, 'new', { ...kept, ...at })],
    ['upload', () => uploads.start(taskId)],
    ['upload again', () => uploads.start(taskId, { ...kept, ...at })],
    ['part', () => uploads.put(taskId, open, 2, 'more')],
    ['part again', () => uploads.put(taskId, open, 1, 'other')],
    ['completed upload', () => uploads.complete(taskId, open)],
    ['completed upload with watermark', () => uploads.complete(taskId, open, at)],
    ['upload completed again', () => uploads.complete(taskId, done, at)],
    ['aborted upload', () => uploads.abort(taskId, open)],
    [
      'watermark',
      () => runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[2], state: { a: 1 } }),
    ],
    ['fail', () => runner.end(taskId, 'fail', { reason: 'late', category: 'error' })],
    ['complete', () => runner.end(taskId, 'complete', { outcome: 'completed', state: { b: 1 } })],
    ['release', () => runner.end(taskId, 'release', { reason: 'late' })],
  ];
}

const ends = new Set(['fail', 'complete', 'release']);

/** Makes every call and shows that none of them changed a row or an object. */
async function expectRefused(world: World, refusal: (call: string) => unknown): Promise<void> {
  const facts = async () => ({ rows: await allRows(database), ...(await bucketContents(platform)) });
  const before = await facts();
  for (const [call, make] of everyCall(world)) {
    const { status, body } = await make();
    expect([call, status, body.code]).toEqual([call, ...(refusal(call) as unknown[])]);
    expect(await facts(), call).toEqual(before);
  }
}

const lapse = (taskId: string) =>
  database.query(`update node_claim set lease_until = now() - interval '1 s' where task_id = $1`, [taskId]);
const notFound = () => [404, 'task_not_found'];

describe('no call of a former holder changes a row or an object: its', () => {
  test('lease has expired and the claim is not ended yet', async () => {
    const world = await held();
    await lapse(world.taskId);
    await expectRefused(world, notFound);
  });

  test('lease was ended, and the work is queued again', async () => {
    const world = await held();
    await lapse(world.taskId);
    await endOverdueClaims(database, 100, () => 0);
    await expectRefused(world, notFound);
  });

  test('run is held by another after the lease was lost', async () => {
    const world = await held();
    await lapse(world.taskId);
    await endOverdueClaims(database, 100, () => 0);
    await stage.runner().acquire(world.graph.template);
    await expectRefused(world, notFound);
  });

  test('instance has claimed again and holds the run as another task', async () => {
    const world = await held();
    const next = await world.runner.acquire(world.graph.template);
    expect(next.attempt).toBe(2);
    await expectRefused(world, notFound);
  });

  test.each([
    ['released', { reason: 'shutdown' }, 'release'],
    ['failed', { reason: 'x', category: 'validation' }, 'fail'],
    ['completed', { outcome: 'completed' }, 'complete'],
  ] as const)('task was %s by its holder', async (_how, body, end) => {
    const world = await held();
    expect((await world.runner.end(world.taskId, end, body)).status).toBe(200);
    await expectRefused(world, (call) => (ends.has(call) ? [409, 'task_finished'] : [404, 'task_not_found']));
  });

  test('task was released and is held by another', async () => {
    const world = await held();
    await world.runner.end(world.taskId, 'release');
    await stage.runner().acquire(world.graph.template);
    await expectRefused(world, (call) => (ends.has(call) ? [409, 'task_finished'] : [404, 'task_not_found']));
  });

  test('token was revoked', async () => {
    const { token, id } = await newToken(stage, ['outside-runner']);
    const world = await held(token);
    await revoke(stage, id);
    await eventually('its task is given back', async () => {
      const rows = await database.query('select 1 from node_claim where task_id = $1 and ended_at is null', [
        world.taskId,
      ]);
      return rows.length === 0;
    });
    await expectRefused(world, () => [401, 'unauthorized']);
  });

  test('session was deleted', async () => {
    const world = await held();
    await ask(api.url, 'DELETE', `/api/v2/sessions/${world.graph.sessionId}`, {
      token: people.Administrator.token,
    });
    await expectRefused(world, notFound);
  });
});

test('nor does a call of another instance of the account, or of the same instance id of another account', async () => {
  const world = await held();
  const { taskId, runner } = world;
  const strangers = [
    { token: people.Developer.token, instanceId: 'another' },
    { token: people.Administrator.token, instanceId: runner.instanceId },
  ];
  for (const { token, instanceId } of strangers) {
    const stranger = stage.runner({ token, instanceId });
    const uploads = taskUploads(api.url, token, instanceId);
    await expectRefused({ ...world, runner: stranger, uploads }, notFound);
  }
  expect((await runner.call('PUT', `/tasks/${taskId}/heartbeat`, {})).status).toBe(200);
});
