import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { DataSources } from '../../activities/builtin/data-sources.ts';
import { tabularNode } from '../../activities/builtin/tabular-node.ts';
import { findDataSourceByName } from '../../store/objects/data-sources.ts';
import { newOutputKey } from '../../store/objects/object-store.ts';
import { builtinHolder } from '../../store/runners/holder.ts';
import { claimRun } from '../../store/runs/claims.ts';
import { endTask, type TaskEnd } from '../../store/runs/end-task.ts';
import { publishUpload } from '../../store/uploads/publish-upload.ts';
import { eventually } from '../support/eventually.ts';
import { changesBy } from '../support/graph.ts';
import { writePendingRow } from '../support/pending-row.ts';
import { inputNode, tabularNode as tabularNodeOf, templateFile } from '../support/templates.ts';
import { type RecordingSession, recordingStage, table } from './recording-session.ts';

const { api, client } = await recordingStage();

describe('an attempt that ends in the middle', () => {
  /** Publishes uploads without a notification of the workflow, so that the test can claim the run. */
  async function unnoticed(templateName: string | undefined, ...files: [name: string, text: string][]) {
    const { database, objects } = api.composed.services;
    const session = await client.newSession(templateName);
    const dataSource = (await findDataSourceByName(database, 'platform'))!;
    for (const [outputIdentifier, text] of files) {
      const objectKey = newOutputKey();
      await writePendingRow(database, objectKey, dataSource.id);
      const stored = await objects.of(dataSource).put(objectKey, Readable.from([Buffer.from(text)]), {
        signal: AbortSignal.timeout(100_000),
      });
      const upload = {
        ...stored,
        nodeInstanceId: session.nodeId(0),
        dataSourceId: dataSource.id,
        objectKey,
        outputIdentifier,
        contentType: 'text/csv',
        contentEncoding: null,
        metadata: null,
      };
      // Otherwise the workflow executes the run before the test has claimed it.
      const changes = await changesBy(database, () => publishUpload(database, upload));
      expect(changes.length).toBeGreaterThan(0);
    }
    return session;
  }

  /** Claims the session's queued run and works on it, apart from the worker. */
  async function workOn(
    session: RecordingSession,
    { turnSeconds, report }: { turnSeconds: number; report: () => void },
  ) {
    const { database, objects, pending, log } = api.composed.services;
    const [run] = await database.query<{ id: string }>(
      `select id from node_run where session_id = $1 and state = 'queued'`,
      [session.id],
    );
    const identity = { holder: builtinHolder, instanceId: `test.${session.id}` };
    const task = await claimRun(database, identity, { runId: run!.id, attempt: 1, leaseSeconds: 600 });
    const caller = { ...identity, taskId: task!.taskId };
    const workDir = await mkdtemp(join(tmpdir(), 'sdp-dies-'));
    const configuration = JSON.parse(task!.configuration);
    const { signal } = new AbortController();
    const services = { database, objects, pending, log };
    const room = { budgetBytes: 2 ** 30, reserveBytes: 0 };
    const tools = { sources: new DataSources(objects), fileSeconds: 60, turnSeconds, room, unpackRatio: 200 };
    const attempt = {
      ...tools,
      task: task!,
      caller,
      configuration,
      workDir,
      signal,
      report,
      log: () => undefined,
    };
    const ended = await tabularNode.run(attempt, services).catch((error: Error) => error);
    await rm(workDir, { recursive: true });
    return { caller, ended };
  }

  /** Like a process that dies when it begins with the second input. */
  async function dieAtSecondInput(session: RecordingSession): Promise<void> {
    let begun = 0;
    const report = () => {
      begun += 1;
      if (begun === 2) throw new Error('The process died.');
    };
    const { caller, ended } = await workOn(session, { turnSeconds: 60, report });
    expect(ended).toMatchObject({ message: 'The process died.' });
    await api.composed.services.database.query(
      `update node_claim set lease_until = clock_timestamp() - interval '1 second' where task_id = $1`,
      [caller.taskId],
    );
  }

  const outputsOf = (session: RecordingSession) =>
    api.composed.services.database.query<{ id: number; name: string }>(
      `select id, output_identifier as name from node_output where node_instance_id = $1 order by id`,
      [session.nodeId(1)],
    );
  const runsOf = (session: RecordingSession) =>
    api.composed.services.database.query<{ outcome: string; attempt: number }>(
      'select outcome, attempt from node_run where node_instance_id = $1 order by queue_time',
      [session.nodeId(1)],
    );

  test('the next one continues after the written outputs and repeats none of them', async () => {
    const files = ['one', 'two', 'three'].map((name): [string, string] => [`${name}.csv`, table(1, 2)]);
    const session = await unnoticed(undefined, ...files);
    await dieAtSecondInput(session);
    const [first, ...others] = await outputsOf(session);
    expect(others).toEqual([]);
    expect((await session.settled()).map(({ state }) => state)).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
    const outputs = await outputsOf(session);
    expect(outputs).toHaveLength(3);
    expect(outputs[0]).toEqual(first);
    expect(await runsOf(session)).toEqual([{ outcome: 'completed', attempt: 2 }]);
    const { sources } = await session.dashboard();
    expect(sources.map(({ name }) => name)).toEqual(['one.csv', 'two.csv', 'three.csv']);
  });

  test('after its turn a run leaves the rest to a follow-up, which fails for all that was rejected', async () => {
    const session = await unnoticed(
      undefined,
      ['broken.csv', 'time,speed\n0,1\n1,"2'],
      ['two.csv', table(1, 2)],
      ['three.csv', table(1, 2)],
    );
    const { caller, ended } = await workOn(session, { turnSeconds: 0, report: () => undefined });
    expect(ended).toEqual({ kind: 'complete', outcome: 'no-output', hasMore: true });
    const { database } = api.composed.services;
    await endTask(database, caller, ended as TaskEnd, { digest: 'digest', jitter: 0 });
    const [, recording] = await session.settled();
    expect(recording).toMatchObject({
      state: 'Failed',
      statusDetails: expect.stringContaining('broken.csv'),
    });
    expect((await outputsOf(session)).map(({ name }) => name)).toHaveLength(2);
    expect((await runsOf(session)).map(({ outcome }) => outcome)).toEqual(['no-output', 'failed']);
  });

  test('which got other bytes than were uploaded rejects no input, and the next one reads them again', async () => {
    const session = await unnoticed(undefined, ['one.csv', table(1, 2)]);
    const { database } = api.composed.services;
    const setDigest = (digest: string) =>
      database.query('update node_output set sha256 = $2 where node_instance_id = $1', [
        session.nodeId(0),
        digest,
      ]);
    const digest = createHash('sha256').update(table(1, 2)).digest('hex');
    await setDigest(createHash('sha256').digest('hex'));
    const { caller, ended } = await workOn(session, { turnSeconds: 60, report: () => undefined });
    expect(ended).toMatchObject({ message: expect.stringContaining('came with other bytes') });
    await setDigest(digest);
    const end: TaskEnd = { kind: 'fail', category: 'error', reason: String(ended) };
    await endTask(database, caller, end, { digest: 'digest', jitter: 0 });
    const [, recording] = await session.settled();
    expect(recording).toMatchObject({ state: 'Succeeded', rejectedInputs: 0 });
    expect(await runsOf(session)).toEqual([{ outcome: 'completed', attempt: 2 }]);
  });

  test('its outputs count for the run, also when the next one has nothing left to write', async () => {
    await client.call(
      'POST',
      '/api/v2/admin/session-templates',
      templateFile('empty-is-fine', [
        inputNode('upload'),
        {
          ...tabularNodeOf('recording', 'upload'),
          DefaultConfiguration: { inputFormat: 'csv', whenNoOutputs: 'no-output' },
        },
      ]),
    );
    const session = await unnoticed('empty-is-fine', ['one.csv', table(1, 2)], ['empty.csv', '']);
    await dieAtSecondInput(session);
    await session.settled();
    expect(await runsOf(session)).toEqual([{ outcome: 'completed', attempt: 2 }]);
    expect(await outputsOf(session)).toHaveLength(1);
  });
});

test('without a folder for temporary files a run is given back, says why, and uses up no attempt', async () => {
  const session = await client.newSession();
  vi.stubEnv('TEMP_DIR', join(import.meta.filename, 'no-folder'));
  try {
    await session.upload({ identifier: 'one.csv', bytes: table(1, 2) });
    await eventually('it says why', async () =>
      (await session.progress())[1]!.statusDetails.includes('no temporary files'),
    );
  } finally {
    vi.unstubAllEnvs();
  }
  expect((await session.settled()).map(({ state }) => state)).toEqual([
    'Succeeded',
    'Succeeded',
    'Succeeded',
  ]);
  const runs = await api.composed.services.database.query(
    'select outcome, attempt from node_run where node_instance_id = $1',
    [session.nodeId(1)],
  );
  expect(runs).toEqual([{ outcome: 'completed', attempt: 1 }]);
});
