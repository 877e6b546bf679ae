/** Built-in runs whose infrastructure fails, or that end without what they owe: no attempt is lost, nothing hangs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../store/database.ts';
import { findNodeRun } from '../../store/node-runs.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';
import { tcpGate } from '../support/tcp-gate.ts';
import { inputNode, tabularNode, templateFile } from '../support/templates.ts';
import { testWorkflows } from '../support/workflows.ts';
import { RecordingClient, type RecordingSession } from './recording-session.ts';

const platform = await testEnvironment();
const temporalSide = await testWorkflows(platform.environment);
const gate = await tcpGate(platform.s3.endpoint);
let database: Database;
let api: TestApi;
let client: RecordingClient;
beforeAll(async () => {
  database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 4 });
  api = await startTestApi(platform.environment);
  await Promise.all([temporalSide.startWorker('workflows'), temporalSide.startWorker('builtin')]);
  client = await RecordingClient.signIn(api.url, platform.administrator);
  const { endpoint: _, ...place } = platform.s3;
  const gated = { name: 'gated', kind: 's3', endpoint: gate.url, prefix: '', forcePathStyle: true, ...place };
  await client.call('POST', '/api/v2/admin/data-sources', gated);
  const upload = { ...inputNode('upload'), DefaultConfiguration: { dataSourceName: 'gated' } };
  const file = templateFile('gated', [upload, tabularNode('recording', 'upload')]);
  await client.call('POST', '/api/v2/admin/session-templates', file);
});
afterAll(async () => {
  await api.stop();
  await database.close();
});

const table = 'time,speed\n0,1\n1,2\n';

async function runOf(session: RecordingSession) {
  const [row] = await database.query<{ id: string; releases: number }>(
    'select id, release_count as releases from node_run where node_instance_id = $1 order by fair_rank desc',
    [session.nodeId(1)],
  );
  return row && { ...(await findNodeRun(database, row.id))!, releases: row.releases };
}

test('while the object store is away a run is given back with a growing wait, and uses up no attempt', async () => {
  const session = await client.newSession('gated');
  await session.upload({ identifier: 'one.csv', bytes: table });
  await session.settled();
  gate.shut();
  try {
    await client.call('POST', `/api/v2/node-instance/${session.nodeId(1)}/reprocess`);
    const waiting = await eventually('it waits', async () => {
      const run = await runOf(session);
      return run?.state === 'waiting' && run;
    });
    expect(waiting).toMatchObject({
      attempt: 1,
      nodeState: 'Pending',
      statusDetails: 'Given back: The object store does not answer.',
      attempts: [{ outcome: null }],
    });
    expect(waiting.releases).toBeGreaterThanOrEqual(3);
  } finally {
    gate.open();
  }
  expect((await session.settled()).map(({ state }) => state)).toEqual(['Succeeded', 'Succeeded']);
  expect(await runOf(session)).toMatchObject({ attempt: 1, attempts: [{ outcome: 'completed' }] });
});

test('a run that ends without an output fails at once and says so', async () => {
  const session = await client.newSession('gated');
  // Everything counts as gone over, so there is nothing to convert.
  await database.query('update node_instance set watermark_position = 100 where id = $1', [
    session.nodeId(1),
  ]);
  const startedMs = performance.now();
  await session.upload({ identifier: 'one.csv', bytes: table });
  const nodes = await session.settled();
  expect(nodes[1]).toMatchObject({
    state: 'Failed',
    statusDetails: 'validation: The node finished without writing an output.',
  });
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(await runOf(session)).toMatchObject({ attempt: 1, attempts: [{ category: 'validation' }] });
});
