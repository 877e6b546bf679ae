import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { runnerStage, utf8 } from '../../../support/runner.ts';
import { named, uploadStage } from './upload-stage.ts';

const stage = await runnerStage();
const { database } = stage;
const { held, listOf, keysOf, expectOnlyOutputs } = uploadStage(stage);
const mebibyte = 1024 * 1024;
const minPart = 5 * mebibyte;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('a multi-part output', () => {
  test('has its parts in the order of their numbers, and is an output like any other', async () => {
    const { graph, runner, uploads, taskId } = await held();
    const started = await uploads.start(taskId, {
      ...named('large.bin'),
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
    const next = await child.acquire(graph.template);
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

  test('accepts part 10,000 and no higher number; parts above 100 MB are refused, declared or not', async () => {
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

  test('refuses a part that does not match its checksum, and keeps the earlier one', async () => {
    const { uploads, taskId } = await held();
    const handle = await uploads.begin(taskId);
    const base64 = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('base64');
    const good = { 'content-md5': base64('md5', 'good'), 'x-amz-checksum-sha256': base64('sha256', 'good') };
    expect((await uploads.put(taskId, handle, 1, 'good', good)).status).toBe(200);
    for (const headers of [
      { 'content-md5': base64('md5', 'good') },
      { 'x-amz-checksum-sha256': base64('sha256', 'good') },
      { 'content-digest': `sha-256=:${base64('sha256', 'good')}:` },
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
  test('of a completion, also concurrent ones, get the same output', async () => {
    const { uploads, taskId } = await held();
    for (const headers of [{}, named('named')]) {
      const handle = await uploads.begin(taskId, headers);
      await uploads.put(taskId, handle, 1, 'bytes');
      const answers = await Promise.all(Array.from({ length: 6 }, () => uploads.complete(taskId, handle)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
      expect(new Set(answers.map(({ body }) => body.outputId)).size).toBe(1);
    }
    await expectOnlyOutputs(await keysOf(taskId), 2);
  });

  test('with an existing identifier get that output, at the start and at the completion', async () => {
    const { runner, uploads, taskId } = await held();
    const handles = [await uploads.begin(taskId, named('same')), await uploads.begin(taskId, named('same'))];
    for (const handle of handles) await uploads.put(taskId, handle, 1, 'bytes');
    const single = await runner.write(taskId, 'single', named('same'));
    const again = await uploads.start(taskId, named('same'));
    expect([again.status, again.body]).toEqual([200, single.body]);
    for (const handle of [...handles, handles[0]!]) {
      const late = await uploads.complete(taskId, handle);
      expect([late.status, late.body]).toEqual([200, single.body]);
    }
    // Also without parts: none is needed.
    const other = await uploads.begin(taskId, named('other'));
    await runner.write(taskId, 'x', named('other'));
    expect((await uploads.complete(taskId, other)).status).toBe(200);
    await expectOnlyOutputs(await keysOf(taskId), 0);
    expect((await uploads.complete(taskId, handles[1]!)).status).toBe(200);
  });

  test('in the next attempt find the output that a lost attempt completed', async () => {
    const { graph, runner, uploads, taskId } = await held();
    const handle = await uploads.begin(taskId, named('kept'));
    await uploads.put(taskId, handle, 1, 'bytes');
    const first = await uploads.complete(taskId, handle);
    const next = await runner.acquire(graph.template); // ends the first claim
    expect(next.attempt).toBe(2);
    const again = await uploads.start(next.taskId, named('kept'));
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await runner.end(next.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
  });
});

describe('the watermark of an upload', () => {
  const at = (input: number | undefined) => ({ 'x-platform-watermark': String(input) });

  test('applies at completion, which publishes the output', async () => {
    const { graph, ids, runner, uploads, taskId } = await held(3, true);
    const watermark = async () =>
      (await runner.call('GET', `/tasks/${taskId}/state`)).body.incremental.watermark;
    const handle = await uploads.begin(taskId, { ...at(ids[1]), ...named('sum') });
    await uploads.put(taskId, handle, 1, 'sum');
    expect(await watermark()).toBe(null);
    const completed = await uploads.complete(taskId, handle);
    expect(completed.status).toBe(201);
    expect(await watermark()).toBe(ids[1]);
    expect(await listOf(graph.nodes.n1)).toMatchObject([{ id: completed.body.outputId }]);
    expect((await stage.runner().acquire(graph.template)).nodeName).toBe('n2');
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[2] });
    // The repeat is answered; the watermark of the start has acted before.
    expect((await uploads.complete(taskId, handle)).status).toBe(200);
    const wrong = await uploads.complete(taskId, handle, at(ids[0]));
    expect([wrong.status, wrong.body.code]).toEqual([409, 'watermark_regression']);
  });

  test('that is invalid refuses the completion, and nothing is stored', async () => {
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
    // It may be sent again at completion.
    expect((await uploads.complete(taskId, below, at(ids[1]))).status).toBe(201);
    const nonsense = await uploads.complete(taskId, unknown, { 'x-platform-watermark': 'abc' });
    expect([nonsense.status, nonsense.body.code]).toEqual([400, 'invalid_request']);
  });

  test('at a start with an existing output applies at once, and publishes the staged outputs', async () => {
    const { graph, ids, runner, uploads, taskId } = await held(1, true);
    const staged = await runner.write(taskId, 'x', named('late'));
    const again = await uploads.start(taskId, { ...named('late'), ...at(ids[0]) });
    expect([again.status, again.body.outputId]).toEqual([200, staged.body.outputId]);
    expect(await listOf(graph.nodes.n1)).toHaveLength(1);
    const state = await runner.call('GET', `/tasks/${taskId}/state`);
    expect(state.body.incremental.watermark).toBe(ids[0]);
  });
});
