import { Readable } from 'node:stream';
import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import { findDataSourceByName } from '../../../store/objects/data-sources.ts';
import { newOutputKey } from '../../../store/objects/object-store.ts';
import { sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import { sweepSupersededOutputs } from '../../../store/outputs/versions.ts';
import { deleteSession } from '../../../store/sessions/delete-session.ts';
import { unfreezeSession } from '../../../store/sessions/freeze-session.ts';
import { queueUpload } from '../../../store/uploads/queued-uploads.ts';
import type { RunningWorker } from '../../../worker/main.ts';
import { queuedIngestId } from '../../../workflows/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { stateOf } from '../../support/graph.ts';
import { writePendingRow } from '../../support/pending-row.ts';
import { testWorkflows } from '../../support/workflows.ts';
import { drained, publishedOf, queuedCount, queuedGraph, setQueued } from './queued-world.ts';
import { uploadWorld } from './support.ts';

const world = await uploadWorld();
const temporal = await testWorkflows(world.platform.environment);
const { database } = world;
const { objects } = world.api.composed.services;

const named = (identifier: string) => ({ 'x-platform-output-identifier': identifier });
const bytesOf = async (outputId: number, headers: Record<string, string> = {}) =>
  (await world.send('GET', `/api/v2/node-instance/outputs/${outputId}/data`, headers)).bytes;

describe('before the queue is drained', () => {
  test('an upload is stored and acknowledged with 202, and the node does not change', async () => {
    const graph = await queuedGraph(database);
    const nodeId = graph.nodes.input!;
    const answer = await world.upload(nodeId, Buffer.from('a,b\n1,2\n'), { 'content-type': 'text/csv' });
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual({
      status: 'queued',
      projectId: graph.projectId,
      sessionId: graph.sessionId,
      nodeInstanceId: nodeId,
      stream: 'node-ingest',
      subject: `projects.${graph.projectId}.ingest`,
    });
    expect((await world.send('GET', `/api/v2/node-instance/${nodeId}/outputs`)).status).toBe(404);
    expect(await stateOf(database, graph, 'input')).toBe(nodeStateCodes.NeverBegan);
    expect(await stateOf(database, graph, 'child')).toBe(nodeStateCodes.NeverBegan);
  });

  test('is refused like a direct one', async () => {
    const graph = await queuedGraph(database);
    const nodeId = graph.nodes.input!;
    const before = await queuedCount(database);
    const statuses = [
      (await world.upload(999_999, Buffer.from('x'))).status,
      (await world.upload(nodeId, Buffer.from('x'), named('not valid'))).status,
      (await world.upload(nodeId, Buffer.from('x'), { 'content-md5': Buffer.alloc(16).toString('base64') }))
        .status,
    ];
    await database.query('update session set frozen_at = now() where id = $1', [graph.sessionId]);
    const frozen = await world.upload(nodeId, Buffer.from('x'));
    expect([...statuses, frozen.status]).toEqual([404, 400, 400, 400]);
    expect(frozen.json()).toEqual({ status: 'error', message: 'Session is frozen.' });
    expect(await queuedCount(database)).toBe(before);
  });

  test('is deleted with its session, its object too', async () => {
    const graph = await queuedGraph(database);
    await world.upload(graph.nodes.input!, Buffer.from('x'));
    const [queued] = await database.query<{ objectKey: string }>(
      'select object_key from queued_upload where session_id = $1',
      [graph.sessionId],
    );
    expect(await deleteSession(database, graph.sessionId)).toBe(true);
    const left = await database.query('select 1 from queued_upload where session_id = $1', [graph.sessionId]);
    expect(left).toEqual([]);
    const deletions = await database.query('select 1 from object_deletion where object_key = $1', [
      queued!.objectKey,
    ]);
    expect(deletions).toHaveLength(1);
  });

  test('queued uploads are published in order before a direct upload, after queueing is switched off', async () => {
    const graph = await queuedGraph(database);
    const nodeId = graph.nodes.input!;
    // More than are published in one transaction.
    const count = 130;
    for (let index = 0; index < count; index++) {
      const answer = await world.upload(nodeId, Buffer.from(`${index}`), named(`q${index}`));
      expect(answer.status).toBe(202);
    }
    await setQueued(database, graph, false);
    expect((await world.upload(nodeId, Buffer.from('direct'), named('direct'))).status).toBe(201);
    const published = await publishedOf(database, nodeId);
    expect(published.map(({ identifier }) => identifier)).toEqual([
      ...Array.from({ length: count }, (_, index) => `q${index}`),
      'direct',
    ]);
    expect(await stateOf(database, graph, 'child')).toBe(nodeStateCodes.Pending);
  });
});

describe('the ingest workflow', () => {
  const workers: RunningWorker[] = [];

  test('packs small uploads of one session into one object and publishes all in order, byte for byte', async () => {
    const graph = await queuedGraph(database);
    const nodeId = graph.nodes.input!;
    const payloads = new Map<string, Buffer>();
    for (let index = 0; index < 30; index++)
      payloads.set(`small-${index}`, Buffer.from(`row ${index}\n`.repeat(index)));
    payloads.set('large', Buffer.alloc(1024 * 1024 + 1, 'x'));
    payloads.set('edge', Buffer.alloc(1024 * 1024, 'y'));
    for (const [identifier, bytes] of payloads) {
      const headers = { ...named(identifier), 'x-platform-output-metadata': `{"of":"${identifier}"}` };
      expect((await world.upload(nodeId, bytes, headers)).status).toBe(202);
    }
    const other = (await queuedGraph(database)).nodes.input!;
    for (const name of ['one', 'two', 'six']) await world.upload(other, Buffer.from(name), named(name));
    const [lost] = await database.query<{ objectKey: string }>(
      `select object_key from queued_upload where node_instance_id = $1 and output_identifier = 'two'`,
      [other],
    );
    const changed = { Bucket: world.platform.s3.bucket, Key: lost!.objectKey, Body: 'TWO' };
    await world.client.send(new PutObjectCommand(changed));
    const worker = await temporal.startWorker('workflows');
    await drained(database);
    // Beside bytes that are not what was acknowledged nothing is packed.
    const [one, ...rest] = await publishedOf(database, other);
    expect([one, ...rest].map((output) => output?.objectOffset)).toEqual([null, null, null]);
    expect((await bytesOf(one!.id)).toString()).toBe('one');
    const published = await publishedOf(database, nodeId);
    expect(published.map(({ identifier }) => identifier)).toEqual([...payloads.keys()]);
    for (const output of published) {
      const bytes = payloads.get(output.identifier)!;
      expect((await bytesOf(output.id)).equals(bytes)).toBe(true);
      expect(output.sizeBytes).toBe(bytes.length);
      if (bytes.length > 5) {
        const part = await bytesOf(output.id, { range: 'bytes=2-4' });
        expect(part.toString()).toBe(bytes.subarray(2, 5).toString());
      }
    }
    const packed = published.filter(({ identifier }) => identifier !== 'large');
    expect(new Set(packed.map(({ objectKey }) => objectKey)).size).toBe(1);
    expect(packed[0]!.objectKey).toMatch(/^bundles\//);
    expect(published.find(({ identifier }) => identifier === 'large')!.objectOffset).toBeNull();
    const latest = await world.send('GET', `/api/v2/node-instance/${nodeId}/outputs/latest/data`);
    expect(latest.bytes.equals(payloads.get('edge')!)).toBe(true);
    expect(await stateOf(database, graph, 'input')).toBe(nodeStateCodes.Succeeded);
    expect(await stateOf(database, graph, 'child')).toBe(nodeStateCodes.Pending);
    await worker.stop();
  });

  test('keeps each sender’s order under concurrency, publishes each upload once, and ends', async () => {
    workers.push(await temporal.startWorker('workflows'));
    const graph = await queuedGraph(database, [
      { name: 'left', parents: [] },
      { name: 'right', parents: [] },
    ]);
    const senders = 6;
    const each = 25;
    await Promise.all(
      Array.from({ length: senders }, async (_, sender) => {
        const nodeId = sender % 2 === 0 ? graph.nodes.left! : graph.nodes.right!;
        for (let index = 0; index < each; index++) {
          const answer = await world.upload(
            nodeId,
            Buffer.from(`${sender}/${index}`),
            named(`${sender}.${index}`),
          );
          expect(answer.status).toBe(202);
        }
      }),
    );
    await drained(database);
    const all = [
      ...(await publishedOf(database, graph.nodes.left!)),
      ...(await publishedOf(database, graph.nodes.right!)),
    ];
    expect(all).toHaveLength(senders * each);
    for (let sender = 0; sender < senders; sender++) {
      const own = all.filter(({ identifier }) => identifier.startsWith(`${sender}.`));
      expect(own.map(({ identifier }) => identifier)).toEqual(
        Array.from({ length: each }, (_, index) => `${sender}.${index}`),
      );
    }
    for (const { id, identifier } of all)
      expect((await bytesOf(id)).toString()).toBe(identifier.replace('.', '/'));
    const handle = temporal.operator.workflow.getHandle(
      queuedIngestId(graph.projectId, world.platform.taskQueue),
    );
    await eventually('the workflow ends', async () => (await handle.describe()).status.name === 'COMPLETED');
  });

  test('gives a repeated identifier its newest bytes under one id', async () => {
    const graph = await queuedGraph(database);
    const nodeId = graph.nodes.input!;
    for (const text of ['one', 'two', 'three'])
      expect((await world.upload(nodeId, Buffer.from(text), named('same'))).status).toBe(202);
    await drained(database);
    const [output, ...others] = await publishedOf(database, nodeId);
    expect(others).toEqual([]);
    expect((await bytesOf(output!.id)).toString()).toBe('three');
  });

  test('publishes uploads acknowledged before a freeze; runs wait', async () => {
    const graph = await queuedGraph(database);
    // No notification is sent, so that the freeze comes first.
    const { nodeInstanceId, ...object } = await storedObject(graph.nodes.input!);
    expect(await queueUpload(database, { nodeInstanceId, ...object })).toMatchObject({ outcome: 'queued' });
    await database.query('update session set frozen_at = now() where id = $1', [graph.sessionId]);
    await drained(database);
    expect(await publishedOf(database, graph.nodes.input!)).toHaveLength(1);
    expect(await stateOf(database, graph, 'child')).toBe(nodeStateCodes.Pending);
    const claimable = () =>
      database.query(`select 1 from node_run where session_id = $1 and state = 'queued' and not frozen`, [
        graph.sessionId,
      ]);
    expect(await claimable()).toEqual([]);
    await unfreezeSession(database, graph.sessionId);
    expect(await claimable()).toHaveLength(1);
  });

  test('never lets one upload pass another, while queueing is switched on and off', async () => {
    const graph = await queuedGraph(database);
    const nodeId = graph.nodes.input!;
    const names = Array.from({ length: 60 }, (_, index) => `n${index}`);
    const statuses = new Set<number>();
    for (const [index, name] of names.entries()) {
      await setQueued(database, graph, index % 7 < 4);
      statuses.add((await world.upload(nodeId, Buffer.from(name), named(name))).status);
    }
    expect([...statuses].sort()).toEqual([201, 202]);
    await drained(database);
    const published = await publishedOf(database, nodeId);
    expect(published.map(({ identifier }) => identifier)).toEqual(names);
  });

  test('continues after an operator ended it', async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    const graph = await queuedGraph(database);
    expect((await world.upload(graph.nodes.input!, Buffer.from('x'))).status).toBe(202);
    const handle = temporal.operator.workflow.getHandle(
      queuedIngestId(graph.projectId, world.platform.taskQueue),
    );
    await eventually('the workflow', async () => (await handle.describe()).status.name === 'RUNNING');
    await handle.terminate('by an operator');
    await temporal.startWorker('workflows');
    await drained(database);
    expect(await publishedOf(database, graph.nodes.input!)).toHaveLength(1);
  });

  test('leaves no unreferenced object in storage', async () => {
    await drained(database);
    await sweepSupersededOutputs(database, { olderThanSeconds: 0 });
    for (;;) {
      const swept = await sweepAbandonedObjects(database, objects, { olderThanSeconds: 0 });
      expect(swept.failed).toBe(0);
      if (swept.abandoned + swept.deleted === 0) break;
    }
    const stored: string[] = [];
    for (let token: string | undefined; ; ) {
      const page = await world.client.send(
        new ListObjectsV2Command({ Bucket: world.platform.s3.bucket, ContinuationToken: token }),
      );
      stored.push(...(page.Contents ?? []).map(({ Key }) => Key!));
      token = page.NextContinuationToken;
      if (token === undefined) break;
    }
    const referred = await database.query<{ key: string }>(
      'select object_key as key from node_output union select object_key from node_output_superseded',
    );
    expect(stored.sort()).toEqual(referred.map(({ key }) => key).sort());
  });
});

/** An object in storage with its pending row, as an upload leaves it. */
async function storedObject(nodeInstanceId: number) {
  const dataSource = (await findDataSourceByName(database, 'platform'))!;
  const objectKey = newOutputKey();
  await writePendingRow(database, objectKey, dataSource.id);
  const stored = await objects
    .of(dataSource)
    .put(objectKey, Readable.from([Buffer.from('bytes')]), { signal: AbortSignal.timeout(100_000) });
  return {
    ...stored,
    nodeInstanceId,
    dataSourceId: dataSource.id,
    objectKey,
    outputIdentifier: null,
    contentType: null,
    contentEncoding: null,
    metadata: null,
  };
}
