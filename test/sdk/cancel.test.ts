/** How a task learns that its work no longer counts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { defineRunner, type Task, TaskCancelled } from '../../sdk/index.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import type { Graph } from '../support/graph.ts';
import { testProcesses } from '../support/processes.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
const { database } = stage;
const processes = testProcesses({});
const folder = mkdtempSync(join(tmpdir(), 'sdp-cancel-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A runner that works on a task, and the reasons that its code gets. */
async function atWork(options: { readonly token?: string } = {}) {
  const graph = await stage.chainOf(1, { leaseSeconds: 10 });
  const cancelled = Promise.withResolvers<TaskCancelled>();
  let task: Task | undefined;
  const running = await stage.start(
    defineRunner({
      templates: [graph.template],
      async run(held) {
        task = held;
        try {
          await sleep(60_000, undefined, { signal: held.signal });
        } catch (error) {
          cancelled.resolve(held.signal.reason as TaskCancelled);
          throw error;
        }
      },
    }),
    options,
  );
  running.ended.catch(() => undefined);
  await stage.upload(graph, 'input', 'bytes');
  await eventually('it works', () => task !== undefined);
  return { graph, running, cancelled: cancelled.promise, task: task! };
}

const cancel = (graph: Graph) =>
  database.query('update node_run set cancel_requested = true where node_instance_id = $1', [graph.nodes.n1]);

describe('the signal of a task', () => {
  test('tells of an operator who cancels the run, and the node ends as cancelled', async () => {
    const { graph, cancelled } = await atWork();
    await cancel(graph);
    expect(await cancelled).toMatchObject({ name: 'AbortError', why: 'cancelled' });
    await stage.until(graph, 'n1', 'Failed');
    expect((await stage.node(graph, 'n1')).statusDetails).toBe('cancelled');
  });

  test.each([
    ['computes without a pause', 'busy'],
    ['does not look at it', 'stubborn'],
  ])('gives the code a while; when it %s, the kit reports without it', async (_how, BEHAVIOUR) => {
    const graph = await stage.chainOf(1, { leaseSeconds: 10 });
    const runner = await stage.startProcess('test/sdk/support/runners/behaviours.ts', {
      TEMPLATE: graph.template,
      BEHAVIOUR,
      BUSY_MS: '600000',
      CANCEL_GRACE_SECONDS: '0.5',
    });
    await stage.upload(graph, 'input', 'bytes');
    await eventually('it works', () => /computing|waiting/.test(runner.log()));
    await cancel(graph);
    await stage.until(graph, 'n1', 'Failed');
    expect((await stage.node(graph, 'n1')).statusDetails).toBe('cancelled');
    expect(await stage.claims(graph, 'n1')).toMatchObject([{ ending: 'fail' }]);
    runner.kill('SIGKILL');
  });

  test('tells that the task is held no more, also when a call finds it first', async () => {
    const { cancelled, task } = await atWork();
    await database.query(
      "update node_claim set lease_until = now() - interval '1 second' where task_id = $1",
      [task.taskId],
    );
    await expect(task.write('too late')).rejects.toBeInstanceOf(TaskCancelled);
    expect(await cancelled).toMatchObject({ why: 'lease-lost' });
  });

  test('tells of a token that is valid no more, and the runner ends', async () => {
    const token = await stage.tokenOfDeveloper();
    const { running, cancelled } = await atWork({ token });
    await ask(stage.api.url, 'POST', '/api/authorization/logout', { token });
    expect(await cancelled).toMatchObject({ why: 'unauthorized' });
    await expect(running.ended).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
  });

  test('tells of a session that is deleted', async () => {
    const { graph, cancelled } = await atWork();
    const token = stage.people.adminToken;
    const answer = await ask(stage.api.url, 'DELETE', `/api/v2/sessions/${graph.sessionId}`, { token });
    expect(answer.status).toBe(204);
    expect(await cancelled).toMatchObject({ why: 'lease-lost' });
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
test.skipIf(!hasPython)(
  'a Python runner reports the end of a cancelled task too when its code does not stop',
  async () => {
    const graph = await stage.chainOf(1, { leaseSeconds: 10 });
    const script = join(folder, 'stubborn.py');
    writeFileSync(
      script,
      `import time
import sdp

@sdp.runner(name="stubborn", templates=[${JSON.stringify(graph.template)}], cancel_grace_seconds=0.5)
def work(task):
    print("working", flush=True)
    time.sleep(600)

work.run()
`,
    );
    const token = stage.people.Developer.token;
    const variables = {
      SDP_URL: stage.api.url,
      SDP_RUNNER_TOKEN: token,
      PYTHONPATH: resolve('sdk/python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const runner = processes.startScript(script, variables, { program: 'python3' });
    await stage.upload(graph, 'input', 'bytes');
    await eventually('it works', () => runner.log().includes('working'));
    await cancel(graph);
    await stage.until(graph, 'n1', 'Failed');
    expect(await stage.claims(graph, 'n1')).toMatchObject([{ ending: 'fail' }]);
  },
);
