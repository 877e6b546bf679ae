import { pino } from 'pino';
import { expect, test } from 'vitest';
import { retainOnce } from '../../../worker/retention.ts';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people, database } = stage;

const call = async (method: string, path: string) =>
  (await ask(api.url, method, path, { token: people.adminToken })).body;

/** A node that has read three inputs, of which retention has then removed all but the newest. */
async function withRemovedInputs(ending: 'complete' | 'fail') {
  const graph = await stage.chainOf(1, { maxAttempts: 1 });
  await database.query(`update node_template set reprocess = 'all' where name = $1`, [graph.template]);
  for (const bytes of ['a', 'b', 'c']) await stage.upload(graph, 'input', bytes);
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  await runner.end(
    task.taskId,
    ending,
    ending === 'fail' ? { category: 'error', reason: 'no licence' } : { outcome: 'no-output' },
  );
  const details = `/api/v2/node-runs/${task.runId}`;
  expect(await call('GET', details)).toMatchObject({ inputsRemoved: 0 });
  await retain(graph);
  return { graph, details };
}

async function retain({ sessionId, nodes }: StageGraph) {
  await database.query(
    'update project set retention_days = 5 where id = (select project_id from session where id = $1)',
    [sessionId],
  );
  // It was closed today, so it stays.
  await database.query(
    `update session set created_at = created_at - interval '10 days', closed_at = now() where id = $1`,
    [sessionId],
  );
  await database.query(
    `update node_output set created_at = created_at - interval '10 days' where node_instance_id = $1`,
    [nodes.input],
  );
  await call('POST', '/api/v2/admin/retention');
  await retainOnce(database, api.composed.services.objects, pino({ level: 'silent' }), {
    everyHours: 0,
    removesOrphans: false,
    signal: new AbortController().signal,
  });
}

test.each(['complete', 'fail'] as const)(
  'a run that ended by %s says how many of its inputs retention has removed, and so does its replay',
  async (ending) => {
    const { details } = await withRemovedInputs(ending);
    const run = await call('GET', details);
    expect(run.inputs).toHaveLength(1);
    expect(run).toMatchObject({ inputsRemoved: 2 });
    expect(await call('GET', `${details}/replay`)).toMatchObject({ inputsRemoved: 2 });
  },
);

test('a reprocess over all inputs says how many of them retention has removed', async () => {
  const { graph } = await withRemovedInputs('complete');
  const path = `/api/v2/node-instance/${graph.nodes.n1}/reprocess`;
  expect(await call('POST', path)).toMatchObject({
    message: 'Reprocessing queued. It goes without the inputs that retention has removed: 2.',
  });
});
