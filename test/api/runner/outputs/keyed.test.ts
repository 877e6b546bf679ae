/** Writes of a task's holder under an `Idempotency-Key`: a repeat writes nothing, whether the output is named or not; and writes beside uploads to the same node and removals. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ask } from '../../../support/api.ts';
import { statementsWait } from '../../../support/eventually.ts';
import { runnerStage } from '../../../support/runner.ts';

const stage = await runnerStage();
const { api, database, people } = stage;

async function held(incremental = false) {
  const graph = await stage.chainOf(2, { incremental });
  const inputId: number = (await stage.upload(graph, 'input', 'one')).body.id;
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { graph, runner, inputId, taskId: task.taskId as string, runId: task.runId as string };
}

async function namesOf(runId: string) {
  const rows = await database.query<{ name: string }>(
    'select output_identifier as name from node_output where run_id = $1 order by id',
    [runId],
  );
  return rows.map(({ name }) => name);
}

/** As after a process that died between the commit and the answer. */
const forgetReplies = () =>
  database.query(`update idempotency_key set reply_ciphertext = null, lease_until = '-infinity'`);

const underKey = (key: string = randomUUID()) => ({ 'idempotency-key': key });

describe('an output without an identifier', () => {
  test('is written once, and its repeats get the same answer', async () => {
    const { runner, taskId, runId } = await held();
    const headers = underKey();
    const first = await runner.write(taskId, 'a', headers);
    expect(first).toMatchObject({ status: 201, body: { outputIdentifier: `${runId}.1` } });
    const again = () => runner.write(taskId, 'a', headers);
    for (const repeat of [await again(), await forgetReplies().then(again)])
      expect([repeat.status, repeat.body]).toEqual([first.status, first.body]);
    expect((await runner.write(taskId, 'a', underKey())).body.outputIdentifier).toBe(`${runId}.2`);
    expect(await namesOf(runId)).toEqual([`${runId}.1`, `${runId}.2`]);
  });

  test('is written once when ten arrive at once', async () => {
    const { runner, taskId, runId } = await held();
    const headers = underKey();
    const answers = await Promise.all(Array.from({ length: 10 }, () => runner.write(taskId, 'a', headers)));
    expect(answers.map(({ status }) => status).filter((status) => ![201, 409].includes(status))).toEqual([]);
    for (const { status, body } of answers) expect(body.code).toBe(status === 409 ? 'conflict' : undefined);
    expect(await namesOf(runId)).toEqual([`${runId}.1`]);
  });

  test('that moves the watermark moves it once, also when its answer was lost', async () => {
    const { runner, taskId, runId, inputId } = await held(true);
    const headers = { ...underKey(), 'x-platform-watermark': String(inputId) };
    const first = await runner.write(taskId, 'a', headers);
    expect(first.status).toBe(201);
    await forgetReplies();
    const repeat = await runner.write(taskId, 'a', headers);
    expect([repeat.status, repeat.body]).toEqual([first.status, first.body]);
    expect(await namesOf(runId)).toEqual([`${runId}.1`]);
  });
});

describe('a key of an output', () => {
  test('is refused for other bytes, another type, identifier or watermark', async () => {
    const { runner, taskId, runId } = await held(true);
    const headers = underKey();
    expect((await runner.write(taskId, 'a', headers)).status).toBe(201);
    const others = [
      await runner.write(taskId, 'b', headers),
      await runner.write(taskId, 'a', { ...headers, 'content-type': 'text/csv' }),
      await runner.write(taskId, 'a', { ...headers, 'x-platform-output-identifier': 'other' }),
      await runner.write(taskId, 'a', { ...headers, 'x-platform-watermark': '1' }),
    ];
    for (const answer of others)
      expect(answer).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    expect(await namesOf(runId)).toEqual([`${runId}.1`]);
  });

  test('of another form is refused', async () => {
    const { runner, taskId, runId } = await held();
    const answer = await runner.write(taskId, 'a', underKey('two words'));
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(await namesOf(runId)).toEqual([]);
  });

  test('of a refused write is free again', async () => {
    const { runner, taskId } = await held();
    const headers = underKey();
    const wrong = { ...headers, 'content-md5': Buffer.alloc(16).toString('base64') };
    expect((await runner.write(taskId, 'a', wrong)).status).toBe(400);
    expect((await runner.write(taskId, 'a', headers)).status).toBe(201);
  });

  test('helps no earlier holder: its repeat finds no task', async () => {
    const { runner, taskId } = await held();
    const headers = underKey();
    expect((await runner.write(taskId, 'a', headers)).status).toBe(201);
    expect((await runner.end(taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
    expect(await runner.write(taskId, 'a', headers)).toMatchObject({
      status: 404,
      body: { code: 'task_not_found' },
    });
  });
});

test('an upload in parts is started once under a key', async () => {
  const { runner, taskId } = await held();
  const start = (headers: Record<string, string>) =>
    runner.call('POST', `/tasks/${taskId}/outputs/uploads`, undefined, headers);
  const headers = underKey();
  const first = await start(headers);
  expect(first.status).toBe(201);
  const repeat = await start(headers);
  expect([repeat.status, repeat.body]).toEqual([first.status, first.body]);
  expect((await start({ ...headers, 'x-platform-output-identifier': 'other' })).status).toBe(422);
  expect((await start(underKey())).body.handle).not.toBe(first.body.handle);
});

/** Makes a call that waits for a transaction, which has inserted an output `taken` like another one, and then commits. */
async function whileInserted<T>(
  outputId: number,
  runId: 'run_id' | 'null',
  call: () => Promise<T>,
): Promise<T> {
  const link = await database.pool.connect();
  await link.query('begin');
  await link.query(
    `insert into node_output (session_id, node_instance_id, run_id, data_source_id, object_key, output_identifier,
                              size_bytes, etag, configuration, configuration_revision)
     select session_id, node_instance_id, ${runId}, data_source_id, object_key, 'taken', size_bytes, etag, configuration,
            configuration_revision
       from node_output where id = $1`,
    [outputId],
  );
  const called = call();
  await statementsWait(database);
  await link.query('commit');
  link.release();
  return await called;
}

test('an output sent again is written again when the first is removed at the same moment', async () => {
  const { runner, taskId, runId } = await held();
  const headers = { 'x-platform-output-identifier': 'gone' };
  const first = await runner.write(taskId, 'one', headers);
  const link = await database.pool.connect();
  await link.query('begin');
  await link.query('select 1 from node_run where id = $1 for update', [runId]);
  const again = runner.write(taskId, 'one', headers);
  await statementsWait(database);
  await link.query('delete from node_output where id = $1', [first.body.outputId]);
  await link.query('commit');
  link.release();
  const { status, body } = await again;
  expect([status, body.outputIdentifier, body.sha256]).toEqual([201, 'gone', first.body.sha256]);
  await runner.end(taskId, 'complete', { outcome: 'completed' });
});

test('an output of an identifier that an upload takes at the same moment is the one of the upload', async () => {
  const { runner, taskId } = await held();
  const first = await runner.write(taskId, 'one', { 'x-platform-output-identifier': 'first' });
  const { status, body } = await whileInserted(first.body.outputId, 'null', () =>
    runner.write(taskId, 'two', { 'x-platform-output-identifier': 'taken' }),
  );
  expect([status, body.outputIdentifier]).toEqual([200, 'taken']);
});

test('an output staged while an upload of its identifier is published is replaced by the upload', async () => {
  const { graph, runner, taskId } = await held();
  const first = await runner.write(taskId, 'one', { 'x-platform-output-identifier': 'first' });
  const uploaded = await whileInserted(first.body.outputId, 'run_id', () =>
    stage.upload(graph, 'n1', 'two', { 'x-platform-output-identifier': 'taken' }),
  );
  expect([uploaded.status, uploaded.body.sizeBytes]).toEqual([200, 3]);
  await runner.end(taskId, 'complete', { outcome: 'completed' });
  const path = `/api/v2/node-instance/${graph.nodes.n1}/outputs`;
  const listed = await ask(api.url, 'GET', path, { token: people.Developer.token });
  expect(listed.body).toMatchObject([{ id: uploaded.body.id }, { id: first.body.outputId }]);
});
