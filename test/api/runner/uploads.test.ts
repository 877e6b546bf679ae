import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, utf8 } from '../../support/runner.ts';
import { bucketContents, sweepAll, taskUploads } from '../../support/task-uploads.ts';

const stage = await runnerStage();
const { api, database, people, platform } = stage;
const mebibyte = 1024 * 1024;
const minPart = 5 * mebibyte;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const id = (value: string) => ({ 'x-platform-output-identifier': value });

async function held(inputs = 1, incremental = false) {
  const graph = await stage.chainOf(2, { incremental });
  const ids: number[] = [];
  for (let at = 0; at < inputs; at += 1) ids.push((await stage.upload(graph, 'input', `${at}`)).body.id);
  const runner = stage.runner();
  const task = await runner.take(graph.template);
  const uploads = taskUploads(api.url, people.Developer.token, runner.instanceId);
  return { graph, ids, runner, uploads, taskId: task.taskId as string, runId: task.runId as string };
}

async function listOf(nodeInstanceId: number | undefined) {
  const answer = await ask(api.url, 'GET', `/api/v2/node-instance/${nodeInstanceId}/outputs`, {
    token: people.Developer.token,
  });
  return answer.status === 404 ? [] : answer.body;
}

/** The keys of all objects that the uploads of a task are about. */
async function keysOf(taskId: string): Promise<string[]> {
  const rows = await database.query<{ key: string }>(
    'select object_key as key from task_upload where task_id = $1',
    [taskId],
  );
  return rows.map(({ key }) => key);
}

/** After a sweep nothing of these objects is left but what outputs refer to. */
async function expectOnlyOutputs(keys: readonly string[], outputs: number): Promise<void> {
  await sweepAll(platform, database);
  const { objects, uploads } = await bucketContents(platform);
  const ours = (line: string) => keys.some((key) => line.startsWith(`${key} `));
  expect(uploads.filter(ours)).toEqual([]);
  expect(objects.filter(ours)).toHaveLength(outputs);
  const count = async (table: string) =>
    (await database.queryAnew(`select 1 from ${table} where object_key = any ($1)`, [keys])).length;
  expect([await count('node_output'), await count('pending_object'), await count('object_deletion')]).toEqual(
    [outputs, 0, 0],
  );
}

describe('an output in parts', () => {
  test('is what its parts are in the order of their numbers, and an output like any other', async () => {
    const { graph, runner, uploads, taskId } = await held();
    const started = await uploads.start(taskId, {
      ...id('large.bin'),
      'content-type': 'application/x-own',
      'x-platform-output-metadata': utf8('{"unit":"°C"}'),
    });
    expect([started.status, started.body]).toEqual([
      201,
      {
        handle: expect.stringMatching(/^[0-9a-f-]{36}$/),
        minPartBytes: 5_242_880,
        maxPartBytes: 104_857_600,
        maxParts: 10_000,
        expiresAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      },
    ]);
    expect(Date.parse(started.body.expiresAt)).toBeGreaterThan(Date.now() + 86_400_000);
    const { handle } = started.body;
    const parts = [randomBytes(minPart), randomBytes(minPart + 7), randomBytes(11)];
    expect((await uploads.put(taskId, handle, 2, randomBytes(100))).status).toBe(200);
    const answers = await Promise.all(
      [3, 1, 2].map((part) => uploads.put(taskId, handle, part, parts[part - 1]!)),
    );
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      [3, 1, 2].map((part) => [
        200,
        { part, sizeBytes: parts[part - 1]!.length, sha256: sha256(parts[part - 1]!) },
      ]),
    );
    const whole = Buffer.concat(parts);
    const completed = await uploads.complete(taskId, handle);
    expect([completed.status, completed.body]).toEqual([
      201,
      {
        outputId: completed.body.outputId,
        outputIdentifier: 'large.bin',
        sizeBytes: whole.length,
        sha256: null,
        createdAt: expect.stringMatching(/\.\d{3}Z$/),
      },
    ]);
    expect(await listOf(graph.nodes.n1)).toEqual([]);
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect(await listOf(graph.nodes.n1)).toMatchObject([
      {
        id: completed.body.outputId,
        contentType: 'application/x-own',
        metadata: { unit: '°C' },
        sizeBytes: whole.length,
        sha256: null,
      },
    ]);
    const child = stage.runner();
    const next = await child.take(graph.template);
    const read = await child.read(next.taskId, completed.body.outputId);
    expect(read.bytes.equals(whole)).toBe(true);
    // The store's own tag of an object in three parts.
    expect(read.headers.get('etag')).toMatch(/^"[0-9a-f]{32}-3"$/);
    const range = await child.read(next.taskId, completed.body.outputId, {
      range: `bytes=${minPart - 1}-${minPart}`,
    });
    expect(range.bytes.equals(whole.subarray(minPart - 1, minPart + 1))).toBe(true);
  });

  test('with a gap or a small part is refused and stays open', async () => {
    const { uploads, taskId } = await held();
    const handle = await uploads.begin(taskId);
    const refused = async () => {
      const { status, body } = await uploads.complete(taskId, handle);
      return [status, body.code, body.message];
    };
    expect(await refused()).toEqual([400, 'upload_incomplete', 'Parts are missing: 1.']);
    await uploads.put(taskId, handle, 4, 'last');
    expect(await refused()).toEqual([400, 'upload_incomplete', 'Parts are missing: 1, 2, 3.']);
    const large = Buffer.alloc(minPart, 1);
    await uploads.put(taskId, handle, 1, large);
    await uploads.put(taskId, handle, 2, large.subarray(1));
    await uploads.put(taskId, handle, 3, large);
    expect((await refused()).slice(0, 2)).toEqual([400, 'part_too_small']);
    await uploads.put(taskId, handle, 2, large);
    const completed = await uploads.complete(taskId, handle);
    expect([completed.status, completed.body.sizeBytes]).toEqual([201, 3 * minPart + 4]);
  });

  test('of nothing is empty, and never compressed', async () => {
    const { graph, runner, uploads, taskId } = await held();
    const handle = await uploads.begin(taskId, { 'content-encoding': 'gzip' });
    expect((await uploads.put(taskId, handle, 1, '')).body.sizeBytes).toBe(0);
    expect((await uploads.complete(taskId, handle)).body.sizeBytes).toBe(0);
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect(await listOf(graph.nodes.n1)).toMatchObject([{ sizeBytes: 0, contentEncoding: null }]);
  });

  test('takes part 10,000 and no other number; parts above 100 MB are refused, declared or not', async () => {
    const { uploads, taskId } = await held();
    const handle = await uploads.begin(taskId);
    expect((await uploads.put(taskId, handle, 10_000, 'x')).status).toBe(200);
    for (const part of ['0', '-1', '10001', '99999999999999999999999']) {
      const { status, body } = await uploads.put(taskId, handle, part, 'x');
      expect([part, status, body.code]).toEqual([part, 400, 'invalid_request']);
    }
    for (const part of ['abc', '1.5', '01', '1e3', '+1', '%20', '1%27--', 'NaN']) {
      const { status, body } = await uploads.put(taskId, handle, part, 'x');
      expect([part, status, body.code]).toEqual([part, 404, 'upload_not_found']);
    }
    const tooLarge = Buffer.alloc(100 * mebibyte + 1);
    for (const bytes of [tooLarge, new Blob([tooLarge]).stream()]) {
      const { status, body } = await uploads.put(taskId, handle, 1, bytes);
      expect([status, body.code]).toEqual([413, 'body_too_large']);
    }
    const largest = await uploads.put(taskId, handle, 1, tooLarge.subarray(1));
    expect([largest.status, largest.body.sizeBytes]).toEqual([200, 100 * mebibyte]);
  });

  test('takes no part that does not match its checksum, and keeps the one before', async () => {
    const { uploads, taskId } = await held();
    const handle = await uploads.begin(taskId);
    const base64 = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('base64');
    const good = { 'content-md5': base64('md5', 'good'), 'x-amz-checksum-sha256': base64('sha256', 'good') };
    expect((await uploads.put(taskId, handle, 1, 'good', good)).status).toBe(200);
    for (const headers of [
      { 'content-md5': base64('md5', 'good') },
      { 'x-amz-checksum-sha256': base64('sha256', 'good') },
      { 'content-md5': 'nonsense' },
      { 'x-amz-checksum-sha256': '' },
    ]) {
      const { status, body } = await uploads.put(taskId, handle, 1, 'evil', headers);
      expect([status, body.code, headers]).toEqual([400, 'invalid_request', headers]);
    }
    const completed = await uploads.complete(taskId, handle);
    expect(completed.status).toBe(201);
    const [row] = await database.query<{ etag: string }>('select etag from node_output where id = $1', [
      completed.body.outputId,
    ]);
    const md5 = createHash('md5').update('good').digest();
    expect(row!.etag).toBe(`${createHash('md5').update(md5).digest('hex')}-1`);
  });

  test('without an identifier gets one of the run when it is completed', async () => {
    const { runner, uploads, taskId, runId } = await held();
    const handles = [await uploads.begin(taskId), await uploads.begin(taskId)];
    for (const handle of handles) await uploads.put(taskId, handle, 1, handle);
    const second = await uploads.complete(taskId, handles[1]!);
    const first = await uploads.complete(taskId, handles[0]!);
    const single = await runner.write(taskId, 'x');
    expect([second, first, single].map(({ body }) => body.outputIdentifier)).toEqual([
      `${runId}.1`,
      `${runId}.2`,
      `${runId}.3`,
    ]);
    const again = await uploads.complete(taskId, handles[1]!);
    expect([again.status, again.body]).toEqual([200, second.body]);
  });

  test('whose parts are not the last ones that were stored is to be sent again, in part', async () => {
    const { uploads, taskId } = await held();
    const handle = await uploads.begin(taskId);
    await uploads.put(taskId, handle, 1, Buffer.alloc(minPart));
    await uploads.put(taskId, handle, 2, 'two');
    // As after a process that died between the store and the row.
    await database.query(`update task_upload_part set etag = '"other"' where handle = $1 and number = 2`, [
      handle,
    ]);
    const refused = await uploads.complete(taskId, handle);
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      400,
      'upload_incomplete',
      'Parts are missing: 2.',
    ]);
    await uploads.put(taskId, handle, 2, 'two');
    expect((await uploads.complete(taskId, handle)).status).toBe(201);
  });
});

describe('repeats', () => {
  test('of a completion, also at the same moment, get the one output', async () => {
    const { uploads, taskId } = await held();
    for (const headers of [{}, id('named')]) {
      const handle = await uploads.begin(taskId, headers);
      await uploads.put(taskId, handle, 1, 'bytes');
      const answers = await Promise.all(Array.from({ length: 6 }, () => uploads.complete(taskId, handle)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
      expect(new Set(answers.map(({ body }) => body.outputId)).size).toBe(1);
    }
    await expectOnlyOutputs(await keysOf(taskId), 2);
  });

  test('with an identifier that is written get that output, at the start and at the completion', async () => {
    const { runner, uploads, taskId } = await held();
    const handles = [await uploads.begin(taskId, id('same')), await uploads.begin(taskId, id('same'))];
    for (const handle of handles) await uploads.put(taskId, handle, 1, 'bytes');
    const single = await runner.write(taskId, 'single', id('same'));
    const again = await uploads.start(taskId, id('same'));
    expect([again.status, again.body]).toEqual([200, single.body]);
    for (const handle of [...handles, handles[0]!]) {
      const late = await uploads.complete(taskId, handle);
      expect([late.status, late.body]).toEqual([200, single.body]);
    }
    // Without parts, too: there is nothing that they would be needed for.
    const other = await uploads.begin(taskId, id('other'));
    await runner.write(taskId, 'x', id('other'));
    expect((await uploads.complete(taskId, other)).status).toBe(200);
    await expectOnlyOutputs(await keysOf(taskId), 0);
    expect((await uploads.complete(taskId, handles[1]!)).status).toBe(200);
  });

  test('in the next attempt find what a lost one has completed', async () => {
    const { graph, runner, uploads, taskId } = await held();
    const handle = await uploads.begin(taskId, id('kept'));
    await uploads.put(taskId, handle, 1, 'bytes');
    const first = await uploads.complete(taskId, handle);
    const next = await runner.take(graph.template); // gives the first one up
    expect(next.attempt).toBe(2);
    const again = await uploads.start(next.taskId, id('kept'));
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await runner.end(next.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
  });
});

describe('the watermark of an upload', () => {
  const at = (input: number | undefined) => ({ 'x-platform-watermark': String(input) });

  test('acts at the completion, which publishes the output', async () => {
    const { graph, ids, runner, uploads, taskId } = await held(3, true);
    const watermark = async () =>
      (await runner.call('GET', `/tasks/${taskId}/state`)).body.incremental.watermark;
    const handle = await uploads.begin(taskId, { ...at(ids[1]), ...id('sum') });
    await uploads.put(taskId, handle, 1, 'sum');
    expect(await watermark()).toBe(null);
    const completed = await uploads.complete(taskId, handle);
    expect(completed.status).toBe(201);
    expect(await watermark()).toBe(ids[1]);
    expect(await listOf(graph.nodes.n1)).toMatchObject([{ id: completed.body.outputId }]);
    expect((await stage.runner().take(graph.template)).nodeName).toBe('n2');
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[2] });
    // The repeat is answered; the watermark of the start has acted before.
    expect((await uploads.complete(taskId, handle)).status).toBe(200);
    const wrong = await uploads.complete(taskId, handle, at(ids[0]));
    expect([wrong.status, wrong.body.code]).toEqual([409, 'watermark_regression']);
  });

  test('that may not be refuses the completion, and nothing is stored', async () => {
    const { ids, runner, uploads, taskId } = await held(2, true);
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[1] });
    const below = await uploads.begin(taskId, at(ids[0]));
    const unknown = await uploads.begin(taskId, at(ids[1]! + 1_000_000));
    for (const handle of [below, unknown]) await uploads.put(taskId, handle, 1, 'x');
    const refusals = [await uploads.complete(taskId, below), await uploads.complete(taskId, unknown)];
    expect(refusals.map(({ status, body }) => [status, body.code])).toEqual([
      [409, 'watermark_regression'],
      [409, 'watermark_unknown_input'],
    ]);
    const end = await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect([end.status, end.body.code]).toEqual([409, 'output_missing']);
    // Said anew at the completion it may be.
    expect((await uploads.complete(taskId, below, at(ids[1]))).status).toBe(201);
    const nonsense = await uploads.complete(taskId, unknown, { 'x-platform-watermark': 'abc' });
    expect([nonsense.status, nonsense.body.code]).toEqual([400, 'invalid_request']);
  });

  test('at a start that meets its output acts at once, and publishes what was staged', async () => {
    const { graph, ids, runner, uploads, taskId } = await held(1, true);
    const staged = await runner.write(taskId, 'x', id('late'));
    const again = await uploads.start(taskId, { ...id('late'), ...at(ids[0]) });
    expect([again.status, again.body.outputId]).toEqual([200, staged.body.outputId]);
    expect(await listOf(graph.nodes.n1)).toHaveLength(1);
    const state = await runner.call('GET', `/tasks/${taskId}/state`);
    expect(state.body.incremental.watermark).toBe(ids[0]);
  });
});

describe('a handle', () => {
  test('belongs to its task: whatever else asks for it gets 404', async () => {
    const { uploads, taskId } = await held();
    const handle = await uploads.begin(taskId);
    const other = await held();
    const unknown = '00000000-0000-7000-8000-000000000000';
    const calls = (from: typeof uploads, task: string, what: string) => [
      from.put(task, what, 1, 'x'),
      from.complete(task, what),
      from.abort(task, what),
    ];
    for (const wrong of [unknown, 'abc', '0', "'--", handle.slice(1), `${handle}x`]) {
      for (const { status, body } of await Promise.all(calls(uploads, taskId, wrong))) {
        expect([wrong, status, body.code]).toEqual([wrong, 404, 'upload_not_found']);
      }
    }
    for (const { status, body } of await Promise.all(calls(other.uploads, other.taskId, handle))) {
      expect([status, body.code]).toEqual([404, 'upload_not_found']);
    }
    for (const { status, body } of await Promise.all(calls(other.uploads, taskId, handle))) {
      expect([status, body.code]).toEqual([404, 'task_not_found']);
    }
    expect((await uploads.put(taskId, handle.toUpperCase(), 1, 'x')).status).toBe(200);
  });

  test('that was given up, has become an output or has expired takes nothing more', async () => {
    const { uploads, taskId } = await held();
    const given = await uploads.begin(taskId);
    await uploads.put(taskId, given, 1, 'x');
    const [key] = await keysOf(taskId);
    const gone = await uploads.abort(taskId, given);
    expect([gone.status, gone.body]).toEqual([204, '']);
    expect((await bucketContents(platform)).uploads.filter((line) => line.startsWith(key!))).toEqual([]);
    const done = await uploads.begin(taskId);
    await uploads.put(taskId, done, 1, 'x');
    await uploads.complete(taskId, done);
    const expired = await uploads.begin(taskId);
    await uploads.put(taskId, expired, 1, 'x');
    await database.query('update task_upload set expires_at = now() where handle = $1', [expired]);
    const keys = await keysOf(taskId);
    expect(keys).toHaveLength(3);
    const refusals = [
      ...[given, done, expired].flatMap((handle) => [
        uploads.put(taskId, handle, 1, 'x'),
        uploads.abort(taskId, handle),
      ]),
      ...[given, expired].map((handle) => uploads.complete(taskId, handle)),
    ];
    for (const { status, body } of await Promise.all(refusals)) {
      expect([status, body.code]).toEqual([404, 'upload_not_found']);
    }
    await expectOnlyOutputs(keys, 1);
  });

  test('starts with headers that are right, else with the refusal of an output', async () => {
    const { uploads, taskId } = await held();
    const cases: [Record<string, string>, number, string][] = [
      [id('a b'), 400, 'invalid_output_identifier'],
      [id(''), 400, 'invalid_output_identifier'],
      [id('x'.repeat(101)), 400, 'invalid_output_identifier'],
      [{ 'x-platform-output-metadata': '[]' }, 400, 'invalid_output_metadata'],
      [{ 'x-platform-output-metadata': '{"$a":1}' }, 400, 'invalid_output_metadata'],
      [{ 'x-platform-watermark': '1.5' }, 400, 'invalid_request'],
      [{ 'content-encoding': 'br' }, 415, 'unsupported_media_type'],
    ];
    for (const [headers, status, code] of cases) {
      const answer = await uploads.start(taskId, headers);
      expect([headers, answer.status, answer.body.code]).toEqual([headers, status, code]);
    }
    expect(await database.query('select 1 from task_upload where task_id = $1', [taskId])).toEqual([]);
  });
});

describe('what a task leaves unfinished is removed when it', () => {
  const ends: [string, (world: Awaited<ReturnType<typeof held>>) => Promise<unknown>][] = [
    ['completes', ({ runner, taskId }) => runner.end(taskId, 'complete', { outcome: 'no-output' })],
    ['fails', ({ runner, taskId }) => runner.end(taskId, 'fail', { category: 'error', reason: 'x' })],
    ['is released', ({ runner, taskId }) => runner.end(taskId, 'release')],
    ['is claimed anew', ({ runner, graph }) => runner.take(graph.template)],
    [
      'loses its lease',
      ({ taskId }) =>
        database.query(`update node_claim set ended_at = now(), ending = 'lost' where task_id = $1`, [
          taskId,
        ]),
    ],
    [
      'goes with its session',
      async ({ graph }) => {
        const path = `/api/v2/sessions/${graph.sessionId}`;
        const answer = await ask(api.url, 'DELETE', path, { token: people.Administrator.token });
        expect(answer.status).toBe(204);
      },
    ],
  ];
  test.each(ends)('%s', async (_how, end) => {
    const world = await held();
    const { uploads, taskId } = world;
    const open = await uploads.begin(taskId);
    await uploads.put(taskId, open, 1, Buffer.alloc(minPart));
    await uploads.put(taskId, open, 2, 'x');
    const done = await uploads.begin(taskId);
    await uploads.put(taskId, done, 1, 'x');
    await uploads.complete(taskId, done);
    await sweepAll(platform, database);
    expect((await uploads.put(taskId, open, 2, 'still open')).status).toBe(200);
    const keys = await keysOf(taskId);
    await end(world);
    const [{ kept } = { kept: 0 }] = await database.query<{ kept: number }>(
      'select count(*) as kept from node_output where object_key = any ($1)',
      [keys],
    );
    await expectOnlyOutputs(keys, kept);
    expect(await database.query('select 1 from task_upload where task_id = $1', [taskId])).toEqual([]);
    for (const answer of [
      await uploads.put(taskId, open, 1, 'x'),
      await uploads.complete(taskId, open),
      await uploads.complete(taskId, done),
      await uploads.start(taskId),
      await uploads.abort(taskId, open),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'task_not_found']);
    }
  });
});
