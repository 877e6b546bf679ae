import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ask } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { runnerStage, utf8 } from '../../../support/runner.ts';

const stage = await runnerStage();
const { api, database, people } = stage;
const mebibyte = 1024 * 1024;

async function held(inputs = 1, incremental = false) {
  const graph = await stage.chainOf(2, { incremental });
  const ids: number[] = [];
  for (let at = 0; at < inputs; at += 1) ids.push((await stage.upload(graph, 'input', `${at}`)).body.id);
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { graph, ids, runner, taskId: task.taskId as string, runId: task.runId as string };
}

async function listOf(nodeInstanceId: number | undefined) {
  const answer = await ask(api.url, 'GET', `/api/v2/node-instance/${nodeInstanceId}/outputs`, {
    token: people.Developer.token,
  });
  return answer.status === 404 ? [] : answer.body;
}

/** Rows and objects that refused writes could leave. */
async function leftovers(runId: string) {
  const [row] = await database.query<{ outputs: number; pending: number }>(
    `select (select count(*) from node_output where run_id = $1) as outputs,
            (select count(*) from pending_object) as pending`,
    [runId],
  );
  return row;
}

describe('an output', () => {
  test('is staged until its task completes, then published with the others in the order of writing', async () => {
    const { graph, runner, taskId } = await held();
    const bytes = randomBytes(50_000);
    const first = await runner.write(taskId, bytes, {
      'content-type': 'text/csv',
      'x-platform-output-identifier': 'a.b_c-1',
      'x-platform-output-metadata': utf8('{"unit":"°C"}'),
    });
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      outputId: first.body.outputId,
      outputIdentifier: 'a.b_c-1',
      sizeBytes: 50_000,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const second = await runner.write(taskId, '', { 'x-platform-output-identifier': 'empty' });
    expect([second.status, second.body.sizeBytes]).toEqual([201, 0]);
    expect(await listOf(graph.nodes.n1)).toEqual([]);
    expect((await stage.runner().claim(graph.template)).status).toBe(204);
    const end = await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect(end.body).toEqual({ taskId, outcome: 'completed', nodeState: 'Succeeded', followUp: false });
    expect(await listOf(graph.nodes.n1)).toMatchObject([
      { id: first.body.outputId, contentType: 'text/csv', metadata: { unit: '°C' } },
      { id: second.body.outputId },
    ]);
    const child = stage.runner();
    const next = await child.acquire(graph.template);
    expect(next.nodeName).toBe('n2');
    expect((await child.read(next.taskId, first.body.outputId)).bytes.equals(bytes)).toBe(true);
  });

  test('sent again with its identifier is the existing one, 200, for any bytes', async () => {
    const { runner, taskId, runId } = await held();
    const headers = { 'x-platform-output-identifier': 'same' };
    const first = await runner.write(taskId, 'one', headers);
    const again = await runner.write(taskId, 'other bytes', headers);
    expect([again.status, again.body]).toEqual([200, first.body]);
    const many = await Promise.all(
      Array.from({ length: 8 }, () => runner.write(taskId, 'x', { 'x-platform-output-identifier': 'raced' })),
    );
    expect(many.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(many.map(({ body }) => body.outputId)).size).toBe(1);
    expect(await leftovers(runId)).toEqual({ outputs: 2, pending: 0 });
  });

  test('without an identifier gets one of the run, and the next attempt meets it again', async () => {
    const { graph, runner, taskId, runId } = await held();
    const written = [await runner.write(taskId, '1'), await runner.write(taskId, '2')];
    expect(written.map(({ body }) => body.outputIdentifier)).toEqual([`${runId}.1`, `${runId}.2`]);
    await runner.end(taskId, 'release');
    const next = await runner.acquire(graph.template);
    const again = await runner.write(next.taskId, '1');
    expect([again.status, again.body]).toEqual([200, written[0]!.body]);
    const done = await runner.end(next.taskId, 'complete', { outcome: 'completed' });
    expect(done.status).toBe(200);
    expect(await listOf(graph.nodes.n1)).toHaveLength(2);
  });

  test('of 16 MB is accepted, of one byte more refused with 413, declared or not', async () => {
    const { runner, taskId, runId } = await held();
    const largest = Buffer.alloc(16 * mebibyte, 7);
    const taken = await runner.write(taskId, largest);
    expect([taken.status, taken.body.sizeBytes]).toEqual([201, largest.length]);
    const tooLarge = Buffer.alloc(largest.length + 1);
    const declared = await runner.write(taskId, tooLarge);
    expect([declared.status, declared.body.code]).toEqual([413, 'output_too_large']);
    const response = await fetch(`${api.url}/api/v2/runner/tasks/${taskId}/outputs`, {
      method: 'POST',
      body: new Blob([tooLarge]).stream(),
      headers: {
        authorization: `Bearer ${people.Developer.token}`,
        'x-platform-runner-instance': runner.instanceId,
      },
      duplex: 'half',
    } as RequestInit);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      413,
      'output_too_large',
    ]);
    expect(await leftovers(runId)).toEqual({ outputs: 1, pending: 0 });
  });

  test('sent compressed is stored compressed', async () => {
    const { runner, taskId, graph } = await held();
    const packed = gzipSync('a,b\n');
    const written = await runner.write(taskId, packed, { 'content-encoding': 'gzip' });
    expect([written.status, written.body.sizeBytes]).toEqual([201, packed.length]);
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect(await listOf(graph.nodes.n1)).toMatchObject([{ contentEncoding: 'gzip' }]);
    const child = await runner.acquire(graph.template);
    expect((await runner.read(child.taskId, written.body.outputId)).bytes.toString()).toBe('a,b\n');
  });

  test('with invalid headers is refused and leaves nothing', async () => {
    const { runner, taskId, runId, ids } = await held();
    const cases: [Record<string, string>, number, string][] = [
      ...['', ' ', 'a b', 'a/b', '../../x', 'é', 'x'.repeat(101), "a'--"].map(
        (value): [Record<string, string>, number, string] => [
          { 'x-platform-output-identifier': value },
          400,
          'invalid_output_identifier',
        ],
      ),
      ...[
        '',
        '[]',
        'null',
        '1',
        '{',
        '{"$x":1}',
        '{"a":1,"a":2}',
        '{"a":"\\u0000"}',
        '{"a":"\\ud800"}',
        `{"a":"${'x'.repeat(4090)}"}`,
        '\u00ff',
      ].map((value): [Record<string, string>, number, string] => [
        { 'x-platform-output-metadata': value },
        400,
        'invalid_output_metadata',
      ]),
      ...['', 'abc', '0', '-1', '1.5', '9007199254740992', '1 or 1'].map(
        (value): [Record<string, string>, number, string] => [
          { 'x-platform-watermark': value },
          400,
          'invalid_request',
        ],
      ),
      [{ 'x-platform-watermark': String(ids[0]! + 1_000_000) }, 409, 'watermark_unknown_input'],
      [{ 'content-encoding': 'br' }, 415, 'unsupported_media_type'],
      [{ 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }, 400, 'invalid_request'],
    ];
    for (const [headers, status, code] of cases) {
      const answer = await runner.write(taskId, 'bytes', headers);
      expect([answer.status, answer.body.code, headers]).toEqual([status, code, headers]);
    }
    expect(await leftovers(runId)).toEqual({ outputs: 0, pending: 0 });
    const end = await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect([end.status, end.body.code]).toEqual([409, 'output_missing']);
  });

  test('whose sender disconnects leaves nothing and keeps the task', async () => {
    const { runner, taskId, runId } = await held();
    const { port, hostname } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /api/v2/runner/tasks/${taskId}/outputs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${people.Developer.token}\r\n` +
        `x-platform-runner-instance: ${runner.instanceId}\r\ncontent-length: 1000\r\n\r\nhalf`,
    );
    await eventually('the object is begun', async () => (await leftovers(runId))!.pending === 1);
    socket.destroy();
    await eventually('it is discarded', async () => (await leftovers(runId))!.pending === 0);
    expect((await runner.write(taskId, 'whole')).status).toBe(201);
  });

  test('survives a lost attempt: the next one finds it by its identifier', async () => {
    const { graph, runner, taskId } = await held();
    const headers = { 'x-platform-output-identifier': 'kept' };
    const first = await runner.write(taskId, 'one', headers);
    await database.query(
      `update node_claim set lease_until = now() - interval '1 second' where task_id = $1`,
      [taskId],
    );
    await runner.claim(graph.template); // ends the lost claim
    const [claim] = await database.query<{ taskId: string }>(
      'select task_id from node_claim where instance_id = $1 and ended_at is null',
      [runner.instanceId],
    );
    const again = await runner.write(claim!.taskId, 'one', headers);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });
});

describe('an output with a watermark', () => {
  test('is published at once, moves the watermark and wakes the children', async () => {
    const { graph, ids, runner, taskId } = await held(3, true);
    const written = await runner.write(taskId, 'sum', {
      'x-platform-output-identifier': 'sum',
      'x-platform-watermark': String(ids[1]),
    });
    expect(written.status).toBe(201);
    expect(await listOf(graph.nodes.n1)).toMatchObject([{ id: written.body.outputId }]);
    expect((await stage.runner().acquire(graph.template)).nodeName).toBe('n2');
    const state = await runner.call('GET', `/tasks/${taskId}/state`);
    expect(state.body.incremental).toMatchObject({ watermark: ids[1], pendingInputs: 1 });
    const below = await runner.write(taskId, 'x', { 'x-platform-watermark': String(ids[0]) });
    expect([below.status, below.body.code]).toEqual([409, 'watermark_regression']);
    const same = await runner.write(taskId, 'more', { 'x-platform-watermark': String(ids[1]) });
    expect(same.status).toBe(201);
  });

  test('on a resend publishes the staged outputs', async () => {
    const { graph, ids, runner, taskId } = await held(1, true);
    const headers = { 'x-platform-output-identifier': 'late' };
    const staged = await runner.write(taskId, 'x', headers);
    expect(await listOf(graph.nodes.n1)).toEqual([]);
    const again = await runner.write(taskId, 'x', { ...headers, 'x-platform-watermark': String(ids[0]) });
    expect([again.status, again.body.outputId]).toEqual([200, staged.body.outputId]);
    expect(await listOf(graph.nodes.n1)).toHaveLength(1);
  });
});
