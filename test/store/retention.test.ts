import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteExpiredSession, listExpiredSessions } from '../../store/administration/retention.ts';
import { acquireRetentionRun, requestRetentionRun } from '../../store/administration/retention-runs.ts';
import type { Database } from '../../store/connection/database.ts';
import { newId } from '../../store/connection/ids.ts';
import { ensurePlatformDataSource, findDataSourceByName } from '../../store/objects/data-sources.ts';
import { newOutputKey } from '../../store/objects/object-store.ts';
import { findOrphans } from '../../store/objects/orphans.ts';
import { sweepAbandonedObjects } from '../../store/objects/pending-objects.ts';
import { publishUpload } from '../../store/outputs/publish.ts';
import { requestReprocess } from '../../store/runs/reprocess.ts';
import { retainOnce } from '../../worker/retention.ts';
import { ask, makePeople, type People, startTestApi, type TestApi } from '../support/api.ts';
import { s3Client } from '../support/bucket.ts';
import { type Graph, type GraphNode, makeGraph } from '../support/graph.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const bucket = s3Client(platform.environment);
const log = pino({ level: 'silent' });
const retention = '/api/v2/admin/retention';
let api: TestApi;
let people: People;
let database: Database;

beforeAll(async () => {
  api = await startTestApi(platform.environment);
  database = api.composed.services.database;
  await ensurePlatformDataSource(database, api.composed.services.objects.platformAccess);
  people = await makePeople(api.url, platform.administrator);
});
afterAll(async () => {
  bucket.destroy();
  await api.stop();
});

const input: GraphNode = { name: 'in', parents: [] };
const pair = [input, { name: 'next', parents: ['in'] }];

/** A session of a project with a retention of five days, with this many uploads whose bytes are in the bucket. */
async function newSession(uploads = 1, nodes: readonly GraphNode[] = [input]): Promise<Graph> {
  const graph = await makeGraph(database, nodes);
  await database.query('update project set retention_days = 5 where id = $1', [graph.projectId]);
  await database.query(
    `update node_instance set configuration = '{"dataSourceName":"platform"}' where session_id = $1`,
    [graph.sessionId],
  );
  for (let count = 0; count < uploads; count++) await upload(graph);
  return graph;
}

async function upload(graph: Graph, identifier: string | null = null) {
  const { objects, pending } = api.composed.services;
  const source = (await findDataSourceByName(database, 'platform'))!;
  const objectKey = newOutputKey();
  await pending.begin(objectKey, source.id, graph.nodes.in);
  const stored = await objects.of(source).put(objectKey, Readable.from([Buffer.from('a,b\n1,2\n')]), {
    maxBytes: 100,
    withMd5: false,
    signal: new AbortController().signal,
  });
  const result = await publishUpload(database, {
    nodeInstanceId: graph.nodes.in!,
    dataSourceId: source.id,
    objectKey,
    outputIdentifier: identifier,
    contentType: 'text/csv',
    contentEncoding: null,
    sizeBytes: stored.sizeBytes,
    sha256: stored.sha256,
    etag: stored.etag,
    metadata: null,
  });
  pending.release(objectKey);
  return { objectKey, result };
}

/** As if all of it had happened ten days ago. */
async function age({ sessionId }: Graph): Promise<void> {
  const nodes = '(select id from node_instance where session_id = $1)';
  await database.query(`update session set created_at = created_at - interval '10 days' where id = $1`, [
    sessionId,
  ]);
  await database.query(
    `update node_output set created_at = created_at - interval '10 days' where node_instance_id in ${nodes}`,
    [sessionId],
  );
  await database.query(
    `update node_run set created_at = created_at - interval '10 days' where node_instance_id in ${nodes}`,
    [sessionId],
  );
}

const ask200 = async (path: string) => {
  const answer = await ask(api.url, 'GET', path, { token: people.adminToken });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};
const options = { everyHours: 0, removesOrphans: false, signal: new AbortController().signal };
async function runNow(change: Partial<typeof options> = {}) {
  const asked = await ask(api.url, 'POST', retention, { token: people.adminToken });
  expect(asked.status).toBe(202);
  await retainOnce(database, api.composed.services.objects, log, { ...options, ...change });
  const [run] = (await ask200(retention)).runs;
  expect(run).toMatchObject({
    id: asked.body.id,
    requestedBy: expect.any(String),
    endedAt: expect.any(String),
  });
  return run;
}
const sweep = async () => {
  const { objects } = api.composed.services;
  for (let deleted = 1; deleted > 0; )
    ({ deleted } = await sweepAbandonedObjects(database, objects, { olderThanSeconds: 3_600 }));
};
async function keysInBucket(): Promise<Set<string>> {
  const { Contents = [] } = await bucket.send(new ListObjectsV2Command({ Bucket: platform.s3.bucket }));
  return new Set(Contents.map(({ Key }) => Key ?? ''));
}
const exists = async (graph: Graph) =>
  (await database.query('select 1 from session where id = $1', [graph.sessionId])).length > 0;

describe('sessions', () => {
  test('are deleted when they are inactive for the retention time, and the dry run names exactly those', async () => {
    const stays: Record<string, Graph> = {};
    const make = async (name: string, change: (graph: Graph) => Promise<unknown>, nodes = pair) => {
      const graph = await newSession(1, nodes);
      await age(graph);
      await change(graph);
      stays[name] = graph;
    };
    const set = (what: string) => (graph: Graph) =>
      database.query(`update session set ${what} where id = $1`, [graph.sessionId]);
    await make('frozen', set('frozen_at = now()'));
    await make('made lately', set('created_at = now()'));
    await make('closed lately', set('closed_at = now()'));
    await make('fed lately', (graph) => upload(graph));
    await make('of a project that keeps everything', (graph) =>
      database.query('update project set retention_days = null where id = $1', [graph.projectId]),
    );
    await make('worked on', (graph) =>
      database.query(`update node_run set state = 'held' where node_instance_id = $1`, [graph.nodes.next]),
    );
    await make('about to be fed', (graph) =>
      api.composed.services.pending.begin(newOutputKey(), graph.dataSourceId, graph.nodes.in),
    );
    await make('fed from a queue', (graph) =>
      database.query(
        `insert into queued_upload (project_id, session_id, node_instance_id, data_source_id, object_key, size_bytes, etag)
         values ($1, $2, $3, $4, 'outputs/queued', 1, 'x')`,
        [graph.projectId, graph.sessionId, graph.nodes.in, graph.dataSourceId],
      ),
    );
    await make('behind a system dashboard', (graph) =>
      database.query(
        `with s as (insert into static_definition (code, title, section_code, section_title, scope_kind)
                    values ('kept', 'Kept', 'x', 'X', 0) returning id)
         insert into static_instance (static_id, session_id) select id, $1 from s`,
        [graph.sessionId],
      ),
    );
    // Its run has been unclaimed for longer than the project's retention.
    const goes = [await newSession(2, pair), await newSession(0)];
    for (const graph of goes) await age(graph);
    const before = await keysInBucket();
    const preview = await ask200(retention);
    const named = preview.sessions.items.map((item: { sessionId: string }) => item.sessionId).sort();
    expect(named).toEqual(goes.map(({ sessionId }) => sessionId).sort());
    expect(preview).toMatchObject({ sessions: { count: 2, outputs: 2, bytes: 16 }, complete: true });
    expect(await exists(goes[0]!)).toBe(true);
    const run = await runNow();
    expect(run).toMatchObject({ sessions: 2, outputs: 2, bytes: 16, error: null });
    for (const graph of goes) expect(await exists(graph)).toBe(false);
    for (const [name, graph] of Object.entries(stays)) expect(await exists(graph), name).toBe(true);
    expect((await ask200(retention)).sessions.count).toBe(0);
    // Bytes go after their rows, and no others.
    expect(await keysInBucket()).toEqual(before);
    const { objects } = api.composed.services;
    const kept = await sweepAbandonedObjects(database, objects, { olderThanSeconds: 3_600, keptHours: 1 });
    expect(kept.deleted).toBe(0);
    await sweep();
    expect(before.size - (await keysInBucket()).size).toBe(2);
    const { entries } = await ask200(`/api/v2/admin/audit?sessionId=${goes[0]!.sessionId}`);
    expect(entries[0]).toMatchObject({
      action: 'retentionDeletedSession',
      actor: { kind: 'platform', id: null },
    });
  });

  test('that are fed or reprocessed during their deletion stay whole, or the caller is refused', async () => {
    for (let round = 0; round < 12; round++) {
      const graph = await newSession(1, pair);
      await database.query(
        `update node_run set state = 'done', outcome = 'completed' where node_instance_id = $1`,
        [graph.nodes.next],
      );
      await age(graph);
      const send = fetch(`${api.url}/api/v2/node-instance/${graph.nodes.in}/outputs/data`, {
        method: 'POST',
        headers: { authorization: `Bearer ${people.adminToken}`, 'content-type': 'text/csv' },
        body: 'a\n1\n',
      });
      const { run } = await requestRetentionRun(database, null);
      const [sent, , reprocessed] = await Promise.all([
        send,
        // A little later from round to round, so that they meet in different places.
        new Promise((resolve) => setTimeout(resolve, round * 2)).then(() =>
          deleteExpiredSession(database, run.id, graph.sessionId),
        ),
        requestReprocess(database, graph.nodes.next!).catch((error: unknown) => error),
      ]);
      const isThere = await exists(graph);
      const rows = await database.query<{ key: string }>(
        'select object_key as key from node_output where node_instance_id = $1',
        [graph.nodes.in],
      );
      expect([201, 404], await sent.text()).toContain(sent.status);
      if (sent.status === 201) {
        expect(isThere).toBe(true);
        expect(rows).toHaveLength(2);
      } else {
        expect(isThere).toBe(false);
      }
      expect(reprocessed).not.toBeInstanceOf(Error);
      await sweep();
      const keys = await keysInBucket();
      for (const { key } of rows) expect(keys).toContain(key);
      await database.query('update retention_run set ended_at = now() where id = $1', [run.id]);
    }
  });
});

describe('outputs of kept sessions', () => {
  test('are deleted when they are old, read by all, and not the newest; dashboards no longer list them', async () => {
    const graph = await newSession(3, pair);
    const replaced = await upload(graph, 'lap');
    await upload(graph, 'lap');
    const outputs = await database.query<{ id: number; identifier: string }>(
      'select id, output_identifier as identifier from node_output where node_instance_id = $1 order by position',
      [graph.nodes.in],
    );
    const [first, second] = outputs as unknown as [{ id: number }, { id: number }];
    await database.query(
      `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version, sources, layout)
       values ($1, $2, 'd', 'd', 'next', $3::jsonb, $4::jsonb)`,
      [
        graph.sessionId,
        graph.nodes.next,
        JSON.stringify([{ outputId: first.id }, { outputId: outputs.at(-1)!.id }]),
        JSON.stringify({
          version: 1,
          panels: [
            { title: 't', group: 'g', unit: null, channels: [`${first.id}:a`, `${outputs.at(-1)!.id}:a`] },
          ],
        }),
      ],
    );
    await age(graph);
    // Its dashboard was read today, so the session stays.
    await database.query('update session set closed_at = now() where id = $1', [graph.sessionId]);
    expect((await ask200(retention)).outputs.count, 'a run still has to read them').toBe(0);
    await database.query(
      `update node_run set state = 'done', outcome = 'completed' where node_instance_id = $1`,
      [graph.nodes.next],
    );
    await database.query(
      `update node_instance set consumed_position = (select position from node_output where id = $2) where id = $1`,
      [graph.nodes.next, second.id],
    );
    expect((await ask200(retention)).outputs, 'one has not been read').toMatchObject({
      count: 2,
      sessions: 1,
    });
    await database.query('update node_instance set consumed_position = 1000 where id = $1', [
      graph.nodes.next,
    ]);
    expect(await runNow()).toMatchObject({ sessions: 0, outputs: 3 });
    const left = await database.query<{ id: number }>(
      'select id from node_output where node_instance_id = $1',
      [graph.nodes.in],
    );
    expect(left).toEqual([{ id: outputs.at(-1)!.id }]);
    const [dimension] = await database.query<{
      sources: unknown;
      layout: { panels: { channels: string[] }[] };
    }>('select sources, layout from dimension where session_id = $1', [graph.sessionId]);
    expect(dimension!.sources).toEqual([{ outputId: outputs.at(-1)!.id }]);
    expect(dimension!.layout.panels[0]!.channels).toEqual([`${outputs.at(-1)!.id}:a`]);
    await sweep();
    // Another sweeper removes earlier versions of outputs that stay.
    expect(await keysInBucket()).toContain(replaced.objectKey);
  });
});

test('objects without a row are deleted, unless they are young, in transfer, or foreign', async () => {
  const graph = await newSession(1);
  const [known] = await database.query<{ key: string }>(
    'select object_key as key from node_output where node_instance_id = $1',
    [graph.nodes.in],
  );
  const [orphan, onItsWay, foreign] = [newOutputKey(), newOutputKey(), 'outputs/notes.txt'];
  for (const Key of [orphan, onItsWay, foreign, `elsewhere/${newId()}`])
    await bucket.send(new PutObjectCommand({ Bucket: platform.s3.bucket, Key, Body: 'four' }));
  await api.composed.services.pending.begin(onItsWay, graph.dataSourceId);
  const { objects } = api.composed.services;
  const look = (olderThanSeconds: number) =>
    findOrphans(database, objects, { after: null, olderThanSeconds, remove: null });
  expect(await look(86_400)).toEqual({ orphans: 0, bytes: 0, next: null });
  expect((await ask200(`${retention}?orphans=true`)).orphans).toEqual({ count: 0, bytes: 0 });
  // The clock of the store may be a little ahead.
  expect(await look(-60)).toEqual({ orphans: 1, bytes: 4, next: null });
  const { run } = await requestRetentionRun(database, null);
  const remove = { runId: run.id };
  expect(await findOrphans(database, objects, { after: null, olderThanSeconds: -60, remove })).toMatchObject({
    orphans: 1,
  });
  expect(await look(-60)).toMatchObject({ orphans: 0 });
  await sweep();
  const keys = await keysInBucket();
  expect(keys).not.toContain(orphan);
  for (const key of [known!.key, onItsWay, foreign]) expect(keys).toContain(key);
  const { Body } = await bucket.send(new GetObjectCommand({ Bucket: platform.s3.bucket, Key: known!.key }));
  expect(await Body?.transformToString()).toBe('a,b\n1,2\n');
  await database.query('update retention_run set ended_at = now() where id = $1', [run.id]);
});

test('a run is requested once, scheduled once a day, and resumed after its worker died', async () => {
  const post = () => ask(api.url, 'POST', retention, { token: people.adminToken });
  const [one, other] = await Promise.all([post(), post()]);
  expect([one.status, other.status].sort()).toEqual([200, 202]);
  expect(other.body.id).toBe(one.body.id);
  // A worker claims it and dies.
  const taken = await acquireRetentionRun(database, 0);
  expect(taken?.id).toBe(one.body.id);
  const graph = await newSession(1);
  await age(graph);
  await retainOnce(database, api.composed.services.objects, log, options);
  expect(await exists(graph)).toBe(false);
  expect(await acquireRetentionRun(database, 0)).toBeUndefined();
  expect(await acquireRetentionRun(database, 24)).toBeUndefined();
  await database.query(`update retention_run set requested_at = requested_at - interval '25 hours'`);
  const daily = await acquireRetentionRun(database, 24);
  expect(daily).toMatchObject({ requestedBy: null, sessions: 0 });
  await database.query(`update retention_run set ended_at = now() where ended_at is null`);
  expect(await listExpiredSessions(database, randomUUID(), 10)).toEqual([]);
});
