import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, database, people } = stage;

async function held(inputs = 1, options: { incremental?: boolean; maxAttempts?: number } = {}) {
  const graph = await stage.chainOf(1, options);
  const ids: number[] = [];
  for (let at = 0; at < inputs; at += 1) ids.push((await stage.upload(graph, 'input', `${at}`)).body.id);
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { graph, ids, runner, taskId: task.taskId as string };
}

async function progressOf(sessionId: string) {
  const answer = await ask(api.url, 'GET', `/api/v2/session/${sessionId}/node-instances`, {
    token: people.Developer.token,
  });
  return answer.body.nodeInstances.find(({ name }: { name: string }) => name === 'n1');
}

describe('heartbeat', () => {
  test('renews the lease, reports a cancel, and shows its progress', async () => {
    const { graph, runner, taskId } = await held();
    const [before] = await database.query<{ at: Date }>(
      'select lease_until as at from node_claim where task_id = $1',
      [taskId],
    );
    await sleep(20);
    const heartbeat = await runner.call('PUT', `/tasks/${taskId}/heartbeat`, {
      phase: 'reading',
      message: 'lap 3',
      progress: { done: 3, total: 10, unit: 'laps' },
    });
    expect(heartbeat.body).toEqual({
      taskId,
      leaseExpiresAt: expect.stringMatching(/\.\d{3}Z$/),
      cancelRequested: false,
    });
    expect(Date.parse(heartbeat.body.leaseExpiresAt)).toBeGreaterThan(before!.at.getTime());
    expect(await progressOf(graph.sessionId)).toMatchObject({ state: 'Processing' });
    expect((await progressOf(graph.sessionId)).statusDetails).toContain('lap 3');
    await database.query('update node_run set cancel_requested = true where session_id = $1', [
      graph.sessionId,
    ]);
    expect((await runner.call('PUT', `/tasks/${taskId}/heartbeat`)).body.cancelRequested).toBe(true);
  });

  test('with hasMore follows the node template as it was at the claim, whatever a manifest changes meanwhile', async () => {
    const { graph, ids, runner, taskId } = await held(2, { incremental: true });
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[0] });
    await database.query('update node_template set incremental = false where name = $1', [graph.template]);
    const end = await runner.end(taskId, 'complete', { outcome: 'no-output', hasMore: true });
    expect([end.status, end.body.followUp]).toEqual([200, true]);
    const next = await runner.acquire(graph.template);
    expect([next.reason, next.incremental.pendingInputs]).toEqual(['follow-up', 1]);
    const plain = { outcome: 'no-output', hasMore: true };
    expect((await runner.end(next.taskId, 'complete', plain)).status).toBe(400);
  });

  test('with a body that is wrong is 400', async () => {
    const { runner, taskId } = await held();
    const bodies: unknown[] = [
      [],
      'x',
      { phase: 7 },
      { phase: 'x'.repeat(256) },
      { message: 'x'.repeat(4001) },
      { message: 'a\u0000' },
      { message: '\ud800' },
      { progress: 5 },
      { progress: {} },
      { progress: { done: -1 } },
      { progress: { done: 2 ** 53 } },
      { progress: { done: 1, unit: 5 } },
    ];
    for (const body of bodies) {
      const answer = await runner.call('PUT', `/tasks/${taskId}/heartbeat`, body);
      expect([answer.status, answer.body.code, body]).toEqual([400, 'invalid_request', body]);
    }
  });
});

describe('watermark', () => {
  test('only moves forward, and only to inputs of the task', async () => {
    const { graph, ids, runner, taskId } = await held(3, { incremental: true });
    const later = await stage.upload(graph, 'input', 'later');
    const put = async (body: unknown) => {
      const answer = await runner.call('PUT', `/tasks/${taskId}/watermark`, body);
      return [answer.status, answer.body.code ?? answer.body];
    };
    expect(await put({ inputId: ids[1], state: { seen: 2 } })).toEqual([
      200,
      { watermark: ids[1], pendingInputs: 1 },
    ]);
    expect(await put({ inputId: ids[1] })).toEqual([200, { watermark: ids[1], pendingInputs: 1 }]);
    expect(await put({ inputId: ids[0] })).toEqual([409, 'watermark_regression']);
    expect(await put({ inputId: later.body.id })).toEqual([409, 'watermark_unknown_input']);
    expect(await put({ inputId: 9_007_199_254_740_991 })).toEqual([409, 'watermark_unknown_input']);
    expect((await runner.call('GET', `/tasks/${taskId}/state`)).body.state).toEqual({ seen: 2 });
    const wrong = [
      undefined,
      {},
      [],
      { inputId: '1' },
      { inputId: 0 },
      { inputId: 1.5 },
      { inputId: 2 ** 53 },
    ];
    const states = ['x', [1], { a: 'x'.repeat(65_536) }, { a: '\u0000' }];
    for (const body of [...wrong, ...states.map((state) => ({ inputId: ids[2], state }))]) {
      expect([await put(body), body]).toEqual([[400, 'invalid_request'], body]);
    }
    expect(await put({ inputId: ids[2] })).toEqual([200, { watermark: ids[2], pendingInputs: 0 }]);
  });
});

describe('complete', () => {
  test.each([
    ['no-output', 'Succeeded', 'Finished without an output.'],
    ['suspended', 'Suspended', ''],
  ])('with %s sets the node to %s', async (outcome, nodeState, statusDetails) => {
    const { graph, runner, taskId } = await held();
    const answer = await runner.end(taskId, 'complete', { outcome });
    expect([answer.status, answer.body]).toEqual([200, { taskId, outcome, nodeState, followUp: false }]);
    expect(await progressOf(graph.sessionId)).toMatchObject({ state: nodeState, statusDetails });
  });

  test('shows the runner’s own details', async () => {
    const { graph, runner, taskId } = await held();
    await runner.write(taskId, 'x');
    await runner.end(taskId, 'complete', { outcome: 'completed', statusDetails: 'Ünïcode 3 laps' });
    expect(await progressOf(graph.sessionId)).toMatchObject({
      state: 'Succeeded',
      statusDetails: 'Ünïcode 3 laps',
    });
  });

  test('ends its run and the run’s last attempt at one time', async () => {
    const { graph, runner, taskId } = await held();
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    const rows = await database.query(
      `select r.ended_at = a.ended_at as is_same
         from node_run r join node_attempt a on a.run_id = r.id where r.session_id = $1`,
      [graph.sessionId],
    );
    expect(rows).toEqual([{ isSame: true }]);
  });

  test('with completed and no output is 409, and the task stays open', async () => {
    const { runner, taskId } = await held();
    const answer = await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect([answer.status, answer.body.code]).toEqual([409, 'output_missing']);
    expect((await runner.write(taskId, 'x')).status).toBe(201);
    expect((await runner.end(taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
  });

  test('with hasMore requires an incremental node, and a step of the watermark', async () => {
    const plain = await held();
    const refused = await plain.runner.end(plain.taskId, 'complete', { outcome: 'no-output', hasMore: true });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
    const { graph, runner, taskId } = await held(1, { incremental: true });
    const still = await runner.end(taskId, 'complete', { outcome: 'no-output', hasMore: true });
    expect(still.body).toMatchObject({ followUp: false, nodeState: 'Succeeded' });
    expect((await progressOf(graph.sessionId)).statusDetails).toContain('No follow-up');
  });

  test('with hasMore after a step of the watermark makes one follow-up', async () => {
    const { graph, ids, runner, taskId } = await held(2, { incremental: true });
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[0] });
    const end = await runner.end(taskId, 'complete', { outcome: 'no-output', hasMore: true });
    expect(end.body).toEqual({ taskId, outcome: 'no-output', nodeState: 'Pending', followUp: true });
    expect((await runner.acquire(graph.template)).reason).toBe('follow-up');
    expect((await stage.runner().claim(graph.template)).status).toBe(204);
  });

  test('with a body that is wrong is 400', async () => {
    const { runner, taskId } = await held();
    const bodies: unknown[] = [
      undefined,
      {},
      [],
      { outcome: 'done' },
      { outcome: null },
      { outcome: 'completed', hasMore: 'yes' },
      { outcome: 'completed', statusDetails: 5 },
      { outcome: 'completed', statusDetails: 'x'.repeat(4001) },
      { outcome: 'completed', state: [] },
      { outcome: 'completed', state: { a: 'x'.repeat(65_536) } },
    ];
    for (const body of bodies) {
      const answer = await runner.end(taskId, 'complete', body);
      expect([answer.status, answer.body.code, body]).toEqual([400, 'invalid_request', body]);
    }
  });
});

describe('fail', () => {
  test('with error is retried later, but not in the last attempt or with validation', async () => {
    const { graph, runner, taskId } = await held();
    const beganAtMs = Date.now();
    const answer = await runner.end(taskId, 'fail', { category: 'error', reason: 'no memory card' });
    expect(answer.body).toEqual({
      taskId,
      nodeState: 'Pending',
      willRetry: true,
      nextAttemptAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
    const nextAtMs = Date.parse(answer.body.nextAttemptAt);
    expect(nextAtMs - beganAtMs).toBeGreaterThan(1_000);
    expect(nextAtMs - Date.now()).toBeLessThan(5_100);
    const details = (await progressOf(graph.sessionId)).statusDetails;
    expect(details).toContain('1 of 3');
    expect(details).toContain('no memory card');
    expect((await runner.claim(graph.template)).status).toBe(204);
    const ended = { willRetry: false, nextAttemptAt: null, nodeState: 'Failed' };
    const single = await held(1, { maxAttempts: 1 });
    const last = await single.runner.end(single.taskId, 'fail', { category: 'memory', reason: 'full' });
    expect(last.body).toMatchObject(ended);
    const invalid = await held();
    const once = await invalid.runner.end(invalid.taskId, 'fail', {
      category: 'validation',
      reason: 'line 3',
    });
    expect(once.body).toMatchObject(ended);
    expect(await progressOf(invalid.graph.sessionId)).toMatchObject({
      state: 'Failed',
      statusDetails: 'validation: line 3',
    });
  });

  test('with a body that is wrong is 400', async () => {
    const { runner, taskId } = await held();
    const bodies: unknown[] = [
      undefined,
      {},
      { reason: 'x' },
      { category: 'error' },
      { category: 'other', reason: 'x' },
      { category: 'error', reason: 5 },
      { category: 'error', reason: 'x'.repeat(4001) },
      { category: 'error', reason: 'a\u0000' },
    ];
    for (const body of bodies) {
      const answer = await runner.end(taskId, 'fail', body);
      expect([answer.status, answer.body.code, body]).toEqual([400, 'invalid_request', body]);
    }
  });
});

describe('release', () => {
  test('releases the task at once without counting an attempt; from the third release on the run waits', async () => {
    const { graph, runner, taskId } = await held();
    const answer = await runner.end(taskId, 'release');
    expect([answer.status, answer.body]).toEqual([200, { taskId, nodeState: 'Pending' }]);
    const second = await stage.runner().acquire(graph.template);
    expect(second.attempt).toBe(1);
    const [holder] = await database.query<{ instanceId: string }>(
      'select instance_id from node_claim where task_id = $1',
      [second.taskId],
    );
    const other = stage.runner({ instanceId: holder!.instanceId });
    expect((await other.end(second.taskId, 'release', { reason: 'shutdown' })).status).toBe(200);
    const third = await runner.acquire(graph.template);
    await runner.end(third.taskId, 'release', {});
    expect((await runner.claim(graph.template)).status).toBe(204);
  });
});
