import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sweepSupersededOutputs } from '../../../store/outputs/versions.ts';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, database, people } = stage;

const get = (path: string, token = people.Developer.token) => ask(api.url, 'GET', path, { token });
const named = (identifier: string) => ({ 'x-platform-output-identifier': identifier });

/** The bytes of a past input. */
async function dataOf(runId: string, outputId: number): Promise<[number, string]> {
  const response = await fetch(`${api.url}/api/v2/node-runs/${runId}/replay/inputs/${outputId}/data`, {
    headers: { authorization: `Bearer ${people.Developer.token}` },
  });
  return [response.status, await response.text()];
}

describe('a run', () => {
  test('shows who held each attempt, what it was given, what it wrote and who acted on it', async () => {
    const graph = await stage.chainOf(1, { maxAttempts: 1 });
    const input = await stage.upload(graph, 'input', 'abc', named('drive.csv'));
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {}, { 'user-agent': 'laps/1.4.0' });
    await runner.end(task.taskId, 'fail', { category: 'error', reason: 'no licence' });
    await ask(api.url, 'POST', `/api/v2/admin/node-runs/${task.runId}/retry`, {
      token: people.Developer.token,
    });
    const second = stage.runner();
    const again = await second.acquire(graph.template);
    await second.write(again.taskId, 'result', named('result'));
    await second.end(again.taskId, 'complete', { outcome: 'completed' });
    const { status, body } = await get(`/api/v2/node-runs/${task.runId}`, people.Instructor.token);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: task.runId,
      state: 'completed',
      configuration: { dataSourceName: 'platform' },
      configurationRevision: 1,
      attempts: [
        { number: 1, outcome: 'failed', runner: { instanceId: runner.instanceId } },
        { number: 2, outcome: 'completed', runner: { instanceId: second.instanceId } },
      ],
      inputs: [
        { outputId: input.body.id, outputIdentifier: 'drive.csv', sizeBytes: 3, sha256: input.body.sha256 },
      ],
      outputs: [{ outputIdentifier: 'result', sizeBytes: 6, published: true }],
      actions: [
        { attempt: 2, action: 'retry', userId: people.Developer.userId, name: expect.stringMatching(/\w/) },
      ],
    });
  });

  test('says what its runner says while it is held, not why it waited before', async () => {
    const graph = await stage.chainOf(1, { maxAttempts: 2 });
    await stage.upload(graph, 'input', 'abc');
    const runner = stage.runner();
    const { taskId, runId } = await runner.acquire(graph.template);
    await runner.end(taskId, 'fail', { category: 'error', reason: 'no licence' });
    await database.query(`update node_run set state = 'queued', due_at = null where id = $1`, [runId]);
    const again = await runner.acquire(graph.template);
    const details = async () => {
      const one = await get(`/api/v2/node-runs/${runId}`);
      const list = await get(`/api/v2/node-runs?sessionId=${graph.sessionId}`);
      return [one.body.statusDetails, list.body.nodeRuns[0].statusDetails];
    };
    expect(await details()).toEqual(['', '']);
    await runner.call('PUT', `/tasks/${again.taskId}/heartbeat`, { phase: 'reading', message: 'row 5' });
    expect(await details()).toEqual(['reading: row 5', 'reading: row 5']);
    await runner.end(again.taskId, 'complete', { outcome: 'completed' });
  });

  test('is found by session, node, template, project, state and time', async () => {
    const graph = await stage.chainOf(2);
    await stage.upload(graph, 'input', 'x');
    const runner = stage.runner();
    const first = await runner.acquire(graph.template);
    await runner.write(first.taskId, 'y');
    await runner.end(first.taskId, 'complete', { outcome: 'completed' });
    const second = await runner.acquire(graph.template);
    const find = async (query: Record<string, string | number>) => {
      const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
      const { status, body } = await get(`/api/v2/node-runs?${text.join('&')}`);
      expect(status).toBe(200);
      return body.nodeRuns.map(({ id }: { id: string }) => id);
    };
    const both = [second.runId, first.runId];
    expect(await find({ sessionId: graph.sessionId })).toEqual(both);
    expect(await find({ template: graph.template })).toEqual(both);
    expect(await find({ template: graph.template, projectId: first.projectId })).toEqual(both);
    expect(await find({ template: graph.template, projectId: first.projectId + 1_000_000 })).toEqual([]);
    expect(await find({ nodeInstanceId: first.nodeInstanceId })).toEqual([first.runId]);
    expect(await find({ template: graph.template, state: 'completed' })).toEqual([first.runId]);
    expect(await find({ template: graph.template, state: 'held,failed' })).toEqual([second.runId]);
    expect(await find({ template: graph.template, pageSize: 1, page: 2 })).toEqual([first.runId]);
    const hour = 3_600_000;
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    expect(await find({ template: graph.template, from: at(-hour), to: at(hour) })).toEqual(both);
    expect(await find({ template: graph.template, to: at(-hour) })).toEqual([]);
    expect(await find({ template: graph.template, from: at(hour) })).toEqual([]);
  });

  const reversed = 'from=2026-02-02&to=2026-02-01';
  test.each(['state=lost', 'from=yesterday', reversed, 'page=0', 'sessionId=1'])(
    'search with %s is 400',
    async (query) => {
      expect((await get(`/api/v2/node-runs?${query}`)).status).toBe(400);
    },
  );

  test('is not shown to Trainees, and a replay to Instructors neither', async () => {
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', 'x');
    const { runId } = await stage.runner().acquire(graph.template);
    const path = `/api/v2/node-runs/${runId}`;
    expect((await get(path, people.Trainee.token)).status).toBe(403);
    expect((await get(`${path}/replay`, people.Instructor.token)).status).toBe(403);
    expect((await get(`/api/v2/node-runs/${randomUUID()}`)).status).toBe(404);
  });
});

describe('a replay', () => {
  test('answers what the attempt got, also after newer inputs, newer bytes and newer state', async () => {
    const graph = await stage.chainOf(1, { incremental: true, maxAttempts: 1 });
    const one = await stage.upload(graph, 'input', 'one', named('one'));
    const runner = stage.runner();
    const earlier = await runner.acquire(graph.template);
    await runner.write(earlier.taskId, 'before', named('before'));
    await runner.call('PUT', `/tasks/${earlier.taskId}/watermark`, {
      inputId: one.body.id,
      state: { total: 1 },
    });
    await runner.end(earlier.taskId, 'complete', { outcome: 'completed', state: { total: 2 } });

    const two = await stage.upload(graph, 'input', 'two', named('two'));
    const task = await runner.acquire(graph.template);
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'bad file' });

    // The bytes are replaced, and the next run changes the state.
    await stage.upload(graph, 'input', 'other bytes', named('two'));
    const later = await runner.acquire(graph.template);
    await runner.end(later.taskId, 'complete', { outcome: 'no-output', state: { total: 9 } });
    expect(await sweepSupersededOutputs(database, { olderThanSeconds: 0 })).toBe(0);

    const { status, body } = await get(`/api/v2/node-runs/${task.runId}/replay`);
    expect(status).toBe(200);
    const { taskId, runId, configuration, parents, incremental } = task;
    expect(body).toMatchObject({ taskId, runId, configuration, parents, incremental, state: { total: 2 } });
    expect(body.inputs).toMatchObject([
      { outputId: one.body.id },
      { outputId: two.body.id, outputIdentifier: 'two', sizeBytes: 3, sha256: two.body.sha256 },
    ]);
    expect(body.modes).toEqual({
      'since-watermark': [two.body.id],
      latest: [two.body.id],
      all: [one.body.id, two.body.id],
    });
    expect(body.previousOutput).toMatchObject({ outputIdentifier: 'before' });
    expect(await dataOf(task.runId, two.body.id)).toEqual([200, 'two']);
    expect((await dataOf(task.runId, 999_999_999))[0]).toBe(404);

    const first = await get(`/api/v2/node-runs/${earlier.runId}/replay`);
    expect(first.body).toMatchObject({ state: null, previousOutput: null, incremental: earlier.incremental });
  });

  test('of a run that was never claimed is 409', async () => {
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', 'x');
    const found = await get(`/api/v2/node-runs?sessionId=${graph.sessionId}`);
    const path = `/api/v2/node-runs/${found.body.nodeRuns[0].id}/replay`;
    const [context, data] = [await get(path), await get(`${path}/inputs/1/data`)];
    expect([context.status, data.status]).toEqual([409, 409]);
    expect((await get(`${path}?attempt=2`)).status).toBe(409);
  });
});
