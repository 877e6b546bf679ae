import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';
import { taskUploads } from '../../support/task-uploads.ts';

const stage = await runnerStage();
const { api, database, people } = stage;
const id = (value: string) => ({ 'x-platform-output-identifier': value });

async function held(options: { incremental?: boolean; length?: number; maxAttempts?: number } = {}) {
  const graph = await stage.chainOf(options.length ?? 1, options);
  const input = await stage.upload(graph, 'input', 'x');
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  const uploads = taskUploads(api.url, people.Developer.token, runner.instanceId);
  return { graph, runner, uploads, taskId: task.taskId as string, inputId: input.body.id as number };
}

async function listOf(graph: StageGraph, node = 'n1') {
  const path = `/api/v2/node-instance/${graph.nodes[node]}/outputs`;
  const answer = await ask(api.url, 'GET', path, { token: people.Developer.token });
  return answer.status === 404 ? [] : answer.body;
}

async function progressOf({ sessionId }: StageGraph) {
  const answer = await ask(api.url, 'GET', `/api/v2/session/${sessionId}/node-instances`, {
    token: people.Developer.token,
  });
  return answer.body.nodeInstances.find(({ name }: { name: string }) => name === 'n1');
}

describe('an output of an earlier run', () => {
  test('found again counts as written, publishes nothing new and starts no child', async () => {
    const { graph, runner, uploads, taskId } = await held({ length: 2 });
    const first = await runner.write(taskId, 'x', id('same'));
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    const child = await runner.acquire(graph.template);
    await runner.end(child.taskId, 'complete', { outcome: 'no-output' });
    const before = await listOf(graph);
    for (const meet of [
      (task: string) => runner.write(task, 'other', id('same')),
      (task: string) => uploads.start(task, id('same')),
    ]) {
      await stage.upload(graph, 'input', 'more');
      const next = await runner.acquire(graph.template);
      const again = await meet(next.taskId);
      expect([again.status, again.body.outputId]).toEqual([200, first.body.outputId]);
      const end = await runner.end(next.taskId, 'complete', { outcome: 'completed' });
      expect([end.status, end.body.nodeState]).toEqual([200, 'Succeeded']);
      expect(await listOf(graph)).toEqual(before);
      expect((await runner.claim(graph.template)).status).toBe(204);
    }
  });
});

describe('a staged output', () => {
  const kept: [string, unknown][] = [
    ['release', undefined],
    ['fail', { category: 'error', reason: 'x' }],
  ];
  test.each(kept)('stays for the next attempt after %s', async (end, body) => {
    const { graph, runner, taskId } = await held();
    const staged = await runner.write(taskId, 'x', id('kept'));
    await runner.end(taskId, end as 'release', body);
    await database.query(`update node_run set state = 'queued', due_at = null where session_id = $1`, [
      graph.sessionId,
    ]);
    const next = await runner.acquire(graph.template);
    expect(await runner.write(next.taskId, 'x', id('kept'))).toMatchObject({
      status: 200,
      body: staged.body,
    });
    await runner.end(next.taskId, 'complete', { outcome: 'completed' });
    expect(await listOf(graph)).toHaveLength(1);
  });

  const dropped: [string, 'complete' | 'fail', unknown, number][] = [
    ['no-output', 'complete', { outcome: 'no-output' }, 3],
    ['suspended', 'complete', { outcome: 'suspended' }, 3],
    ['a failure that is not tried again', 'fail', { category: 'validation', reason: 'x' }, 3],
    ['a failure of the last attempt', 'fail', { category: 'timeout', reason: 'x' }, 1],
  ];
  test.each(dropped)('is dropped by %s, in parts or not', async (_how, end, body, maxAttempts) => {
    const { graph, runner, uploads, taskId } = await held({ maxAttempts });
    await runner.write(taskId, 'x');
    const handle = await uploads.begin(taskId);
    await uploads.put(taskId, handle, 1, 'y');
    await uploads.complete(taskId, handle);
    await runner.end(taskId, end, body);
    expect(await listOf(graph)).toEqual([]);
    const rows = await database.query('select 1 from node_output where node_instance_id = $1', [
      graph.nodes.n1,
    ]);
    expect(rows).toEqual([]);
  });
});

describe('a cancelled run', () => {
  const ends: ['complete' | 'fail' | 'release', unknown][] = [
    ['complete', { outcome: 'completed' }],
    ['fail', { category: 'error', reason: 'x' }],
    ['release', {}],
  ];
  test.each(ends)(
    'is Failed as cancelled for any outcome that %s reports, and drops its staged outputs',
    async (end, body) => {
      const { graph, runner, taskId } = await held();
      await runner.write(taskId, 'x');
      await database.query('update node_run set cancel_requested = true where session_id = $1', [
        graph.sessionId,
      ]);
      const heartbeat = await runner.call('PUT', `/tasks/${taskId}/heartbeat`, {});
      expect(heartbeat.body.cancelRequested).toBe(true);
      const reply = await runner.end(taskId, end, body);
      expect([reply.status, reply.body.nodeState]).toEqual([200, 'Failed']);
      expect(await progressOf(graph)).toMatchObject({ state: 'Failed', statusDetails: 'cancelled' });
      expect(await listOf(graph)).toEqual([]);
      expect((await runner.claim(graph.template)).status).toBe(204);
    },
  );

  test.each(ends)('whose node has newer input is Pending in the reply to %s too', async (end, body) => {
    const { graph, runner, taskId } = await held();
    await database.query('update node_run set cancel_requested = true where session_id = $1', [
      graph.sessionId,
    ]);
    await stage.upload(graph, 'input', 'newer');
    expect((await runner.end(taskId, end, body)).body.nodeState).toBe('Pending');
    expect(await progressOf(graph)).toMatchObject({ state: 'Pending' });
    await runner.end((await runner.acquire(graph.template)).taskId, 'complete', { outcome: 'no-output' });
  });
});

describe('the reply to an end', () => {
  test('is repeated for ten minutes, then the task is 404', async () => {
    const { runner, taskId } = await held();
    const end = { outcome: 'no-output' };
    await runner.end(taskId, 'complete', end);
    const endedBefore = (minutes: number) =>
      database.query(
        'update node_claim set ended_at = now() - make_interval(mins => $2) where task_id = $1',
        [taskId, minutes],
      );
    await endedBefore(9);
    expect((await runner.end(taskId, 'complete', end)).status).toBe(200);
    await endedBefore(10);
    const late = await runner.end(taskId, 'complete', end);
    expect([late.status, late.body.code]).toEqual([404, 'task_not_found']);
  });
});

describe('incremental state', () => {
  test('is stored by complete and by the watermark, and kept when a later call omits it', async () => {
    const { graph, runner, taskId, inputId } = await held({ incremental: true });
    const stateOf = async (task: string) => (await runner.call('GET', `/tasks/${task}/state`)).body.state;
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId, state: { n: 1 } });
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId });
    expect(await stateOf(taskId)).toEqual({ n: 1 });
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    await stage.upload(graph, 'input', 'more');
    const next = await runner.acquire(graph.template);
    expect(await stateOf(next.taskId)).toEqual({ n: 1 });
    const large = { a: 'x'.repeat(65_536 - 8) };
    await runner.end(next.taskId, 'complete', { outcome: 'no-output', state: large });
    await stage.upload(graph, 'input', 'more');
    expect(await stateOf((await runner.acquire(graph.template)).taskId)).toEqual(large);
  });

  test('a node that is not incremental moves its watermark by succeeding', async () => {
    const { graph, runner, taskId, inputId } = await held();
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    const later = await stage.upload(graph, 'input', 'more');
    const next = await runner.acquire(graph.template);
    expect(next.incremental).toMatchObject({ watermark: inputId, pendingInputs: 1 });
    const inputs = await runner.call('GET', `/tasks/${next.taskId}/inputs`);
    expect(inputs.body.inputs).toMatchObject([{ outputId: later.body.id }]);
    await runner.end(next.taskId, 'fail', { category: 'validation', reason: 'x' });
    await stage.upload(graph, 'input', 'even more');
    const after = await runner.acquire(graph.template);
    expect(after.incremental).toMatchObject({ watermark: inputId, pendingInputs: 2 });
  });
});

test('latest inputs are all that a parent published last together', async () => {
  const { graph, runner, taskId } = await held({ length: 2 });
  await runner.write(taskId, 'old');
  await runner.end(taskId, 'complete', { outcome: 'completed' });
  await runner.end((await runner.acquire(graph.template)).taskId, 'complete', { outcome: 'no-output' });
  await stage.upload(graph, 'input', 'more');
  const second = await runner.acquire(graph.template);
  const together = [await runner.write(second.taskId, 'a'), await runner.write(second.taskId, 'b')];
  await runner.end(second.taskId, 'complete', { outcome: 'completed' });
  const child = await runner.acquire(graph.template);
  const latest = await runner.call('GET', `/tasks/${child.taskId}/inputs?mode=latest`);
  expect(latest.body.inputs.map(({ outputId }: { outputId: number }) => outputId)).toEqual(
    together.map(({ body }) => body.outputId),
  );
});

describe('an invalid body', () => {
  const send = async (
    taskId: string,
    instanceId: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string>,
  ) => {
    const response = await fetch(`${api.url}/api/v2/runner/tasks/${taskId}/heartbeat`, {
      method: 'PUT',
      body,
      headers: {
        authorization: `Bearer ${people.Developer.token}`,
        'x-platform-runner-instance': instanceId,
        'content-type': 'application/json',
        ...headers,
      },
    });
    return [response.status, ((await response.json()) as { code: string }).code];
  };
  test('is 413 above 1 MB, 415 when it is compressed, 400 when it is malformed', async () => {
    const { runner, taskId } = await held();
    const own = runner.instanceId;
    const large = JSON.stringify({ message: 'x'.repeat(1024 * 1024) });
    expect(await send(taskId, own, large, {})).toEqual([413, 'body_too_large']);
    const packed = new Uint8Array(gzipSync('{}'));
    expect(await send(taskId, own, packed, { 'content-encoding': 'gzip' })).toEqual([
      415,
      'unsupported_media_type',
    ]);
    for (const text of ['{', '{"phase":"a","phase":"b"}', 'nul', `${'['.repeat(100)}${']'.repeat(100)}`]) {
      expect([text, await send(taskId, own, text, {})]).toEqual([text, [400, 'invalid_request']]);
    }
  });
});

describe('when the object store of a node', () => {
  const named = (graph: StageGraph, name: string) =>
    database.query('update node_instance set configuration = $2 where session_id = $1', [
      graph.sessionId,
      JSON.stringify({ dataSourceName: name }),
    ]);
  test('does not answer, writes are 503 unavailable and leave no visible row', async () => {
    const { graph, runner, uploads, taskId } = await held();
    await database.query(
      `insert into data_source (name, endpoint, bucket, access_key_id) values ('down', 'http://127.0.0.1:9', 'b', 'x')`,
    );
    await named(graph, 'down');
    for (const answer of [await runner.write(taskId, 'x'), await uploads.start(taskId)]) {
      expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
    }
    expect(await database.query(`select 1 from task_upload where state = 'open'`)).toEqual([]);
    const end = await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect(end.body.code).toBe('output_missing');
  });

  test('is not registered, writes are 404 not_found', async () => {
    const { graph, runner, uploads, taskId } = await held();
    await named(graph, 'nowhere');
    for (const answer of [await runner.write(taskId, 'x'), await uploads.start(taskId)]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    }
  });
});

test('the routes also answer under /api/v2.0', async () => {
  const { runner, taskId, inputId } = await held();
  const call = (method: string, path: string) =>
    ask(api.url, method, `/api/v2.0/runner${path}`, {
      token: people.Developer.token,
      headers: { 'x-platform-runner-instance': runner.instanceId },
    });
  expect((await call('GET', '/whoami')).status).toBe(200);
  expect((await call('HEAD', `/tasks/${taskId}/inputs/${inputId}/data`)).headers.get('content-length')).toBe(
    '1',
  );
  expect((await call('POST', `/tasks/${taskId}/outputs/uploads`)).status).toBe(201);
  const missing = await call('GET', '/nothing');
  expect([missing.status, missing.body.code]).toEqual([404, 'not_found']);
});
