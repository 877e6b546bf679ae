import { describe, expect, test } from 'vitest';
import { findDataSourceByName } from '../../../../store/objects/data-sources.ts';
import { abortMultipart } from '../../../../store/objects/multipart.ts';
import { finishTaskUpload } from '../../../../store/runs/task-uploads.ts';
import { ask } from '../../../support/api.ts';
import { testProcesses } from '../../../support/processes.ts';
import { runnerStage } from '../../../support/runner.ts';
import { bucketContents, sweepAll, taskUploads } from '../../../support/task-uploads.ts';
import { named, uploadStage } from './upload-stage.ts';

const stage = await runnerStage();
const { api, database, people, platform } = stage;
const { held, keysOf, expectOnlyOutputs } = uploadStage(stage);
const processes = testProcesses(platform.environment);
const minPart = 5 * 1024 * 1024;

test('concurrent completions at two servers get the same output', async () => {
  const other = await processes.startApi();
  const { runner, uploads, taskId } = await held();
  const there = taskUploads(other.url, people.Developer.token, runner.instanceId);
  for (let round = 0; round < 3; round += 1) {
    const handle = await uploads.begin(taskId);
    for (const part of [1, 2])
      await there.put(taskId, handle, part, Buffer.alloc(part === 1 ? minPart : 1, round));
    const answers = await Promise.all(
      [uploads, there, uploads, there].map((server) => server.complete(taskId, handle)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.outputId)).size).toBe(1);
  }
  await expectOnlyOutputs(await keysOf(taskId), 3);
  other.kill('SIGKILL');
  await other.ended;
});

describe('an upload that its store no longer knows', () => {
  /** Without the platform, as a lifecycle rule of the bucket may do it. */
  async function forgotten() {
    const world = await held();
    const handle = await world.uploads.begin(world.taskId);
    await world.uploads.put(world.taskId, handle, 1, 'bytes');
    const [row] = await database.query<{ key: string; name: string }>(
      'select object_key as key, store_upload_id as name from task_upload where handle = $1',
      [handle],
    );
    const { objects } = api.composed.services;
    const source = await findDataSourceByName(database, 'platform');
    await abortMultipart(objects.of(source!).multipart(row!.key), row!.name);
    return { ...world, handle };
  }

  test('accepts no parts and cannot be completed: 404', async () => {
    const { uploads, taskId, handle } = await forgotten();
    for (const answer of [
      await uploads.put(taskId, handle, 2, 'more'),
      await uploads.complete(taskId, handle),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'upload_not_found']);
    }
  });

  test('because another server is just completing it: the repeat waits for that output', async () => {
    const { runner, uploads, taskId, handle } = await forgotten();
    const repeat = uploads.complete(taskId, handle);
    const identity = { holder: `user:${people.Developer.userId}`, instanceId: runner.instanceId };
    const object = { sizeBytes: 5, etag: 'of-the-other-server' };
    const first = await finishTaskUpload(
      database,
      { ...identity, taskId },
      {
        handle,
        object,
        watermarkInputId: undefined,
      },
    );
    const answer = await repeat;
    expect(first.kind).toBe('created');
    expect([answer.status, 'output' in first && first.output.id]).toEqual([200, answer.body.outputId]);
  });
});

describe('a handle', () => {
  test('belongs to its task: every other caller gets 404', async () => {
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

  test('that was aborted, completed or has expired accepts no call', async () => {
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
      [named('a b'), 400, 'invalid_output_identifier'],
      [named(''), 400, 'invalid_output_identifier'],
      [named('x'.repeat(101)), 400, 'invalid_output_identifier'],
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

describe('the open uploads of a task are removed when it', () => {
  const ends: [string, (world: Awaited<ReturnType<typeof held>>) => Promise<unknown>][] = [
    ['completes', ({ runner, taskId }) => runner.end(taskId, 'complete', { outcome: 'no-output' })],
    ['fails', ({ runner, taskId }) => runner.end(taskId, 'fail', { category: 'error', reason: 'x' })],
    ['is released', ({ runner, taskId }) => runner.end(taskId, 'release')],
    ['is claimed anew', ({ runner, graph }) => runner.acquire(graph.template)],
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
