/** Writes of a task's holder under an `Idempotency-Key`: a repeat writes nothing, whether the output is named or not. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { runnerStage } from '../../../support/runner.ts';

const stage = await runnerStage();
const { database } = stage;

async function held(incremental = false) {
  const graph = await stage.chainOf(2, { incremental });
  const inputId: number = (await stage.upload(graph, 'input', 'one')).body.id;
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { runner, inputId, taskId: task.taskId as string, runId: task.runId as string };
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
