import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { createIngestActivities } from '../../../activities/ingest.ts';
import type { PendingObjects } from '../../../store/objects/held-objects.ts';
import { publishQueued, queueUploadWithin } from '../../../store/uploads/queued-uploads.ts';
import { activityNames } from '../../../workflows/contract.ts';
import { setQueued } from './queued-world.ts';
import { standingOf, uploadWorld } from './support.ts';

const world = await uploadWorld();
const { database, makeNode, upload, leftovers } = world;
const one = Buffer.from('time,speed\n0,1\n');
const two = Buffer.from('time,speed\n0,2\n');
const base64 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64');
const named = { 'x-platform-output-identifier': 'run-1', 'content-type': 'text/csv' };
const bySha = (bytes: Buffer) => ({ ...named, 'x-amz-checksum-sha256': base64(bytes) });
const standing = (sessionId: string) => standingOf(database, sessionId);

describe('in a queued project', () => {
  async function queuedNode() {
    const graph = await makeNode();
    await setQueued(database, graph, true);
    return graph;
  }
  const queuedOf = (nodeId: number) =>
    database.query<{ id: number; objectKey: string }>(
      'select id, object_key from queued_upload where node_instance_id = $1 order by id',
      [nodeId],
    );
  async function drain(sessionId: string, nodeId: number) {
    const ids = (await queuedOf(nodeId)).map(({ id }) => id);
    return await publishQueued(database, sessionId, ids, new Map(), new Set());
  }

  test.each([named, bySha(one)])(
    'a repeat of a waiting upload is not queued again, and a repeat of a published one is answered',
    async (headers) => {
      const { nodeId, sessionId } = await queuedNode();
      const first = await upload(nodeId, one, headers);
      const again = await upload(nodeId, one, headers);
      expect([first.status, again.status]).toEqual([202, 202]);
      expect(again.json()).toEqual(first.json());
      expect(await queuedOf(nodeId)).toHaveLength(1);
      await drain(sessionId, nodeId);
      const published = await upload(nodeId, one, headers);
      expect([published.status, published.json()]).toMatchObject([200, { outputIdentifier: 'run-1' }]);
      expect(await queuedOf(nodeId)).toHaveLength(0);
    },
  );

  test('a session whose uploads cannot be published holds up no other one, and is tried again', async () => {
    const [stuck, other] = [await queuedNode(), await makeNode()];
    await database.query('update session set project_id = $2 where id = $1', [
      other.sessionId,
      stuck.projectId,
    ]);
    for (const { nodeId } of [stuck, other]) await upload(nodeId, one, named);
    const { objects, pending } = world.api.composed.services;
    let faults = 1;
    const holdSeveral: PendingObjects['holdSeveral'] = async (work) => {
      if (faults-- > 0) throw new Error('The store does not answer.');
      return await pending.holdSeveral(work);
    };
    const services = { database, objects, log: pino({ enabled: false }) };
    const { [activityNames.drainQueue]: drainQueue } = createIngestActivities({
      ...services,
      pending: { holdSeveral } as unknown as PendingObjects,
    });
    const drained = () => new MockActivityEnvironment().run(drainQueue, stuck.projectId);
    await expect(drained()).rejects.toThrow('Uploads of 1 sessions could not be published.');
    expect([await queuedOf(stuck.nodeId), await queuedOf(other.nodeId)]).toMatchObject([[{}], []]);
    // A drain whose time is over says that there is more.
    const now = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(60_000);
    const late = await drained().finally(() => now.mockRestore());
    expect(late).toEqual({ published: 0, more: true });
    expect(await drained()).toEqual({ published: 1, more: false });
    expect(await queuedOf(stuck.nodeId)).toEqual([]);
  });

  test('a resumable repeat of a waiting upload is over, and its bytes go', async () => {
    const { nodeId } = await queuedNode();
    await upload(nodeId, one, named);
    const headers = {
      'tus-resumable': '1.0.0',
      'content-type': 'application/offset+octet-stream',
      'upload-length': `${one.length}`,
      'upload-metadata': `identifier ${btoa('run-1')},contentType ${btoa('text/csv')}`,
    };
    const again = await world.send('POST', `/api/v2/node-instance/${nodeId}/uploads`, headers, one);
    expect(again.status).toBe(201);
    const ended = await database.query(
      `select u.state from resumable_upload u join object_deletion d on d.object_key = u.object_key
        where u.node_instance_id = $1`,
      [nodeId],
    );
    expect(ended).toEqual([{ state: 'done' }]);
    expect(await queuedOf(nodeId)).toHaveLength(1);
  });

  test('an upload behind another version that waits is a change', async () => {
    const { nodeId, sessionId } = await queuedNode();
    await upload(nodeId, one, bySha(one));
    await drain(sessionId, nodeId);
    // The third repeats the one before it; the fourth brings back what stands further ahead in the queue.
    for (const bytes of [two, one, one, two])
      expect((await upload(nodeId, bytes, bySha(bytes))).status).toBe(202);
    expect(await queuedOf(nodeId)).toHaveLength(3);
    await drain(sessionId, nodeId);
    expect((await standing(sessionId))!.newestPosition).toBe(4);
  });

  test('the drain skips a concurrent repeat, and deletes its object', async () => {
    const { nodeId, sessionId } = await queuedNode();
    await upload(nodeId, one, named);
    const [first] = await queuedOf(nodeId);
    // Two callers at once, neither of whom saw the other.
    await database.query(
      `insert into pending_object (object_key, data_source_id)
       select object_key || '-twin', data_source_id from queued_upload where id = $1`,
      [first!.id],
    );
    const [row] = await database.query<Parameters<typeof queueUploadWithin>[1]>(
      `select node_instance_id, data_source_id, object_key || '-twin' as object_key,
              output_identifier, content_type, size_bytes, sha256,
              content_encoding, etag, metadata from queued_upload where id = $1`,
      [first!.id],
    );
    await database.transaction((tx) => queueUploadWithin(tx, row!));
    const bundle = `bundles/${first!.id}`;
    const queued = await queuedOf(nodeId);
    // Packed: each in a bundle, the second of which nothing refers to then.
    const places = new Map(queued.map(({ id }, at) => [id, { objectKey: `${bundle}-${at}`, offset: 0 }]));
    const bundles = [...places.values()].map(({ objectKey }) => objectKey);
    await database.query(
      `insert into pending_object (object_key, data_source_id)
       select key, data_source.id from unnest($1::text[]) as key, data_source where name = 'platform'`,
      [bundles],
    );
    const done = await publishQueued(
      database,
      sessionId,
      queued.map(({ id }) => id),
      places,
      new Set(bundles),
    );
    expect(done).toMatchObject({ published: 2, heldBack: 0, usedBundles: new Set([`${bundle}-0`]) });
    expect((await standing(sessionId))!.newestPosition).toBe(1);
    const deletions = await database.query(
      'select 1 from object_deletion where object_key = any ($1::text[])',
      [queued.map(({ objectKey }) => objectKey)],
    );
    expect(deletions).toHaveLength(2);
    // Uploads in a bundle are recognised by their digest too.
    const packed = { Bucket: world.platform.s3.bucket, Key: `${bundle}-0`, Body: one };
    await world.client.send(new PutObjectCommand(packed));
    const again = await upload(nodeId, one, bySha(one));
    expect([again.status, again.json()]).toMatchObject([200, { dataPath: `${bundle}-0` }]);
    await database.query('delete from pending_object');
    await database.query('delete from object_deletion');
  });

  test('a direct upload publishes the waiting upload, and is a repeat of it', async () => {
    const { nodeId, sessionId, ...graph } = await queuedNode();
    await upload(nodeId, gzipSync(one), { ...named, 'content-encoding': 'gzip' });
    await setQueued(database, { ...graph, sessionId }, false);
    const before = await leftovers();
    const direct = await upload(nodeId, gzipSync(one), { ...named, 'content-encoding': 'gzip' });
    expect(direct.status).toBe(200);
    expect((await standing(sessionId))!.newestPosition).toBe(1);
    expect((await leftovers()).objects).toBe(before.objects);
  });
});
