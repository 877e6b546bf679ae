import { afterEach, expect, test, vi } from 'vitest';
import { TaskWaiter } from '../../../../api/runner/claims/task-waiters.ts';
import { ask } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { runnerStage } from '../../../support/runner.ts';

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
