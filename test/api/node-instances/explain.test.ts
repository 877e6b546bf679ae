import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';
import { revoke, tokenStage } from '../runner-tokens/support.ts';

const stage = await runnerStage();
const { api, database, people } = stage;

async function explain(graph: StageGraph, node: string) {
  const answer = await ask(api.url, 'GET', `/api/v2/node-instance/${graph.nodes[node]}/explain`, {
    token: people.Trainee.token,
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

const sessionCall = (graph: StageGraph, path: string) =>
  ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}${path}`, { token: people.Administrator.token });

describe('one sentence explains why a node is not running', () => {
  test('from the first upload to the last retry', async () => {
    const graph = await stage.chainOf(2, { maxAttempts: 2 });
    expect(await explain(graph, 'input')).toMatchObject({
      why: 'waits-for-upload',
      sentence: 'Waits for its first upload.',
    });
    expect(await explain(graph, 'n2')).toMatchObject({
      why: 'waits-for-parents',
      sentence: 'Waits for output of its parent n1 (not started).',
    });
    const runner = stage.runner();
    expect((await runner.claim(graph.template)).status).toBe(204);
    await stage.upload(graph, 'input', 'a');
    expect((await explain(graph, 'n1')).sentence).toMatch(
      /^Queued since .*Z behind 0 tasks; of \d+ runners? of type outside-runner \d+ (is|are) busy\.$/,
    );
    const task = await runner.acquire(graph.template);
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, { phase: 'reading', message: 'lap 1' });
    expect((await explain(graph, 'n1')).sentence).toMatch(
      new RegExp(
        `^Running on ${runner.instanceId} since .*Z, attempt 1 of 2; it reports "reading: lap 1"\\.$`,
      ),
    );
    const progress = { done: 3, total: 12, unit: 'laps' };
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, { phase: 'reading', progress });
    const working = await explain(graph, 'n1');
    expect(working.sentence).toMatch(/; it reports "reading", 3 of 12 laps\.$/);
    expect(working.facts.heldBy).toMatchObject({ progress, pendingInputs: null });
    await runner.end(task.taskId, 'fail', { reason: 'no disk', category: 'error' });
    const waiting = await explain(graph, 'n1');
    expect(waiting).toMatchObject({ why: 'waits-for-retry', state: 'Pending' });
    expect(waiting.sentence).toMatch(/^Attempt 2 of 2 is due at .*Z \(.*error: no disk\)\.$/);
    await database.query(`update node_run set state = 'queued', due_at = null where id = $1`, [task.runId]);
    const second = await runner.acquire(graph.template);
    await runner.end(second.taskId, 'fail', { reason: 'no disk', category: 'error' });
    const failed = await explain(graph, 'n1');
    expect(failed).toMatchObject({
      why: 'failed',
      state: 'Failed',
      facts: { lastRun: { outcome: 'failed' } },
    });
    expect(failed.sentence).toMatch(/^Failed at .*Z in attempt 2 of 2: error: no disk\. It runs again on /);
  });

  test('the backlog that a run of an incremental node began with', async () => {
    const graph = await stage.chainOf(1, { incremental: true });
    for (const name of ['a', 'b', 'c']) await stage.upload(graph, 'input', name);
    await stage.runner().acquire(graph.template);
    const { sentence, facts } = await explain(graph, 'n1');
    expect([sentence, facts.heldBy]).toEqual([
      expect.stringMatching(/, attempt 1 of \d\. At its claim 3 inputs were pending\.$/),
      expect.objectContaining({ progress: null, pendingInputs: 3 }),
    ]);
  });

  test('the failure of a retried run, also after a later run over chosen inputs', async () => {
    const graph = await stage.chainOf(1);
    const { id } = (await stage.upload(graph, 'input', 'a')).body;
    const runner = stage.runner();
    const fail = async (reason: string) => {
      const { taskId, runId } = await runner.acquire(graph.template);
      await runner.end(taskId, 'fail', { reason, category: 'validation' });
      return runId;
    };
    const runId = await fail('no disk');
    const by = { token: people.Administrator.token };
    const reprocess = `/api/v2/node-instance/${graph.nodes.n1}/reprocess`;
    expect((await ask(api.url, 'POST', reprocess, { ...by, json: { inputs: [id] } })).status).toBe(202);
    const chosen = await runner.acquire(graph.template);
    await runner.end(chosen.taskId, 'complete', { outcome: 'no-output' });
    expect((await ask(api.url, 'POST', `/api/v2/admin/node-runs/${runId}/retry`, by)).status).toBe(202);
    expect(await fail('still no disk')).toBe(runId);
    const failed = await explain(graph, 'n1');
    expect(failed).toMatchObject({ why: 'failed', facts: { lastRun: { id: runId, outcome: 'failed' } } });
    expect(failed.sentence).toMatch(/in attempt 2 of \d+: validation: still no disk\./);
  });

  test('an input that was rejected for the reason of the failure, which is said once', async () => {
    const graph = await stage.chainOf(1, { maxAttempts: 1, incremental: true });
    const { body: input } = await stage.upload(graph, 'input', 'a', {
      'x-platform-output-metadata': '{"fileName":"lap.csv"}',
    });
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const rejection = { category: 'validation', reason: 'line 3: no time' };
    await runner.call('PUT', `/tasks/${taskId}/rejections/${input.id}`, rejection);
    await runner.end(taskId, 'fail', { category: 'validation', reason: 'lap.csv: line 3: no time.' });
    const { sentence } = await explain(graph, 'n1');
    expect(sentence).toMatch(
      /: validation: lap\.csv: line 3: no time\. .* Its input lap\.csv is rejected\.$/,
    );
  });

  test('a frozen session, a suspended node, and one that has consumed everything', async () => {
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', 'a');
    await sessionCall(graph, '/freeze');
    expect((await explain(graph, 'n1')).sentence).toMatch(
      /^The session has been frozen since .*Z; its tasks wait/,
    );
    await sessionCall(graph, '/unfreeze');
    const runner = stage.runner();
    await runner.end((await runner.acquire(graph.template)).taskId, 'complete', { outcome: 'suspended' });
    expect(await explain(graph, 'n1')).toMatchObject({ why: 'suspended', state: 'Suspended' });
    await stage.upload(graph, 'input', 'b');
    await runner.end((await runner.acquire(graph.template)).taskId, 'complete', { outcome: 'no-output' });
    expect(await explain(graph, 'n1')).toMatchObject({ why: 'up-to-date', facts: { openRun: null } });
  });

  test('new input in a frozen session waits until it is unfrozen', async () => {
    const graph = await stage.chainOf(2);
    await stage.upload(graph, 'input', 'a');
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    await runner.write(taskId, 'a');
    await sessionCall(graph, '/freeze');
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    expect(await explain(graph, 'n2')).toMatchObject({
      why: 'frozen',
      sentence: expect.stringMatching(/^The session has been frozen since .*Z; its tasks wait until /),
    });
  });

  test('no runner of its type was ever seen', async () => {
    const graph = await stage.chainOf(1, { runnerType: 'lonely-runner' });
    await database.query(`update runner_type set runtime = 'sdk' where name = 'lonely-runner'`);
    await stage.upload(graph, 'input', 'a');
    expect((await explain(graph, 'n1')).sentence).toMatch(
      /^No runner of type lonely-runner is connected; none was ever seen\. Queued since .*Z\.$/,
    );
  });

  test('a connected runner of its type claims only tasks of other node templates', async () => {
    const { graph, made, runner, runnerType } = await tokenStage(stage);
    const other = await stage.chainOf(1, { runnerType });
    expect((await runner().claim(other.template)).status).toBe(204);
    await stage.upload(graph, 'input', 'a');
    expect((await explain(graph, 'n1')).sentence).toMatch(
      /^The runner of type \S+ that is connected claims no tasks of its node template\. Queued since .*Z\.$/,
    );
    await revoke(stage, made.id);
    expect((await explain(graph, 'n1')).sentence).toMatch(/is connected; the last was seen 0 minutes ago\./);
  });

  test('a runner whose token was revoked was seen all the same', async () => {
    const { graph, made, runner } = await tokenStage(stage);
    expect((await runner().claim(graph.template)).status).toBe(204);
    await revoke(stage, made.id);
    await stage.upload(graph, 'input', 'a');
    expect((await explain(graph, 'n1')).sentence).toMatch(
      /^No runner of type .* is connected; the last was seen 0 minutes ago\. Queued since /,
    );
  });

  test('an unknown node is 404 with the common body', async () => {
    for (const id of ['999999999', 'abc']) {
      const answer = await ask(api.url, 'GET', `/api/v2/node-instance/${id}/explain`, {
        token: people.Trainee.token,
      });
      expect([answer.status, answer.body]).toEqual([
        404,
        { status: 'error', message: 'Node instance not found.' },
      ]);
    }
  });
});

describe('the lineage of an output', () => {
  const lineageOf = async (outputId: number) => {
    const answer = await ask(api.url, 'GET', `/api/v2/node-instance/outputs/${outputId}/lineage`, {
      token: people.Trainee.token,
    });
    expect(answer.status).toBe(200);
    return answer.body;
  };

  test('of an upload has its checksum and no inputs', async () => {
    const graph = await stage.chainOf(1);
    const { body: upload } = await stage.upload(graph, 'input', 'a');
    expect(await lineageOf(upload.id)).toMatchObject({
      source: 'upload',
      sha256: upload.sha256,
      run: null,
      runner: null,
      inputs: [],
      isRecorded: true,
    });
  });

  test('of a run names inputs with checksums, configuration, template, runner and attempt, whatever happens later', async () => {
    const graph = await stage.chainOf(1);
    const { body: upload } = await stage.upload(graph, 'input', 'a', {
      'x-platform-output-identifier': 'lap',
    });
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    const { body: written } = await runner.write(task.taskId, 'out');
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    await stage.upload(graph, 'input', 'replaced', { 'x-platform-output-identifier': 'lap' });
    await database.query('delete from node_claim where run_id = $1', [task.runId]);
    expect(await lineageOf(written.outputId)).toMatchObject({
      source: 'run',
      sha256: written.sha256,
      nodeName: 'n1',
      configuration: expect.stringMatching(/^\{/),
      nodeTemplate: { name: graph.template, runnerType: 'outside-runner' },
      run: { id: task.runId, attempt: 1, outcome: 'completed', reason: 'input' },
      runner: { kind: 'account', instanceId: runner.instanceId },
      inputs: [
        {
          outputId: upload.id,
          nodeName: 'input',
          outputIdentifier: 'lap',
          sha256: upload.sha256,
          isNew: true,
        },
      ],
    });
  });

  test('names the runner by the label of its token, also after the token is deleted', async () => {
    const { graph, made, runner: newRunner } = await tokenStage(stage);
    await stage.upload(graph, 'input', 'a');
    const runner = newRunner();
    const task = await runner.acquire(graph.template);
    const { body: written } = await runner.write(task.taskId, 'out');
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    await database.query('delete from runner_token where id = $1', [made.id]);
    expect((await lineageOf(written.outputId)).runner).toMatchObject({
      kind: 'runner',
      label: 'test',
      instanceId: runner.instanceId,
    });
  });
});
