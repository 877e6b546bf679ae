import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { Database } from '../../../store/connection/database.ts';
import { ensurePlatformDataSource } from '../../../store/objects/data-sources.ts';
import { beginMultipart } from '../../../store/objects/multipart.ts';
import { newOutputKey, objectSettings } from '../../../store/objects/object-store.ts';
import { ObjectStores } from '../../../store/objects/object-stores.ts';
import { sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import type { RunnerIdentity } from '../../../store/runners/holder.ts';
import { sweepTaskUploads } from '../../../store/runs/sweep-task-uploads.ts';
import {
  abandonTaskUpload,
  beginTaskUpload,
  findTaskUpload,
  finishTaskUpload,
  nameTaskUpload,
  savePart,
} from '../../../store/runs/task-uploads.ts';
import { chain, claim, makeGraph, upload } from '../../support/graph.ts';
import { testEnvironment } from '../../support/stack.ts';
import { allRows, bucketContents } from '../../support/task-uploads.ts';

const platform = await testEnvironment();
const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 4 });
const stores = new ObjectStores(objectSettings.parse(platform.environment));
afterAll(async () => {
  stores.close();
  await database.close();
});
const platformSource = await ensurePlatformDataSource(database, stores.platformAccess);

async function held() {
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const identity: RunnerIdentity = { holder: 'user:x', instanceId: randomUUID() };
  const task = (await claim(database, identity))!;
  const newUpload = (fields: { readonly dataSourceId?: number } = {}) => ({
    handle: randomUUID(),
    dataSourceId: platformSource.id,
    objectKey: newOutputKey(),
    outputIdentifier: null,
    contentType: null,
    contentEncoding: null,
    metadata: null,
    watermarkInputId: null,
    ...fields,
  });
  return { caller: { ...identity, taskId: task.taskId }, newUpload };
}

const part = { number: 1, sizeBytes: 1, sha256: 'x', etag: '"x"' };

describe('between a check of the task and a write', () => {
  test('the lease may end: every write repeats the whole condition', async () => {
    const { caller, newUpload } = await held();
    const { handle, ...rest } = newUpload();
    await beginTaskUpload(database, caller, { handle, ...rest }, 60);
    await savePart(database, caller, handle, part);
    await database.query(`update node_claim set lease_until = now() - interval '1 ms' where task_id = $1`, [
      caller.taskId,
    ]);
    const before = await allRows(database);
    const object = { sizeBytes: 1, etag: 'x' };
    expect(await beginTaskUpload(database, caller, newUpload(), 60)).toBe(undefined);
    expect(await savePart(database, caller, handle, part)).toBe(false);
    expect(await abandonTaskUpload(database, caller, handle)).toBe(false);
    expect(await finishTaskUpload(database, caller, { handle, object, watermarkInputId: undefined })).toEqual(
      {
        kind: 'refused',
        why: 'task-not-found',
      },
    );
    expect(await allRows(database)).toBe(before);
  });

  test('the upload may end: nothing is kept of it', async () => {
    const { caller, newUpload } = await held();
    const { handle, ...rest } = newUpload();
    await beginTaskUpload(database, caller, { handle, ...rest }, 60);
    expect(await abandonTaskUpload(database, caller, handle)).toBe(true);
    expect(await savePart(database, caller, handle, part)).toBe(false);
    expect(await nameTaskUpload(database, handle, 'late')).toBe(false);
    const object = { sizeBytes: 1, etag: 'x' };
    expect(await finishTaskUpload(database, caller, { handle, object, watermarkInputId: undefined })).toEqual(
      {
        kind: 'refused',
        why: 'upload-not-found',
      },
    );
  });
});

describe('the sweeper', () => {
  test('finds an unrecorded upload of the store by its key', async () => {
    const { caller, newUpload } = await held();
    const begun = newUpload();
    await beginTaskUpload(database, caller, begun, 0);
    await beginMultipart(stores.of(platformSource).multipart(begun.objectKey));
    expect((await bucketContents(platform)).uploads).toHaveLength(1);
    await sweepTaskUploads(database, stores);
    expect((await bucketContents(platform)).uploads).toEqual([]);
  });

  test('keeps open uploads after any inactivity of their object', async () => {
    const { caller, newUpload } = await held();
    const begun = newUpload();
    await beginTaskUpload(database, caller, begun, 60);
    await database.query(
      `update pending_object set heartbeat_at = now() - interval '2 days' where object_key = $1`,
      [begun.objectKey],
    );
    await sweepTaskUploads(database, stores);
    await sweepAbandonedObjects(database, stores, { olderThanSeconds: 3_600 });
    expect(await findTaskUpload(database, caller.taskId, begun.handle)).toMatchObject({ state: 'open' });
    expect(
      await database.query('select 1 from pending_object where object_key = $1', [begun.objectKey]),
    ).toHaveLength(1);
  });

  test('checks the object again an hour after the upload was removed: a part may have been in transfer', async () => {
    const { caller, newUpload } = await held();
    const begun = newUpload();
    await beginTaskUpload(database, caller, begun, 60);
    await database.query(
      `update pending_object set heartbeat_at = now() - interval '2 days' where object_key = $1`,
      [begun.objectKey],
    );
    await database.query('update node_claim set ended_at = now() where task_id = $1', [caller.taskId]);
    const place = stores.of(platformSource).multipart(begun.objectKey);
    await sweepTaskUploads(database, stores);
    await sweepAbandonedObjects(database, stores, { olderThanSeconds: 3_600 });
    await beginMultipart(place);
    const isPending = async () =>
      (await database.query('select 1 from pending_object where object_key = $1', [begun.objectKey])).length;
    expect(await isPending()).toBe(1);
    await database.query(
      `update pending_object set heartbeat_at = now() - interval '2 hours' where object_key = $1`,
      [begun.objectKey],
    );
    await sweepAbandonedObjects(database, stores, { olderThanSeconds: 3_600 });
    expect(await isPending()).toBe(0);
    expect((await bucketContents(platform)).uploads).toEqual([]);
  });

  test('retries a store that is down later, and is not blocked by it', async () => {
    const { caller, newUpload } = await held();
    const [down] = await database.query<{ id: number }>(
      `insert into data_source (name, endpoint, bucket, access_key_id)
       values ('down', 'http://127.0.0.1:9', 'nothing', 'x') returning id`,
    );
    const lost = newUpload({ dataSourceId: down!.id });
    const near = newUpload();
    for (const begun of [lost, near]) await beginTaskUpload(database, caller, begun, 0);
    await nameTaskUpload(database, lost.handle, 'some-upload');
    expect(await sweepTaskUploads(database, stores)).toBe(1);
    expect(await findTaskUpload(database, caller.taskId, near.handle)).toBe(undefined);
    expect(await findTaskUpload(database, caller.taskId, lost.handle)).toMatchObject({
      storeUploadId: 'some-upload',
    });
    // Not again before its time.
    expect(await sweepTaskUploads(database, stores)).toBe(0);
  });
});
