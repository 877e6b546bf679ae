import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';
import { allRows, bucketContents } from '../../support/task-uploads.ts';
import { newRunnerType, newToken } from '../runner-tokens/support.ts';

const stage = await runnerStage({ INCREMENTAL_MAX_INPUTS: '3' });
const { api, database, people, platform } = stage;
const base = '/api/v2/runner/debug/nodes';

function debug(graph: StageGraph, node: string, rest: string, token = people.Developer.token) {
  return ask(api.url, 'GET', `${base}/${graph.nodes[node]}/${rest}`, { token });
}
const contextOf = async (graph: StageGraph, node = 'n1') => (await debug(graph, node, 'context')).body;
const modes = ['since-watermark', 'latest', 'all'] as const;

/** The debug routes show what the next claim returns. */
async function expectAsClaimed(graph: StageGraph): Promise<void> {
  const context = await contextOf(graph);
  const before: unknown[] = [];
  for (const mode of modes) before.push((await debug(graph, 'n1', `inputs?mode=${mode}`)).body);
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  // The trace is that of the attempt.
  const { taskId, attempt, claimedAt, leaseExpiresAt, heartbeatIntervalSeconds, traceparent, ...claimed } =
    task;
  expect(traceparent).toBe(null);
  expect([attempt, heartbeatIntervalSeconds].every(Number.isInteger)).toBe(true);
  expect([claimedAt, leaseExpiresAt].every((at) => at.endsWith('Z'))).toBe(true);
  const { nodeState, wouldRun, why, ...shown } = context;
  expect(shown).toEqual(claimed);
  expect({ nodeState, wouldRun, why }).toEqual({
    nodeState: 'Pending',
    wouldRun: true,
    why: 'A task is queued.',
  });
  for (const [at, mode] of modes.entries()) {
    expect((await runner.call('GET', `/tasks/${taskId}/inputs?mode=${mode}`)).body).toEqual(before[at]);
  }
  expect(await contextOf(graph)).toEqual({
    ...context,
    nodeState: 'Processing',
    wouldRun: false,
    why: 'A runner holds its task.',
  });
  await runner.end(taskId, 'complete', { outcome: 'no-output' });
}

async function reprocess(graph: StageGraph): Promise<void> {
  const path = `/api/v2/node-instance/${graph.nodes.n1}/reprocess`;
  const answer = await ask(api.url, 'POST', path, { token: people.Developer.token, json: {} });
  expect(answer.status).toBe(202);
}

describe('the context of a node', () => {
  test('equals a claim of its task, without task, attempt and lease', async () => {
    const graph = await stage.chainOf(2);
    for (const bytes of ['1', '2']) await stage.upload(graph, 'input', bytes);
    await expectAsClaimed(graph);
    await stage.upload(graph, 'input', '3');
    await expectAsClaimed(graph);
    await reprocess(graph);
    await expectAsClaimed(graph);
  });

  test('of an incremental node shows watermark, pending inputs and cap as its task does', async () => {
    const graph = await stage.chainOf(1, { incremental: true });
    const ids: number[] = [];
    for (const bytes of ['1', '2', '3', '4', '5'])
      ids.push((await stage.upload(graph, 'input', bytes)).body.id);
    expect((await contextOf(graph)).incremental).toEqual({
      watermark: null,
      pendingInputs: 5,
      maxInputsPerTask: 3,
    });
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.call('PUT', `/tasks/${task.taskId}/watermark`, { inputId: ids[2] });
    expect((await contextOf(graph)).incremental).toMatchObject({ watermark: ids[2], pendingInputs: 2 });
    await runner.end(task.taskId, 'complete', { outcome: 'no-output', hasMore: true });
    expect(await contextOf(graph)).toMatchObject({ reason: 'follow-up', wouldRun: true });
    await expectAsClaimed(graph);
    await reprocess(graph);
    await expectAsClaimed(graph);
  });

  test('explains why there is no task', async () => {
    const graph = await stage.chainOf(2);
    const now = async (node = 'n1') => {
      const { nodeState, wouldRun, why, runId, reason } = await contextOf(graph, node);
      expect(wouldRun).toBe(false);
      expect(runId === null).toBe(reason === null);
      return [nodeState, why];
    };
    expect(await now('input')).toEqual(['NeverBegan', 'Input nodes receive uploads and get no tasks.']);
    expect(await now()).toEqual(['NeverBegan', 'No output yet of: input.']);
    await stage.upload(graph, 'input', 'x');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.end(task.taskId, 'fail', { category: 'error', reason: 'x' });
    expect(await now()).toEqual(['Pending', expect.stringMatching(/^Its next attempt is due at 20.*Z\.$/)]);
    expect(await contextOf(graph)).toMatchObject({ runId: task.runId, reason: 'retry' });
    await ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/freeze`, {
      token: people.Developer.token,
    });
    expect((await now())[1]).toBe('The session is frozen.');
    await ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/unfreeze`, {
      token: people.Developer.token,
    });
    await database.query(
      `update node_run set state = 'queued', due_at = null where session_id = $1 and state = 'waiting'`,
      [graph.sessionId],
    );
    const again = await runner.acquire(graph.template);
    await runner.end(again.taskId, 'complete', { outcome: 'no-output' });
    expect(await now()).toEqual(['Succeeded', 'There are no new inputs since its last run.']);
  });
});

describe('inputs of a node', () => {
  test('come in pages and with their bytes, also by range', async () => {
    const graph = await stage.chainOf(1);
    const ids: number[] = [];
    for (const bytes of ['first', 'second']) ids.push((await stage.upload(graph, 'input', bytes)).body.id);
    const first = await debug(graph, 'n1', 'inputs?mode=all&limit=1');
    expect(first.body.inputs.map(({ outputId }: { outputId: number }) => outputId)).toEqual([ids[0]]);
    const second = await debug(graph, 'n1', `inputs?mode=all&limit=1&cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ inputs: [{ outputId: ids[1] }], nextCursor: null });
    expect((await debug(graph, 'n1', `inputs/${ids[0]}/data`)).body).toBe('first');
    const range = await ask(api.url, 'GET', `${base}/${graph.nodes.n1}/inputs/${ids[1]}/data`, {
      token: people.Developer.token,
      headers: { range: 'bytes=1-3' },
    });
    expect([range.status, range.body]).toEqual([206, 'eco']);
    for (const query of ['mode=newest', 'limit=0', 'limit=501', 'cursor=x']) {
      const wrong = await debug(graph, 'n1', `inputs?${query}`);
      expect([query, wrong.status, wrong.body.code]).toEqual([query, 400, 'invalid_request']);
    }
    const foreign = await stage.upload(await stage.chainOf(1), 'input', 'foreign');
    for (const id of [foreign.body.id, 0, -1, 'abc', '9007199254740993', `1'--`]) {
      const { status, body } = await debug(graph, 'n1', `inputs/${id}/data`);
      expect([id, status, body.code]).toEqual([id, 404, 'input_not_found']);
    }
  });

  test('are none for a node without parents, or without outputs above it', async () => {
    const graph = await stage.chainOf(1);
    for (const node of ['input', 'n1']) {
      for (const mode of modes) {
        const { body } = await debug(graph, node, `inputs?mode=${mode}`);
        expect(body).toMatchObject({ mode, inputs: [], nextCursor: null });
      }
    }
  });
});

const calls = (id: unknown) => [`${id}/context`, `${id}/inputs`, `${id}/inputs/1/data`];

describe('who sees a node', () => {
  test('a runner token sees those of its own runner types, others are 404', async () => {
    const own = await newRunnerType(stage);
    const graph = await stage.chainOf(1, { runnerType: own });
    const other = await stage.chainOf(1);
    const input = await stage.upload(graph, 'input', 'bytes');
    const { token } = await newToken(stage, [own], { fields: { scopes: ['debug:read'] } });
    expect((await debug(graph, 'n1', 'context', token)).body).toMatchObject({ runnerType: own });
    expect((await debug(graph, 'n1', 'inputs', token)).body.inputs).toHaveLength(1);
    expect((await debug(graph, 'n1', `inputs/${input.body.id}/data`, token)).body).toBe('bytes');
    for (const id of [graph.nodes.input, other.nodes.n1]) {
      for (const path of calls(id)) {
        const { status, body } = await ask(api.url, 'GET', `${base}/${path}`, { token });
        expect([path, status, body.code]).toEqual([path, 404, 'node_not_found']);
      }
    }
  });

  test('an account sees every node, built-in ones included', async () => {
    const graph = await stage.chainOf(1, { runnerType: 'system' });
    for (const person of [people.Administrator, people.Developer]) {
      const { status, body } = await debug(graph, 'n1', 'context', person.token);
      expect([status, body.runnerType]).toEqual([200, 'system']);
    }
  });

  test('no token without the scope debug:read, and no other role or token', async () => {
    const graph = await stage.chainOf(1);
    const { token } = await newToken(stage, ['outside-runner'], { fields: { scopes: ['tasks'] } });
    for (const path of calls(graph.nodes.n1)) {
      const refusal = async (bearer?: string) => {
        const { status, body } = await ask(
          api.url,
          'GET',
          `${base}/${path}`,
          bearer === undefined ? {} : { token: bearer },
        );
        return [status, body.code];
      };
      expect(await refusal(token)).toEqual([403, 'scope_missing']);
      expect(await refusal()).toEqual([401, 'unauthorized']);
      expect(await refusal(people.offlineToken)).toEqual([403, 'offline_token_refused']);
      expect(await refusal(people.Instructor.token)).toEqual([403, 'forbidden']);
      expect(await refusal(people.Trainee.token)).toEqual([403, 'forbidden']);
    }
  });

  test('an unknown node is 404 node_not_found', async () => {
    for (const id of ['0', '-1', 'abc', '1.5', '9007199254740991', '9007199254740993', '%00', "1'--"]) {
      for (const path of calls(id)) {
        const answer = await ask(api.url, 'GET', `${base}/${path}`, { token: people.Developer.token });
        expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'node_not_found']);
      }
    }
  });
});

test('debug calls change no row and no object, in any state of the node', async () => {
  const graph = await stage.chainOf(2, { incremental: true });
  const input = await stage.upload(graph, 'input', 'x');
  const runner = stage.runner();
  const facts = async () => ({ rows: await allRows(database), ...(await bucketContents(platform)) });
  const checkAll = async () => {
    const before = await facts();
    for (const node of ['input', 'n1', 'n2']) {
      for (const rest of ['context', ...modes.map((mode) => `inputs?mode=${mode}`)]) {
        expect((await debug(graph, node, rest)).status).toBe(200);
      }
      await debug(graph, node, `inputs/${input.body.id}/data`);
    }
    expect(await facts()).toEqual(before);
  };
  await checkAll();
  const task = await runner.acquire(graph.template);
  await checkAll();
  await runner.write(task.taskId, 'y');
  await runner.end(task.taskId, 'complete', { outcome: 'completed' });
  await reprocess(graph);
  await checkAll();
});
