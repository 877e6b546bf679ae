/** Outputs of runners beside uploads to the same node and removals. */
import { expect, test } from 'vitest';
import { ask } from '../../../support/api.ts';
import { aStatementWaits } from '../../../support/eventually.ts';
import { runnerStage } from '../../../support/runner.ts';

const stage = await runnerStage();
const { api, database, people } = stage;

async function held() {
  const graph = await stage.chainOf(2);
  await stage.upload(graph, 'input', 'x');
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { graph, runner, taskId: task.taskId as string, runId: task.runId as string };
}

/** Makes a call that waits for a transaction, which has inserted an output `taken` like another one, and then commits. */
async function whileInserted<T>(
  outputId: number,
  runId: 'run_id' | 'null',
  call: () => Promise<T>,
): Promise<T> {
  const link = await database.pool.connect();
  await link.query('begin');
  await link.query(
    `insert into node_output (session_id, node_instance_id, run_id, data_source_id, object_key, output_identifier,
                              size_bytes, etag, configuration, configuration_revision)
     select session_id, node_instance_id, ${runId}, data_source_id, object_key, 'taken', size_bytes, etag, configuration,
            configuration_revision
       from node_output where id = $1`,
    [outputId],
  );
  const called = call();
  await aStatementWaits(database);
  await link.query('commit');
  link.release();
  return await called;
}

test('an output sent again is written again when the first is removed at the same moment', async () => {
  const { runner, taskId, runId } = await held();
  const headers = { 'x-platform-output-identifier': 'gone' };
  const first = await runner.write(taskId, 'one', headers);
  const link = await database.pool.connect();
  await link.query('begin');
  await link.query('select 1 from node_run where id = $1 for update', [runId]);
  const again = runner.write(taskId, 'one', headers);
  await aStatementWaits(database);
  await link.query('delete from node_output where id = $1', [first.body.outputId]);
  await link.query('commit');
  link.release();
  const { status, body } = await again;
  expect([status, body.outputIdentifier, body.sha256]).toEqual([201, 'gone', first.body.sha256]);
  await runner.end(taskId, 'complete', { outcome: 'completed' });
});

test('an output of an identifier that an upload takes at the same moment is the one of the upload', async () => {
  const { runner, taskId } = await held();
  const first = await runner.write(taskId, 'one', { 'x-platform-output-identifier': 'first' });
  const { status, body } = await whileInserted(first.body.outputId, 'null', () =>
    runner.write(taskId, 'two', { 'x-platform-output-identifier': 'taken' }),
  );
  expect([status, body.outputIdentifier]).toEqual([200, 'taken']);
});

test('an output staged while an upload of its identifier is published is replaced by the upload', async () => {
  const { graph, runner, taskId } = await held();
  const first = await runner.write(taskId, 'one', { 'x-platform-output-identifier': 'first' });
  const uploaded = await whileInserted(first.body.outputId, 'run_id', () =>
    stage.upload(graph, 'n1', 'two', { 'x-platform-output-identifier': 'taken' }),
  );
  expect([uploaded.status, uploaded.body.sizeBytes]).toEqual([200, 3]);
  await runner.end(taskId, 'complete', { outcome: 'completed' });
  const path = `/api/v2/node-instance/${graph.nodes.n1}/outputs`;
  const listed = await ask(api.url, 'GET', path, { token: people.Developer.token });
  expect(listed.body).toMatchObject([{ id: uploaded.body.id }, { id: first.body.outputId }]);
});
