/** Rejected inputs: a holder reports that an input has no result, and a later run can make one. */
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../../support/runner.ts';
import { named } from './outputs/upload-stage.ts';

const stage = await runnerStage();
const { api, people } = stage;
const { token } = people.Developer;
const why = { category: 'validation', reason: 'line 3: no time.' };

async function held(inputs: number, options: { incremental?: boolean } = {}) {
  const graph = await stage.chainOf(1, options);
  const ids: number[] = [];
  const file = { 'x-platform-output-metadata': '{"fileName":"lap.csv"}' };
  for (let at = 0; at < inputs; at += 1)
    ids.push((await stage.upload(graph, 'input', `${at}`, file)).body.id);
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { graph, ids, runner, taskId: task.taskId as string, runId: task.runId as string };
}

const reject = (runner: TestRunner, taskId: string, inputId: unknown, json: unknown = why) =>
  runner.call('PUT', `/tasks/${taskId}/rejections/${inputId}`, json);
const advance = (runner: TestRunner, taskId: string, inputId: number | undefined) =>
  runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId });
const get = async (path: string) => (await ask(api.url, 'GET', `/api/v2${path}`, { token })).body;
const listOf = (graph: StageGraph, query = '') =>
  get(`/node-instance/${graph.nodes.n1}/rejected-inputs${query}`);
const reprocess = (graph: StageGraph, json?: unknown, node = 'n1') =>
  ask(api.url, 'POST', `/api/v2/node-instance/${graph.nodes[node]}/reprocess`, { token, json });

async function rejectedIds(graph: StageGraph): Promise<number[]> {
  const { rejectedInputs } = await listOf(graph);
  return rejectedInputs.map(({ outputId }: { outputId: number }) => outputId).toSorted();
}

async function outputsOf(graph: StageGraph): Promise<string[]> {
  const outputs = await get(`/node-instance/${graph.nodes.n1}/outputs`);
  return Array.isArray(outputs) ? outputs.map(({ outputIdentifier }) => outputIdentifier) : [];
}

async function inputsOf(runner: TestRunner, taskId: string, mode: string): Promise<number[]> {
  const { body } = await runner.call('GET', `/tasks/${taskId}/inputs?mode=${mode}`);
  return body.inputs.map(({ outputId }: { outputId: number }) => outputId);
}

async function lineageOf(outputId: number): Promise<number[]> {
  const { inputs } = await get(`/node-instance/outputs/${outputId}/lineage`);
  return inputs.map((input: { outputId: number }) => input.outputId);
}

describe('in an incremental node a rejection', () => {
  test('moves the watermark, publishes what is staged, and stays however the task ends', async () => {
    const { graph, ids, runner, taskId, runId } = await held(3, { incremental: true });
    await runner.write(taskId, 'a', named('a'));
    await advance(runner, taskId, ids[0]);
    await runner.write(taskId, 'b', named('b'));
    const answer = await reject(runner, taskId, ids[1]);
    expect([answer.status, answer.body]).toEqual([
      200,
      { inputId: ids[1], watermark: ids[1], pendingInputs: 1 },
    ]);
    expect(await outputsOf(graph)).toEqual(['a', 'b']);
    await runner.write(taskId, 'c', named('c'));
    await runner.end(taskId, 'fail', { category: 'validation', reason: 'Broken.' });
    expect(await outputsOf(graph)).toEqual(['a', 'b']);
    expect(await listOf(graph)).toMatchObject({
      page: 1,
      pageSize: 25,
      totalCount: 1,
      totalPages: 1,
      rejectedInputs: [
        { outputId: ids[1], nodeInstanceId: graph.nodes.input, nodeName: 'input', ...why, runId, attempt: 1 },
      ],
    });
    const outputs = await get(`/node-instance/${graph.nodes.n1}/outputs`);
    expect(await lineageOf(outputs[0].id)).toEqual([ids[0]]);
  });

  test('repeated is answered alike, also when the watermark has moved on, and publishes what was staged since', async () => {
    const { graph, ids, runner, taskId } = await held(2, { incremental: true });
    const first = await reject(runner, taskId, ids[0]);
    await runner.write(taskId, 'a', named('a'));
    const again = await reject(runner, taskId, ids[0], { ...why, reason: 'Another one.' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(await outputsOf(graph)).toEqual(['a']);
    await advance(runner, taskId, ids[1]);
    const late = await reject(runner, taskId, ids[0]);
    expect([late.status, late.body]).toEqual([200, { inputId: ids[0], watermark: ids[1], pendingInputs: 0 }]);
    expect((await listOf(graph)).rejectedInputs).toMatchObject([{ outputId: ids[0], reason: why.reason }]);
  });

  test('of a consumed input is 409 watermark_regression, of a stranger 409 watermark_unknown_input, and changes nothing', async () => {
    const { graph, ids, runner, taskId } = await held(2, { incremental: true });
    const other = await held(1);
    await advance(runner, taskId, ids[1]);
    for (const id of ids) {
      const answer = await reject(runner, taskId, id);
      expect([answer.status, answer.body.code]).toEqual([409, 'watermark_regression']);
    }
    for (const id of [other.ids[0], 999_999_999, 0, 'x', '1e3']) {
      const answer = await reject(runner, taskId, id);
      expect([answer.status, answer.body.code, id]).toEqual([409, 'watermark_unknown_input', id]);
    }
    expect((await listOf(graph)).totalCount).toBe(0);
    const stranger = await reject(stage.runner(), taskId, ids[1]);
    expect([stranger.status, stranger.body.code]).toEqual([404, 'task_not_found']);
  });

  test('of the present watermark, which is none of the chosen inputs of a reprocess, is 409 watermark_unknown_input', async () => {
    const { graph, ids, runner, taskId } = await held(3, { incremental: true });
    await advance(runner, taskId, ids[2]);
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    await reprocess(graph, { inputs: [ids[2]] });
    const task = await runner.acquire(graph.template);
    expect(task.incremental.watermark).toBe(ids[1]);
    const answer = await reject(runner, task.taskId, ids[1]);
    expect([answer.status, answer.body.code]).toEqual([409, 'watermark_unknown_input']);
    expect(await rejectedIds(graph)).toEqual([]);
  });

  test.each([{}, { category: 'validation' }, { category: 'odd', reason: '' }, { reason: 'x' }])(
    'with the body %j is 400',
    async (json) => {
      const { ids, runner, taskId } = await held(1, { incremental: true });
      const answer = await reject(runner, taskId, ids[0], json);
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    },
  );

  test('makes an end without an output and a follow-up as any move of the watermark does', async () => {
    const { graph, ids, runner, taskId } = await held(2, { incremental: true });
    await reject(runner, taskId, ids[0]);
    const end = await runner.end(taskId, 'complete', { outcome: 'no-output', hasMore: true });
    expect(end.body).toMatchObject({ nodeState: 'Pending', followUp: true });
    const next = await runner.acquire(graph.template);
    expect(await inputsOf(runner, next.taskId, 'since-watermark')).toEqual([ids[1]]);
  });
});

describe('in any other node a rejection', () => {
  test.each(['no-output', 'completed', 'suspended'])('counts when the task ends as %s', async (outcome) => {
    const { graph, ids, runner, taskId } = await held(2);
    const answer = await reject(runner, taskId, ids[0]);
    expect([answer.status, answer.body]).toEqual([
      200,
      { inputId: ids[0], watermark: null, pendingInputs: 2 },
    ]);
    expect((await reject(runner, taskId, ids[0])).body).toEqual(answer.body);
    if (outcome === 'completed') await runner.write(taskId, 'a', named('a'));
    expect((await listOf(graph)).totalCount).toBe(0);
    expect((await runner.end(taskId, 'complete', { outcome })).status).toBe(200);
    expect((await listOf(graph)).rejectedInputs).toMatchObject([{ outputId: ids[0], ...why }]);
    if (outcome !== 'completed') return;
    const [output] = await get(`/node-instance/${graph.nodes.n1}/outputs`);
    expect(await lineageOf(output.id)).toEqual([ids[1]]);
  });

  test('is dropped when the task ends otherwise, and the next attempt decides anew', async () => {
    const { graph, ids, runner, taskId, runId } = await held(2);
    await reject(runner, taskId, ids[0]);
    await runner.end(taskId, 'release');
    const second = await runner.acquire(graph.template);
    await reject(runner, second.taskId, ids[1]);
    await ask(api.url, 'POST', `/api/v2/admin/node-runs/${runId}/cancel`, { token });
    await runner.end(second.taskId, 'complete', { outcome: 'no-output' });
    expect((await listOf(graph)).totalCount).toBe(0);
  });

  test('of an input that retention has removed since keeps the task from no end', async () => {
    const { graph, ids, runner, taskId } = await held(2);
    for (const id of ids) await reject(runner, taskId, id);
    await stage.database.query('delete from node_output where id = $1', [ids[0]]);
    expect((await runner.end(taskId, 'complete', { outcome: 'no-output' })).status).toBe(200);
    expect(await rejectedIds(graph)).toEqual([ids[1]]);
  });

  test('of an output that is no input of the task is 409 watermark_unknown_input', async () => {
    const { graph, runner, taskId } = await held(1);
    const later = await stage.upload(graph, 'input', 'later');
    const answer = await reject(runner, taskId, later.body.id);
    expect([answer.status, answer.body.code]).toEqual([409, 'watermark_unknown_input']);
  });
});

describe('a rejected input', () => {
  test.each([true, false])(
    'that is reprocessed alone is no longer rejected (incremental: %s)',
    async (incremental) => {
      const { graph, ids, runner, taskId } = await held(4, { incremental });
      for (const id of ids) {
        if (id === ids[1] || id === ids[2]) await reject(runner, taskId, id);
        else if (incremental) await advance(runner, taskId, id);
      }
      await runner.end(taskId, 'complete', { outcome: 'no-output' });
      expect(await rejectedIds(graph)).toEqual([ids[1], ids[2]]);
      expect((await reprocess(graph, { inputs: [ids[2], ids[1], ids[2]] })).status).toBe(202);
      const news = (await stage.upload(graph, 'input', 'news')).body.id;
      const again = await runner.acquire(graph.template);
      expect(again).toMatchObject({ reason: 'reprocess', incremental: { pendingInputs: 2 } });
      for (const mode of ['since-watermark', 'latest', 'all'])
        expect([mode, await inputsOf(runner, again.taskId, mode)]).toEqual([mode, [ids[1], ids[2]]]);
      expect((await runner.read(again.taskId, ids[0]!)).status).toBe(404);
      expect((await runner.read(again.taskId, ids[1]!)).bytes.toString()).toBe('1');
      await reject(runner, again.taskId, ids[1], { category: 'error', reason: 'Still.' });
      const written = await runner.write(again.taskId, 'a', {
        ...named('a'),
        ...(incremental && { 'x-platform-watermark': String(ids[2]) }),
      });
      await runner.end(again.taskId, 'complete', { outcome: 'completed' });
      expect((await listOf(graph)).rejectedInputs).toMatchObject([{ outputId: ids[1], reason: 'Still.' }]);
      expect(await lineageOf(written.body.outputId)).toEqual([ids[2]]);
      const next = await runner.acquire(graph.template);
      expect(await inputsOf(runner, next.taskId, 'since-watermark')).toEqual([news]);
    },
  );

  test('stays rejected when the run that was to try it again ends as suspended', async () => {
    const { graph, ids, runner, taskId } = await held(1);
    await reject(runner, taskId, ids[0]);
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    await reprocess(graph, { inputs: ids });
    const again = await runner.acquire(graph.template);
    await runner.end(again.taskId, 'complete', { outcome: 'suspended' });
    expect(await rejectedIds(graph)).toEqual(ids);
  });

  test('whose bytes are replaced is no longer rejected once the new ones are consumed', async () => {
    const graph = await stage.chainOf(1, { incremental: true });
    const { id } = (await stage.upload(graph, 'input', 'bad', named('lap'))).body;
    const runner = stage.runner();
    const first = await runner.acquire(graph.template);
    await reject(runner, first.taskId, id);
    await runner.end(first.taskId, 'complete', { outcome: 'no-output' });
    await stage.upload(graph, 'input', 'good', named('lap'));
    expect((await listOf(graph)).totalCount).toBe(1);
    const second = await runner.acquire(graph.template);
    await advance(runner, second.taskId, id);
    expect((await listOf(graph)).totalCount).toBe(0);
  });

  test('is shown with its node and said by explain', async () => {
    const { graph, ids, runner, taskId } = await held(2, { incremental: true });
    const explain = () => get(`/node-instance/${graph.nodes.n1}/explain`);
    expect((await explain()).facts.rejectedInputs).toBe(0);
    await reject(runner, taskId, ids[0]);
    expect((await explain()).sentence).toMatch(/ lap\.csv \(validation: line 3: no time\) is rejected\.$/);
    await reject(runner, taskId, ids[1]);
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    expect(await explain()).toMatchObject({
      why: 'up-to-date',
      sentence: expect.stringMatching(/ 2 of its inputs are rejected, the last of them \S+ \(validation: /),
      facts: { rejectedInputs: 2 },
    });
    const counts = (nodes: { rejectedInputs: number }[]) => nodes.map((node) => node.rejectedInputs);
    expect(counts((await get(`/session/${graph.sessionId}/node-instances`)).nodeInstances)).toEqual([0, 2]);
    expect(counts((await get(`/sessions/${graph.sessionId}`)).nodeInstances)).toEqual([0, 2]);
    expect(await listOf(graph, '?page=2&pageSize=1')).toMatchObject({
      rejectedInputs: [{ outputId: ids[0] }],
      totalCount: 2,
      totalPages: 2,
    });
  });
});

describe('a reprocess of chosen inputs is refused', () => {
  test('for outputs that are no inputs of the node, and for Input nodes', async () => {
    const { graph, ids } = await held(1);
    const other = await held(1);
    for (const inputs of [[other.ids[0]], [ids[0], 999_999_999]]) {
      const answer = await reprocess(graph, { inputs });
      expect([answer.status, answer.body]).toEqual([
        400,
        { status: 'error', message: `Output ${inputs.at(-1)} is not an input of the node.` },
      ]);
    }
    expect((await reprocess(graph, { inputs: ids }, 'input')).status).toBe(400);
    const rows = await stage.database.query(
      'select 1 from node_instance where session_id = $1 and (reprocess_wanted or reprocess_input_ids is not null)',
      [graph.sessionId],
    );
    expect(rows).toEqual([]);
  });

  test('with no input or too many', async () => {
    const { graph } = await held(1);
    const many = Array.from({ length: 1_001 }, (_, at) => at + 1);
    for (const inputs of [[], many, ['1'], [0], 1])
      expect((await reprocess(graph, { inputs })).status).toBe(400);
  });
});

test('an unknown node has no list of rejected inputs', async () => {
  const answer = await ask(api.url, 'GET', '/api/v2/node-instance/999999999/rejected-inputs', { token });
  expect([answer.status, answer.body]).toEqual([
    404,
    { status: 'error', message: 'Node instance not found.' },
  ]);
});
