/** Claims beside other claims, beside a registration, and whose callers hang up. The claims of all templates come first: they would get what the others leave. */

import { randomUUID } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { TaskWaiter } from '../../../../api/runner/claims/task-waiters.ts';
import { ask } from '../../../support/api.ts';
import { eventually, statementsWait } from '../../../support/eventually.ts';
import { makeGraph, outsideTemplate, upload } from '../../../support/graph.ts';
import { runnerStage, type TestRunner } from '../../../support/runner.ts';

const stage = await runnerStage();
const { api, database, people } = stage;
const runner = stage.runner();
afterEach(() => void vi.restoreAllMocks());

const claim = (body: object, instanceId = runner.instanceId) =>
  ask(api.url, 'POST', '/api/v2/runner/tasks/claim', {
    token: people.Developer.token,
    json: { instanceId, ...body },
  });

/** A task that is ready, of a template that is not there for accounts yet. */
async function hiddenTask(runnerType: string) {
  const graph = await stage.chainOf(1, { runnerType });
  const setRuntime = (runtime: string) =>
    database.query('update runner_type set runtime = $2 where name = $1', [runnerType, runtime]);
  await setRuntime('sdk');
  await stage.upload(graph, 'input', 'x');
  // The templates are read now.
  expect((await claim({ waitSeconds: 0 })).status).toBe(204);
  return { template: graph.template, show: () => setRuntime('external') };
}

async function expectTask({ status, body }: Awaited<ReturnType<typeof claim>>, template: string) {
  expect([status, body.nodeTemplate]).toEqual([200, template]);
  await runner.end(body.taskId, 'complete', { outcome: 'no-output' });
}

test('an open claim that waits gets at once a task of a template that was registered a moment ago', async () => {
  const { template, show } = await hiddenTask('new-1');
  await show();
  const sleeps = vi.spyOn(TaskWaiter.prototype, 'next');
  await expectTask(await claim({ waitSeconds: 20 }), template);
  expect(sleeps).not.toHaveBeenCalled();
});

test('an open claim finds a template that another call has read while it was being tried', async () => {
  // With several templates a claim first reads which of them have tasks.
  for (let count = 0; count < 2; count++) await stage.chainOf(1);
  const { template, show } = await hiddenTask('new-2');
  await show();
  const answer = await database.transaction(async (tx) => {
    await tx.query('lock table node_run in access exclusive mode');
    const answering = claim({ waitSeconds: 0 });
    await eventually('the claim waits for the lock', async () => {
      const waiting = `select 1 from pg_locks where relation = 'node_run'::regclass and not granted`;
      return (await tx.query(waiting)).length > 0;
    });
    const unknown = await claim({ waitSeconds: 0, templates: ['nowhere'] }, 'another');
    expect(unknown.body.code).toBe('template_unknown');
    return { answering };
  });
  await expectTask(await answer.answering, template);
});

test('a claim whose caller hung up first releases no later task of the instance', async () => {
  const graph = await stage.chainOf(1);
  await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  const hungUp = new AbortController();
  let late: Promise<unknown> | undefined;
  await stage.database.transaction(async (tx) => {
    await tx.query('select 1 from runner_instance where instance_id = $1 for update', [runner.instanceId]);
    late = runner.claim(graph.template, 0, hungUp.signal).catch(() => 'gone');
    await statementsWait(stage.database);
    hungUp.abort();
    expect(await late).toBe('gone');
    // The server answers later calls after it has seen the end of the connection.
    for (let call = 0; call < 3; call += 1) await runner.call('GET', '/whoami');
  });
  await eventually('the late claim is over', async () => {
    const [row] = await stage.database.query<{ seq: number }>(
      'select claim_seq as seq from runner_instance where instance_id = $1',
      [runner.instanceId],
    );
    return row!.seq > 1;
  });
  await runner.write(task.taskId, 'x');
  const ended = await runner.end(task.taskId, 'complete', { outcome: 'completed' });
  expect(ended).toMatchObject({ status: 200, body: { nodeState: 'Succeeded' } });
});

test('a claim whose caller has disconnected before the reply is undone completely', async () => {
  const graph = await stage.chainOf(1);
  const instanceId = randomUUID();
  const gone = new AbortController();
  const claimed = stage.runner({ instanceId }).claim(graph.template, 60, gone.signal);
  claimed.catch(() => undefined);
  await eventually('it waits', () => api.composed.services.runners.waiters.idleCount === 1);
  await database.transaction(async (tx) => {
    // The claim now waits for this row, in the middle of its statement.
    await tx.query('select 1 from runner_instance where instance_id = $1 for update', [instanceId]);
    await upload(database, graph, 'input');
    await statementsWait(database);
    gone.abort();
    await expect(claimed).rejects.toThrow();
  });
  const next = stage.runner();
  const answer = await next.claim(graph.template, 10);
  expect(answer.body).toMatchObject({ attempt: 1, reason: 'input' });
  const claims = await database.query<{ instanceId: string; ending: string | null }>(
    `select instance_id, ending from node_claim where run_id = $1 order by claimed_at`,
    [answer.body.runId],
  );
  expect(claims).toEqual([
    { instanceId, ending: 'undone' },
    { instanceId: next.instanceId, ending: null },
  ]);
});

test('32 runners racing for 500 runs over HTTP hold each exactly once', async () => {
  const template = `t-${randomUUID()}`;
  await outsideTemplate(database, template);
  const sessions: string[] = [];
  for (let session = 0; session < 10; session += 1) {
    const children = Array.from({ length: 50 }, (_, at) => ({
      name: `n${at}`,
      parents: ['input'],
      template,
    }));
    const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...children]);
    await upload(database, graph, 'input');
    sessions.push(graph.sessionId);
  }
  const runs: string[] = [];
  const work = async (runner: TestRunner) => {
    for (;;) {
      const answer = await runner.claim(template);
      if (answer.status === 204) return;
      expect(answer.status).toBe(200);
      runs.push(answer.body.runId);
      const end = await runner.end(answer.body.taskId, 'complete', { outcome: 'no-output' });
      expect(end.status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 32 }, () => work(stage.runner())));
  expect(runs).toHaveLength(500);
  expect(new Set(runs).size).toBe(500);
  const [row] = await database.query<{ claims: number; open: number }>(
    `select count(*) as claims, count(*) filter (where c.ended_at is null) as open
       from node_claim c join node_run r on r.id = c.run_id where r.session_id = any ($1::uuid[])`,
    [sessions],
  );
  expect(row).toEqual({ claims: 500, open: 0 });
});

test('concurrent claims of one instance id give it at most one task', async () => {
  const template = `t-${randomUUID()}`;
  await outsideTemplate(database, template, { maxAttempts: 20 });
  const children = Array.from({ length: 20 }, (_, at) => ({ name: `n${at}`, parents: ['input'], template }));
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...children]);
  await upload(database, graph, 'input');
  const instanceId = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, at) => stage.runner({ instanceId }).claim(template, at % 2)),
  );
  expect(answers.filter(({ status }) => status !== 200 && status !== 204)).toEqual([]);
  const held = await database.query<{ taskId: string }>(
    'select task_id from node_claim where instance_id = $1 and ended_at is null',
    [instanceId],
  );
  expect(held.length).toBeLessThanOrEqual(1);
  const alive = await Promise.all(
    answers
      .filter(({ status }) => status === 200)
      .map(({ body }) => stage.runner({ instanceId }).call('PUT', `/tasks/${body.taskId}/heartbeat`, {})),
  );
  expect(alive.filter(({ status }) => status === 200)).toHaveLength(held.length);
});
