/** Calls that write the log of a run. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../domain/limits.ts';
import { logStage } from './log-stage.ts';

const { stage, database, line, held, log, whole, written, messages } = await logStage();

describe('a call', () => {
  test('that is repeated, or comes late, changes nothing', async () => {
    const { runner, taskId, runId } = await held();
    await log(runner, taskId, 5, [line('five')]);
    const repeats = await Promise.all(
      [5, 5, 4, 1].map((sequence) => log(runner, taskId, sequence, [line('again')])),
    );
    for (const { status, body } of repeats) {
      expect([status, body]).toEqual([200, { nextSequence: 6, truncated: false }]);
    }
    await Promise.all([6, 6, 6].map(() => log(runner, taskId, 6, [line('six')])));
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    expect(written(await whole(runId)).map(({ message }) => message)).toEqual(['five', 'six']);
  });

  test('begins at 1 again in the next task of the same attempt', async () => {
    const { graph, runner, taskId, runId } = await held();
    await log(runner, taskId, 9, [line('first holder')]);
    await runner.end(taskId, 'release', { reason: 'shutdown', logTail: 'I go.' });
    const next = await runner.acquire(graph.template);
    expect(next).toMatchObject({ runId, attempt: 1 });
    await log(runner, next.taskId, 1, [line('second holder')]);
    await runner.end(next.taskId, 'complete', { outcome: 'no-output' });
    expect(written(await whole(runId)).map(({ message }) => message)).toEqual([
      'first holder',
      'I go.',
      'second holder',
    ]);
  });

  test('of anyone but the holder is 404 and changes nothing', async () => {
    const { runner, taskId, runId } = await held();
    expect((await log(stage.runner(), taskId, 1, [line('foreign')])).status).toBe(404);
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    const late = await log(runner, taskId, 1, [line('late')]);
    expect([late.status, late.body.code]).toEqual([404, 'task_not_found']);
    expect(written(await whole(runId))).toEqual([]);
  });

  test('renews the lease', async () => {
    const { runner, taskId } = await held();
    await database.query(
      `update node_claim set lease_until = clock_timestamp() + interval '5 seconds' where task_id = $1`,
      [taskId],
    );
    await log(runner, taskId, 1, [line('x')]);
    const [claim] = await database.query<{ seconds: number }>(
      `select extract(epoch from lease_until - clock_timestamp())::float8 as seconds from node_claim
        where task_id = $1`,
      [taskId],
    );
    expect(claim!.seconds).toBeGreaterThan(20);
  });

  const wrong: [string, object][] = [
    ['without entries', { sequence: 1, entries: [] }],
    ['with more than 500', { sequence: 1, entries: Array.from({ length: 501 }, () => line('x')) }],
    ['with sequence 0', { sequence: 0, entries: [line('x')] }],
    ['with a sequence that has no next one', { sequence: Number.MAX_SAFE_INTEGER, entries: [line('x')] }],
    ['with another level', { sequence: 1, entries: [line('x', 'fatal')] }],
    ['with a long message', { sequence: 1, entries: [line('x'.repeat(8 * 1024 + 1))] }],
    ['with long fields', { sequence: 1, entries: [line('x', 'info', { a: 'x'.repeat(4 * 1024) })] }],
    ['without a time', { sequence: 1, entries: [{ level: 'info', message: 'x' }] }],
  ];
  test.each(wrong)('%s is 400', async (_name, body) => {
    const { runner, taskId } = await held();
    const answer = await runner.call('POST', `/tasks/${taskId}/logs`, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  });

  test('above 256 KB is 413', async () => {
    const { runner, taskId } = await held();
    const entries = Array.from({ length: 40 }, () => line('x'.repeat(8 * 1024)));
    const answer = await log(runner, taskId, 1, entries);
    expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
    expect(answer.body.message).toContain(`at most ${256 * 1024} bytes`);
  });

  test('beyond what an attempt may log is counted, and a last line says so', async () => {
    const { runner, taskId, runId } = await held();
    await log(runner, taskId, 1, [line('x')]);
    await database.query('update node_log set bytes = $2 where run_id = $1', [runId, limits.logAttemptBytes]);
    const over = await log(runner, taskId, 2, [line('one'), line('two')]);
    expect(over.body).toEqual({ nextSequence: 3, truncated: true });
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    const found = await whole(runId);
    expect(written(found).map(({ message }) => message)).toEqual(['x']);
    expect(messages(found).at(-1)).toBe(
      '2 entries were dropped: the log of an attempt holds 16777216 bytes.',
    );
  });
});

test('calls of many tasks at once are all stored, each in its own log', async () => {
  const tasks = await Promise.all(Array.from({ length: 12 }, () => held()));
  await Promise.all(
    tasks.map(async ({ runner, taskId }) => {
      for (let call = 1; call <= 10; call += 1) await log(runner, taskId, call, [line(`${taskId} ${call}`)]);
      await runner.end(taskId, 'complete', { outcome: 'no-output' });
    }),
  );
  for (const { taskId, runId } of tasks) {
    expect(written(await whole(runId)).map(({ message }) => message)).toEqual(
      Array.from({ length: 10 }, (_, index) => `${taskId} ${index + 1}`),
    );
  }
});
