import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { startApi } from '../../../api/start.ts';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;
const path = '/api/v2/admin/node-runs';
const token = people.Developer.token;
const get = (query: string) => ask(api.url, 'GET', `${path}${query}`, { token });
const post = (action: string) => ask(api.url, 'POST', `/api/v2/admin/${action}`, { token });

const broken = { category: 'validation', reason: 'Row 7 is no lap.' };

/** A graph whose first node has failed for good; `ids` names the run. */
async function failed(
  options: Parameters<typeof stage.chainOf>[1] = {},
): Promise<StageGraph & { runId: string }> {
  const graph = await stage.chainOf(1, options);
  await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  await runner.end(task.taskId, 'fail', broken);
  return { ...graph, runId: task.runId };
}

describe('a retry', () => {
  test('is answered with the updated run, and a repeat with 200', async () => {
    const graph = await failed();
    const first = await post(`node-runs/${graph.runId}/retry`);
    expect(first).toMatchObject({
      status: 202,
      body: {
        id: graph.runId,
        state: 'queued',
        nodeState: 'Pending',
        attempt: 2,
        maxAttempts: 4,
        endedAt: null,
      },
    });
    expect(await post(`node-runs/${graph.runId}/retry`)).toMatchObject({ status: 200, body: first.body });
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    expect(task).toMatchObject({ runId: graph.runId, reason: 'retry', attempt: 2, maxAttempts: 4 });
    await runner.write(task.taskId, 'x');
    expect((await runner.end(task.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
  });

  test('wakes a claim that waits', async () => {
    const graph = await failed();
    const waiting = stage.runner().claim(graph.template, 10);
    await post(`node-runs/${graph.runId}/retry`);
    expect((await waiting).body).toMatchObject({ runId: graph.runId });
  });

  test('is refused with 409 or 404 and a reason', async () => {
    const graph = await failed();
    await stage.upload(graph, 'input', '2');
    const superseded = await post(`node-runs/${graph.runId}/retry`);
    const { nodeRuns } = (await get(`?sessionId=${graph.sessionId}&state=queued`)).body;
    const open = await post(`node-runs/${nodeRuns[0].id}/retry`);
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.end(task.taskId, 'complete', { outcome: 'suspended' });
    const fine = await post(`node-runs/${task.runId}/retry`);
    const unknown = await post(`node-runs/${randomUUID()}/retry`);
    const wrongId = await post('node-runs/7/retry');
    const seen = [superseded, open, fine, unknown, wrongId].map(({ status, body }) => [status, body.message]);
    expect(seen).toEqual([
      [409, 'A later run of the node has replaced this one.'],
      [409, 'The run is still open. Wait for its end, or cancel it.'],
      [409, 'Only a failed or cancelled run can be retried.'],
      [404, 'Run not found.'],
      [404, 'Run not found.'],
    ]);
  });

  test('in a frozen session is 400, one run or all', async () => {
    const graph = await failed();
    await ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/freeze`, { token });
    for (const action of [`node-runs/${graph.runId}/retry`, `sessions/${graph.sessionId}/retry-failed`])
      expect(await post(action)).toMatchObject({ status: 400, body: { message: 'Session is frozen.' } });
    expect((await get(`/${graph.runId}`)).body.retryable).toBe(false);
  });

  test('of all failed nodes of a session returns their number', async () => {
    const graph = await failed();
    const action = `sessions/${graph.sessionId}/retry-failed`;
    expect(await post(action)).toMatchObject({
      status: 202,
      body: { sessionId: graph.sessionId, retried: 1 },
    });
    expect(await post(action)).toMatchObject({ status: 202, body: { retried: 0 } });
    expect(await post(`sessions/${randomUUID()}/retry-failed`)).toMatchObject({ status: 404 });
  });

  test('of all failed nodes retries one run of a node, the newest, also after a failed reprocess of chosen inputs', async () => {
    const graph = await failed();
    const { nodeRuns: runs } = (await get(`?sessionId=${graph.sessionId}`)).body;
    const { inputs } = (await ask(api.url, 'GET', `/api/v2/node-runs/${runs[0].id}`, { token })).body;
    await ask(api.url, 'POST', `/api/v2/node-instance/${runs[0].nodeInstanceId}/reprocess`, {
      token,
      json: { inputs: [inputs[0].outputId] },
    });
    const runner = stage.runner();
    const chosen = await runner.acquire(graph.template);
    await runner.end(chosen.taskId, 'fail', broken);
    expect(await post(`sessions/${graph.sessionId}/retry-failed`)).toMatchObject({
      status: 202,
      body: { retried: 1 },
    });
    expect(await runner.acquire(graph.template)).toMatchObject({ runId: chosen.runId, reason: 'retry' });
  });
});

describe('cancelling', () => {
  test('a queued run ends it; a held run is cancelled with its next heartbeat', async () => {
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', '1');
    const [queued] = (await get(`?sessionId=${graph.sessionId}`)).body.nodeRuns;
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(await post(`node-runs/${queued.id}/cancel`)).toMatchObject({
        status: 200,
        body: { state: 'cancelled', nodeState: 'Failed', statusDetails: 'cancelled', retryable: true },
      });
    }
    await post(`node-runs/${queued.id}/retry`);
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(await post(`node-runs/${queued.id}/cancel`)).toMatchObject({
        status: 202,
        body: { state: 'held', cancelRequested: true },
      });
    }
    const heartbeat = await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {});
    expect(heartbeat.body.cancelRequested).toBe(true);
    await runner.write(task.taskId, 'x');
    expect((await runner.end(task.taskId, 'complete', { outcome: 'completed' })).body).toMatchObject({
      nodeState: 'Failed',
      followUp: false,
    });
    expect((await get(`/${queued.id}`)).body.state).toBe('cancelled');
  });

  test('an ended run is 409, an unknown one 404', async () => {
    const { runId } = await failed();
    expect(await post(`node-runs/${runId}/cancel`)).toMatchObject({
      status: 409,
      body: { message: 'The run has already ended.' },
    });
    expect(await post(`node-runs/${randomUUID()}/cancel`)).toMatchObject({ status: 404 });
  });
});

test('the log names the operator and the action', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { composed } = api;
  const logged = await startApi({ ...composed, services: { ...composed.services, log } });
  try {
    const { runId, sessionId } = await failed();
    const by = (action: string) => ask(logged.url, 'POST', `/api/v2/admin/${action}`, { token });
    for (const action of ['retry', 'retry', 'cancel', 'cancel']) await by(`node-runs/${runId}/${action}`);
    await by(`sessions/${sessionId}/retry-failed`);
    const who = { userId: people.Developer.userId, sessionId };
    expect(lines.filter(({ audit }) => audit)).toMatchObject([
      { audit: 'retryNodeRun', nodeRunId: runId, ...who },
      { audit: 'cancelNodeRun', nodeRunId: runId, ...who },
      { audit: 'retryFailedNodeRuns', retried: 1, ...who },
    ]);
  } finally {
    await logged.stop(1);
  }
});

test('a run of a deleted session is 404', async () => {
  const graph = await failed();
  const admin = { token: people.Administrator.token };
  expect((await ask(api.url, 'DELETE', `/api/v2/sessions/${graph.sessionId}`, admin)).status).toBe(204);
  expect((await get(`/${graph.runId}`)).status).toBe(404);
  expect((await post(`node-runs/${graph.runId}/retry`)).status).toBe(404);
});
