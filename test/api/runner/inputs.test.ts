import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { runnerStage, utf8 } from '../../support/runner.ts';

const stage = await runnerStage({ INCREMENTAL_MAX_INPUTS: '5' });
const { people } = stage;

/** An uploaded node with these bytes in turn, and a runner that holds the task of its child. */
async function held(uploads: readonly string[], options: { readonly incremental?: boolean } = {}) {
  const graph = await stage.chainOf(1, options);
  const ids: number[] = [];
  for (const bytes of uploads) ids.push((await stage.upload(graph, 'input', bytes)).body.id);
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { graph, ids, runner, taskId: task.taskId as string };
}

describe('inputs', () => {
  test('are listed oldest first with every field of the decisions', async () => {
    const graph = await stage.chainOf(1);
    const sent = await stage.upload(graph, 'input', 'a,b\n1,2\n', {
      'content-type': 'text/csv',
      'x-platform-output-identifier': 'lap-1.csv',
      'x-platform-output-metadata': utf8('{"driver":"Änne","n":1}'),
    });
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const answer = await runner.call('GET', `/tasks/${taskId}/inputs`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      mode: 'since-watermark',
      inputs: [
        {
          outputId: sent.body.id,
          nodeInstanceId: graph.nodes.input,
          nodeName: 'input',
          outputIdentifier: 'lap-1.csv',
          contentType: 'text/csv',
          contentEncoding: null,
          sizeBytes: 8,
          sha256: sent.body.sha256,
          metadata: { driver: 'Änne', n: 1 },
          createdAt: sent.body.createdAt,
        },
      ],
      nextCursor: null,
      incremental: { watermark: null, pendingInputs: 1, maxInputsPerTask: 5 },
    });
  });

  test('in every mode end at the run’s upper bound and continue by cursor without repeating or skipping', async () => {
    const { graph, ids, runner, taskId } = await held(['1', '2', '3', '4', '5', '6', '7'], {
      incremental: true,
    });
    await stage.upload(graph, 'input', 'later');
    const page = async (query: string) => {
      const { body } = await runner.call('GET', `/tasks/${taskId}/inputs?${query}`);
      return { ids: body.inputs.map((input: { outputId: number }) => input.outputId), next: body.nextCursor };
    };
    const walk = async (mode: string, limit: number) => {
      const found: number[] = [];
      let cursor = '';
      do {
        const { ids, next } = await page(`mode=${mode}&limit=${limit}${cursor}`);
        found.push(...ids);
        cursor = next === null ? '' : `&cursor=${next}`;
      } while (cursor !== '');
      return found;
    };
    expect(await walk('all', 2)).toEqual(ids);
    expect(await walk('all', 500)).toEqual(ids);
    expect(await walk('since-watermark', 2)).toEqual(ids.slice(0, 5));
    expect(await walk('since-watermark', 5)).toEqual(ids.slice(0, 5));
    expect(await walk('latest', 1)).toEqual(ids.slice(6));
  });

  test('of since-watermark start above the watermark at the claim', async () => {
    const { graph, ids, runner, taskId } = await held(['1', '2', '3'], { incremental: true });
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[1] });
    const now = await runner.call('GET', `/tasks/${taskId}/inputs`);
    expect(now.body.inputs).toHaveLength(3);
    expect(now.body.incremental).toEqual({ watermark: ids[1], pendingInputs: 1, maxInputsPerTask: 5 });
    await runner.end(taskId, 'complete', { outcome: 'no-output', hasMore: true });
    const next = await runner.acquire(graph.template);
    expect(next).toMatchObject({ reason: 'follow-up', incremental: { watermark: ids[1], pendingInputs: 1 } });
    const then = await runner.call('GET', `/tasks/${next.taskId}/inputs`);
    expect(then.body.inputs.map((input: { outputId: number }) => input.outputId)).toEqual([ids[2]]);
  });

  test('with a wrong mode, cursor or limit are 400', async () => {
    const { runner, taskId } = await held(['1']);
    const queries = [
      'mode=newest',
      'mode=',
      'limit=0',
      'limit=501',
      'limit=x',
      'limit=1.5',
      'limit=-1',
      'cursor=',
      'cursor=x',
      'cursor=p',
      'cursor=pzzzzzzzzzzz',
      'cursor=p-1',
      'cursor=%00',
      'cursor=1%27%20or%20true',
      `cursor=p${'0'.repeat(5000)}`,
    ];
    for (const query of queries) {
      const answer = await runner.call('GET', `/tasks/${taskId}/inputs?${query}`);
      expect([answer.status, answer.body.code, query]).toEqual([400, 'invalid_request', query]);
    }
  });
});

describe('the data of an input', () => {
  test('are its bytes, whole, by range, and under their own type', async () => {
    const graph = await stage.chainOf(1);
    const bytes = randomBytes(3_000_000);
    const sent = await stage.upload(graph, 'input', bytes, { 'content-type': 'application/x-own' });
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const whole = await runner.read(taskId, sent.body.id);
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'application/x-own']);
    expect(whole.bytes.equals(bytes)).toBe(true);
    const range = await runner.read(taskId, sent.body.id, { range: 'bytes=1000000-2999998' });
    expect([range.status, range.headers.get('content-range')]).toEqual([
      206,
      'bytes 1000000-2999998/3000000',
    ]);
    expect(range.bytes.equals(bytes.subarray(1_000_000, 2_999_999))).toBe(true);
    const outside = await runner.read(taskId, sent.body.id, { range: 'bytes=3000000-' });
    expect([outside.status, JSON.parse(outside.bytes.toString()).code]).toEqual([
      416,
      'range_not_satisfiable',
    ]);
    const known = await runner.read(taskId, sent.body.id, { 'if-none-match': `"${sent.body.sha256}"` });
    expect([known.status, known.bytes.length]).toEqual([304, 0]);
  });

  test('stored compressed are sent unchanged to callers that accept gzip, else decoded and without range', async () => {
    const graph = await stage.chainOf(1);
    const plain = Buffer.from('time,speed\n'.repeat(10_000));
    const sent = await stage.upload(graph, 'input', gzipSync(plain), { 'content-encoding': 'gzip' });
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const decoded = await runner.read(taskId, sent.body.id, {
      'accept-encoding': 'identity',
      range: 'bytes=0-9',
    });
    expect([decoded.status, decoded.headers.get('content-encoding')]).toEqual([200, null]);
    expect(decoded.bytes.equals(plain)).toBe(true);
    // fetch decodes by itself what is marked as gzip.
    const packed = await runner.read(taskId, sent.body.id, { 'accept-encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('content-length')).toBe(String(gzipSync(plain).length));
    expect(packed.bytes.equals(plain)).toBe(true);
    expect(gunzipSync(gzipSync(plain)).equals(plain)).toBe(true);
  });

  test('are those of the version within the run’s bound, also after the output was replaced', async () => {
    const graph = await stage.chainOf(1);
    const identifier = { 'x-platform-output-identifier': 'same' };
    const first = await stage.upload(graph, 'input', 'old', identifier);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const second = await stage.upload(graph, 'input', 'new bytes', identifier);
    expect([second.status, second.body.id]).toEqual([200, first.body.id]);
    expect((await runner.read(taskId, first.body.id)).bytes.toString()).toBe('old');
    const { body } = await runner.call('GET', `/tasks/${taskId}/inputs?mode=all`);
    expect(body.inputs).toMatchObject([{ outputId: first.body.id, sizeBytes: 3 }]);
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    const next = await runner.acquire(graph.template);
    expect((await runner.read(next.taskId, first.body.id)).bytes.toString()).toBe('new bytes');
  });

  test('of another output are 404 input_not_found', async () => {
    const { graph, runner, taskId } = await held(['1']);
    const later = await stage.upload(graph, 'input', 'later');
    const foreign = await stage.upload(await stage.chainOf(1), 'input', 'foreign');
    const ids = [later.body.id, foreign.body.id, 0, -1, 'abc', '9007199254740993', '1e3', `1'--`];
    for (const id of ids) {
      const answer = await runner.call('GET', `/tasks/${taskId}/inputs/${id}/data`);
      expect([answer.status, answer.body.code, id]).toEqual([404, 'input_not_found', id]);
    }
  });
});

describe('state', () => {
  test('shows the node’s newest own output, what its runner stored, and the counters', async () => {
    const { graph, ids, runner, taskId } = await held(['1', '2'], { incremental: true });
    const first = await runner.call('GET', `/tasks/${taskId}/state`);
    expect(first.body).toEqual({
      previousOutput: null,
      state: null,
      incremental: { watermark: null, pendingInputs: 2, maxInputsPerTask: 5 },
    });
    const written = await runner.write(taskId, 'sum', {
      'x-platform-watermark': String(ids[0]),
      'x-platform-output-identifier': 'sum-1',
    });
    await runner.call('PUT', `/tasks/${taskId}/watermark`, {
      inputId: ids[0],
      state: { n: 1, __proto__x: [1] },
    });
    await runner.end(taskId, 'complete', { outcome: 'completed', hasMore: true, state: { n: 2 } });
    const next = await runner.acquire(graph.template);
    const second = await runner.call('GET', `/tasks/${next.taskId}/state`);
    expect(second.body).toMatchObject({
      previousOutput: {
        outputId: written.body.outputId,
        nodeName: 'n1',
        outputIdentifier: 'sum-1',
        sizeBytes: 3,
      },
      state: { n: 2 },
      incremental: { watermark: ids[0], pendingInputs: 1 },
    });
  });
});

test('only the holder reads a task: 404 for another instance or account, and for an unknown task', async () => {
  const { ids, runner, taskId } = await held(['1']);
  const others = [
    stage.runner(),
    stage.runner({ instanceId: runner.instanceId, token: people.Administrator.token }),
  ];
  const paths = [
    `/tasks/${taskId}/inputs`,
    `/tasks/${taskId}/inputs/${ids[0]}/data`,
    `/tasks/${taskId}/state`,
  ];
  for (const other of others) {
    for (const path of paths) {
      const answer = await other.call('GET', path);
      expect([answer.status, answer.body.code]).toEqual([404, 'task_not_found']);
    }
  }
  for (const id of ['abc', '0', '%00', '00000000-0000-7000-8000-000000000000']) {
    const answer = await runner.call('GET', `/tasks/${id}/inputs`);
    expect([answer.status, answer.body.code]).toEqual([404, 'task_not_found']);
  }
});
