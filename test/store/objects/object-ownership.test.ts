import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { Database, type Queryable } from '../../../store/connection/database.ts';
import {
  type DataSourceRow,
  ensurePlatformDataSource,
  findDataSourceByName,
} from '../../../store/objects/data-sources.ts';
import { PendingObjects } from '../../../store/objects/held-objects.ts';
import { newOutputKey, objectSettings } from '../../../store/objects/object-store.ts';
import { ObjectStores } from '../../../store/objects/object-stores.ts';
import { PendingObjectGone, sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import type { UploadedObject } from '../../../store/outputs/outputs.ts';
import { sweepSupersededOutputs } from '../../../store/outputs/versions.ts';
import { changeSession } from '../../../store/runs/change-session.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { publishUpload, publishUploadWithin } from '../../../store/uploads/publish-upload.ts';
import { eventually, statementsWait } from '../../support/eventually.ts';
import { chain, type Graph, makeGraph } from '../../support/graph.ts';
import { writePendingRow } from '../../support/pending-row.ts';
import { testEnvironment } from '../../support/stack.ts';

const platform = await testEnvironment();
const stores = new ObjectStores(objectSettings.parse(platform.environment));
let database: Database;
let pending: PendingObjects;
let source: DataSourceRow;
beforeAll(async () => {
  database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 6 });
  pending = new PendingObjects(database, stores);
  await ensurePlatformDataSource(database, stores.platformAccess);
  source = (await findDataSourceByName(database, 'platform'))!;
});
afterAll(async () => {
  stores.close();
  await database.close();
});

/** Bytes in the store that wait to be published. */
async function stored(graph: Graph, text: string): Promise<UploadedObject> {
  const objectKey = newOutputKey();
  await writePendingRow(database, objectKey, source.id);
  const put = await stores.of(source).put(objectKey, Readable.from([Buffer.from(text)]), {
    signal: AbortSignal.timeout(100_000),
  });
  const said = { outputIdentifier: 'run', contentType: null, contentEncoding: null, metadata: null };
  return { ...said, ...put, objectKey, dataSourceId: source.id, nodeInstanceId: graph.nodes.input! };
}

/** The end of work that does not use its object. */
const discard = (objectKey: string) =>
  pending.hold(
    { objectKey, dataSource: source, hasRow: true },
    async () => undefined,
    () => false,
  );

const textOf = async (objectKey: string) =>
  String(await buffer((await stores.of(source).get(objectKey)).stream));

/** A publishing transaction whose caller has lost it: it continues in the server until the test lets it commit. */
function publishing(upload: UploadedObject, nodeId: number) {
  let letGo = () => {};
  let hasPublished = false;
  const end = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const done = changeSession(database, { nodeInstanceId: nodeId }, async (tx, session) => {
    const result = await publishUploadWithin(tx, session, upload);
    // Every statement has been answered.
    await tx.query('select 1');
    hasPublished = true;
    await end;
    return result;
  });
  return { done, letGo, published: async () => hasPublished };
}

test('a disconnected caller discards no object that its transaction still publishes', async () => {
  const graph = await makeGraph(database, chain(1));
  const upload = await stored(graph, 'kept');
  const { done, letGo, published } = publishing(upload, graph.nodes.input!);
  await eventually('all is written but the commit', published);
  const discarded = discard(upload.objectKey);
  await statementsWait(database);
  letGo();
  await Promise.all([done, discarded]);
  await sweepAbandonedObjects(database, stores, { olderThanSeconds: 0 });
  expect(await textOf(upload.objectKey)).toBe('kept');
});

test('a discarded object cannot be published', async () => {
  const graph = await makeGraph(database, chain(1));
  const upload = await stored(graph, 'discarded');
  await discard(upload.objectKey);
  await expect(publishUpload(database, upload)).rejects.toThrow(PendingObjectGone);
  expect(await database.query('select 1 from node_output where object_key = $1', [upload.objectKey])).toEqual(
    [],
  );
});

test('work that fails leaves no object, or leaves it to the sweeper when its store is away', async () => {
  const held = async (isLeft: boolean) => {
    const objectKey = newOutputKey();
    const fail = async () => Promise.reject(new Error('broken'));
    const work = pending.hold(
      { objectKey, dataSource: source },
      fail,
      () => true,
      () => isLeft,
    );
    await expect(work).rejects.toThrow('broken');
    return await database.query('select 1 from pending_object where object_key = $1', [objectKey]);
  };
  expect(await held(false)).toHaveLength(0);
  expect(await held(true)).toHaveLength(1);
});

test('nothing refers again to an object that a sweep has found unreferred and is about to delete', async () => {
  const graph = await makeGraph(database, chain(1));
  const nodeId = graph.nodes.input!;
  const old = await stored(graph, 'old');
  await publishUpload(database, old);
  await requestReprocess(database, nodeId);
  const newer = await stored(graph, 'newer');
  await publishUpload(database, newer);
  // The copy that the reprocess made is the last that refers to the old bytes.
  await sweepSupersededOutputs(database, { olderThanSeconds: 0 });
  await sweepAbandonedObjects(database, stores, { olderThanSeconds: 3_600 });
  expect(await textOf(old.objectKey)).toBe('old');
  await database.query('delete from node_output where object_key = $1', [old.objectKey]);
  await database.query('insert into object_deletion (data_source_id, object_key) values ($1, $2)', [
    source.id,
    old.objectKey,
  ]);
  let hasChecked = false;
  // Between the check and the deletion: every way in which rows come to refer to objects.
  const between: Queryable = {
    async query(statement, parameters) {
      const rows = await database.query(statement, parameters);
      if (statement.includes('is_referred')) {
        hasChecked = true;
        await requestReprocess(database, nodeId);
        await expect(publishUpload(database, old)).rejects.toThrow(PendingObjectGone);
      }
      return rows as never;
    },
  };
  expect(await sweepAbandonedObjects(between, stores, { olderThanSeconds: 3_600 })).toMatchObject({
    deleted: 1,
  });
  expect(hasChecked).toBe(true);
  const rows = await database.query<{ objectKey: string }>(
    'select object_key from node_output where node_instance_id = $1',
    [nodeId],
  );
  expect(rows.map(({ objectKey }) => objectKey)).toEqual([newer.objectKey, newer.objectKey]);
  expect(await textOf(newer.objectKey)).toBe('newer');
});

test('an object whose heartbeat comes while the sweeper asks its store is not removed', async () => {
  const objectKey = newOutputKey();
  await writePendingRow(database, objectKey, source.id);
  const setHeartbeat = (time: string) =>
    database.query(`update pending_object set heartbeat_at = ${time} where object_key = $1`, [objectKey]);
  await setHeartbeat(`clock_timestamp() - interval '2 hours'`);
  const abortUploads = async (key: string) => {
    if (key === objectKey) await setHeartbeat('clock_timestamp()');
  };
  const asked = Object.assign(Object.create(stores), { of: () => ({ abortUploads }) });
  await sweepAbandonedObjects(database, asked, { olderThanSeconds: 3_600, keptHours: 1 });
  const rows = await database.query('select 1 from pending_object where object_key = $1', [objectKey]);
  expect(rows).toHaveLength(1);
});

test('an object has heartbeats for as long as its bytes come', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const objectKey = newOutputKey();
  const isOld = async () => {
    const rows = await database.query(
      `select 1 from pending_object where object_key = $1 and heartbeat_at < clock_timestamp() - interval '1 hour'`,
      [objectKey],
    );
    return rows.length > 0;
  };
  const writing = async () => {
    await database.query(
      `update pending_object set heartbeat_at = clock_timestamp() - interval '2 hours' where object_key = $1`,
      [objectKey],
    );
    vi.advanceTimersByTime(10_000);
    await eventually('it has a heartbeat', async () => !(await isOld()));
  };
  await pending.hold({ objectKey, dataSource: source }, writing, () => false);
  expect(vi.getTimerCount()).toBe(0);
});
