/** Built-in runs whose infrastructure fails, or that end without a result: no attempt is lost, nothing hangs. */
import { spawnSync } from 'node:child_process';
import type { WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { SecretBox } from '../../store/objects/secrets.ts';
import { findNodeRun } from '../../store/runs/node-runs.ts';
import { sessionWorkflowId } from '../../workflows/contract.ts';
import { openDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { tcpGate } from '../support/network/tcp-gate.ts';
import { stretched } from '../support/stretched.ts';
import { importGated, type RecordingSession, recordingStage } from './recording-session.ts';
import { longParquet, parquetType } from './tabular/long-parquet.ts';

const { client, platform, temporalSide } = await recordingStage();
const database = await openDatabase(platform, 4);
const gate = await tcpGate(platform.s3.endpoint);
await importGated(client, platform.s3, gate.url);

const table = 'time,speed\n0,1\n1,2\n';

async function runOf(session: RecordingSession) {
  const [row] = await database.query<{ id: string; releases: number }>(
    'select id, release_count as releases from node_run where node_instance_id = $1 order by queue_time desc',
    [session.nodeId(1)],
  );
  return row && { ...(await findNodeRun(database, row.id))!, releases: row.releases };
}

/** The execution of the session's workflow that is open: a late notification may begin another after its end. */
async function openWorkflow(session: RecordingSession) {
  const { workflow } = temporalSide.operator;
  const { workflowId, runId } = await workflow.getHandle(sessionWorkflowId(session.id)).describe();
  return workflow.getHandle(workflowId, runId);
}

/** How often each activity of a workflow was tried. */
async function triesOf(workflow: WorkflowHandle) {
  const { events } = await workflow.fetchHistory();
  return events?.flatMap(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? []);
}

test('while the object store is down a run is released with a growing wait and no attempt is counted', async () => {
  const session = await client.newSession('gated');
  await session.upload({ identifier: 'one.csv', bytes: table });
  await session.settled();
  gate.shut();
  let workflow: WorkflowHandle;
  try {
    await client.call('POST', `/api/v2/node-instance/${session.nodeId(1)}/reprocess`);
    const waiting = await eventually('it waits', async () => {
      const run = await runOf(session);
      return run?.state === 'waiting' && run.releases >= 4 && run;
    });
    expect(waiting).toMatchObject({
      attempt: 1,
      nodeState: 'Pending',
      statusDetails: 'Released: The data source "gated" cannot be reached: it closes the connection.',
      attempts: [{ outcome: null }],
    });
    workflow = await openWorkflow(session);
  } finally {
    gate.open();
  }
  expect((await session.settled()).map(({ state }) => state)).toEqual(['Succeeded', 'Succeeded']);
  expect(await runOf(session)).toMatchObject({ attempt: 1, attempts: [{ outcome: 'completed' }] });
  // While it waits there is only its timer; no worker executes it.
  expect(new Set(await triesOf(workflow))).toEqual(new Set([1]));
});

/** A session of the gated data source whose recording is about to be converted again. */
async function recordedOnce() {
  const session = await client.newSession('gated');
  await session.upload({ identifier: 'one.csv', bytes: table });
  await session.settled();
  return session;
}
const reprocess = (session: RecordingSession) =>
  client.call('POST', `/api/v2/node-instance/${session.nodeId(1)}/reprocess`);

test('a data source that never answers keeps no run of another waiting', async () => {
  const waiting = [await recordedOnce(), await recordedOnce(), await recordedOnce()];
  gate.stall();
  try {
    await Promise.all(waiting.map(reprocess));
    await eventually('all places are taken', async () => {
      const [row] = await database.query<{ held: number }>(
        `select count(*)::int as held from node_run where state = 'held'`,
      );
      return row!.held >= 2;
    });
    const other = await client.newSession();
    await other.upload({ identifier: 'one.csv', bytes: table });
    expect((await other.settled()).map(({ state }) => state)).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
    // While it is held it shows what its runner says: the reason stands there while it waits.
    const released = await eventually('it waits after a release', async () => {
      const run = await runOf(waiting[0]!);
      return run!.state === 'waiting' && run!.releases >= 1 && run;
    });
    expect(released).toMatchObject({
      attempt: 1,
      statusDetails: 'Released: The data source "gated" does not answer.',
    });
  } finally {
    gate.open();
  }
});

test('a data source with a wrong host finally fails the run, and the reason names the source', async () => {
  const session = await recordedOnce();
  const moveTo = (url: string) =>
    database.query(
      `update data_source set endpoint = $1, updated_at = clock_timestamp() where name = 'gated'`,
      [url],
    );
  await moveTo('http://nowhere.invalid:9');
  try {
    await reprocess(session);
    const { id } = await eventually('it waits', async () => {
      const run = await runOf(session);
      return run?.state === 'waiting' && run;
    });
    // As after some minutes.
    await database.query('update node_run set release_count = $2 where id = $1', [
      id,
      limits.builtinSourceReturns,
    ]);
    const failed = await eventually('an attempt fails', async () => {
      const run = await runOf(session);
      return run!.attempts[0]?.outcome === 'failed' && run!;
    });
    expect(failed).toMatchObject({ state: 'waiting', attempt: 2, attempts: [{ category: 'error' }, {}] });
    expect(failed.attempts[0]!.details).toMatch(
      /^The data source "gated" cannot be reached: its host is unknown/,
    );
  } finally {
    await moveTo(gate.url);
  }
  expect((await session.settled())[1]).toMatchObject({ state: 'Succeeded' });
});

test('a data source whose keys are of another SECRETS_KEY fails the run, and the reason names both', async () => {
  const session = await recordedOnce();
  const [{ secret } = { secret: '' }] = await database.query<{ secret: string }>(
    `select secret_ciphertext as secret from data_source where name = 'gated'`,
  );
  const keep = (text: string) =>
    database.query(`update data_source set secret_ciphertext = $1 where name = 'gated'`, [text]);
  await keep(new SecretBox('another key that is long enough').encrypt('secret', 'a purpose'));
  try {
    await reprocess(session);
    const failed = await eventually('an attempt fails', async () => {
      const run = await runOf(session);
      return run!.attempts[0]?.outcome === 'failed' && run!;
    });
    expect(failed.attempts[0]).toMatchObject({
      category: 'error',
      details: 'The data source "gated" has keys that cannot be decrypted with this SECRETS_KEY.',
    });
  } finally {
    await keep(secret);
  }
  expect((await session.settled())[1]).toMatchObject({ state: 'Succeeded' });
});

test('a run that is cancelled while it waits for the object store ends within seconds', async () => {
  const session = await client.newSession('gated');
  await session.upload({ identifier: 'one.csv', bytes: table });
  await session.settled();
  gate.stall();
  try {
    await client.call('POST', `/api/v2/node-instance/${session.nodeId(1)}/reprocess`);
    const held = await eventually('it is held', async () => {
      const run = await runOf(session);
      return run?.state === 'held' && run;
    });
    await client.call('POST', `/api/v2/admin/node-runs/${held.id}/cancel`);
    const nodes = await session.settled();
    expect(nodes[1]).toMatchObject({ state: 'Failed', statusDetails: 'cancelled' });
    expect(await runOf(session)).toMatchObject({ state: 'cancelled', attempt: 1, releases: 0 });
    gate.open();
    await client.call('POST', `/api/v2/admin/node-runs/${held.id}/retry`);
    expect((await session.settled())[1]).toMatchObject({ state: 'Succeeded' });
  } finally {
    gate.open();
  }
});

test('a run that is cancelled in the middle of a conversion ends within seconds, and its process with it', async () => {
  const session = await client.newSession('gated');
  const conversions = () => {
    const { stdout } = spawnSync('ps', ['-o', 'args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line.includes('convert-child.ts')).length;
  };
  await session.upload({ identifier: 'long.parquet', bytes: await longParquet(), contentType: parquetType });
  await eventually('it is converted', () => conversions() === 1);
  const run = await runOf(session);
  await client.call('POST', `/api/v2/admin/node-runs/${run!.id}/cancel`);
  const nodes = await session.settled();
  expect(nodes[1]).toMatchObject({ state: 'Failed', statusDetails: 'cancelled' });
  await eventually('its process has ended', () => conversions() === 0);
});

test('a run that ends without an output fails at once with a reason', async () => {
  const session = await client.newSession('gated');
  // All inputs count as consumed, so there is nothing to convert.
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
  expect(performance.now() - startedMs).toBeLessThan(stretched(10_000));
  expect(await runOf(session)).toMatchObject({ attempt: 1, attempts: [{ category: 'validation' }] });
});
