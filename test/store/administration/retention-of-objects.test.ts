/** Retention of bytes and of outputs in sessions that stay. */
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listExpiredOutputs } from '../../../store/administration/retention.ts';
import { newId } from '../../../store/connection/ids.ts';
import { sourcesWithin } from '../../../store/dashboards/dimension-sources.ts';
import { newObjectKey, newOutputKey, objectKinds } from '../../../store/objects/object-store.ts';
import type { ObjectStores } from '../../../store/objects/object-stores.ts';
import { findOrphans, type OrphanPage } from '../../../store/objects/orphans.ts';
import { ask, startTestApi, tokenOf } from '../../support/api.ts';
import { openDatabase } from '../../support/databases.ts';
import { outsideTemplate } from '../../support/graph.ts';
import { writePendingRow } from '../../support/pending-row.ts';
import { copySession, readBy } from '../../support/rows-read.ts';
import { retentionWorld } from './retention-world.ts';

const {
  platform,
  bucket,
  retention,
  api,
  database,
  pair,
  newSession,
  upload,
  age,
  ask200,
  runNow,
  sweep,
  keysInBucket,
} = await retentionWorld();

const owner = await openDatabase(platform, 2);

describe('outputs of kept sessions', () => {
  test('are deleted when they are old, read by all, and not the newest; dashboards no longer list them', async () => {
    const graph = await newSession(2, pair);
    const earlier = await upload(graph, 'early');
    await upload(graph, 'early', 'a,b\n3,4\n');
    const replaced = await upload(graph, 'lap');
    await upload(graph, 'lap', 'a,b\n3,4\n');
    const session = `/api/v2/sessions/${graph.sessionId}`;
    expect(await ask200(session)).toMatchObject({ outputBytes: 32 });
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
    const setRun = (state: string) =>
      database.query('update node_run set state = $2 where node_instance_id = $1', [graph.nodes.next, state]);
    await setRun('queued');
    expect((await ask200(retention)).outputs.count, 'a reprocess reads them again').toBe(0);
    await setRun('done');
    expect(await runNow()).toMatchObject({ sessions: 0, outputs: 3 });
    const left = await database.query<{ id: number }>(
      'select id from node_output where node_instance_id = $1',
      [graph.nodes.in],
    );
    expect(left).toEqual([{ id: outputs.at(-1)!.id }]);
    const [dimension] = await database.query<{
      id: number;
      layout: { panels: { channels: string[] }[] };
    }>('select id, layout from dimension where session_id = $1', [graph.sessionId]);
    expect(await sourcesWithin(database, dimension!.id)).toEqual([{ outputId: outputs.at(-1)!.id }]);
    expect(dimension!.layout.panels[0]!.channels).toEqual([`${outputs.at(-1)!.id}:a`]);
    expect(await ask200(session)).toMatchObject({ outputBytes: 8 });
    const { entries } = await ask200(`/api/v2/admin/audit?sessionId=${graph.sessionId}`);
    expect(entries[0]).toMatchObject({ action: 'retentionDeletedOutputs', actor: { kind: 'platform' } });
    await sweep();
    const keys = await keysInBucket();
    expect(keys).not.toContain(earlier.objectKey);
    // Another sweeper removes earlier versions of outputs that stay.
    expect(keys).toContain(replaced.objectKey);
  });

  test('are kept as long as the newest of their node when its run published them together', async () => {
    const graph = await newSession(1, pair);
    const [run] = await database.query<{ id: string }>(
      `update node_run set state = 'done', outcome = 'completed' where node_instance_id = $1 returning id`,
      [graph.nodes.next],
    );
    // One of an earlier run, then two of the last one.
    await database.query(
      `with made as (
         insert into node_output (session_id, node_instance_id, run_id, output_identifier, configuration, position,
                                  data_source_id, object_key, size_bytes, etag)
         select $1, $2, x.run_id, 'lap-' || x.position, '{}', x.position, $4, 'outputs/lap-' || x.position, 1, 'x'
           from (values (2, null), (3, $3::uuid), (4, $3)) as x (position, run_id) returning id, position)
       update node_instance set newest_position = 4, newest_output_id = (select id from made where position = 4)
        where id = $2`,
      [graph.sessionId, graph.nodes.next, run!.id, graph.dataSourceId],
    );
    await age(graph);
    await database.query('update session set closed_at = now() where id = $1', [graph.sessionId]);
    expect(await runNow()).toMatchObject({ sessions: 0, outputs: 1 });
    const left = await database.query(
      'select position from node_output where node_instance_id = $1 order by position',
      [graph.nodes.next],
    );
    expect(left).toEqual([{ position: 3 }, { position: 4 }]);
  });

  test('are kept while they lie above the watermark of an incremental node, whose runs have ended', async () => {
    await outsideTemplate(database, 'incremental', { incremental: true });
    const [input, next] = pair;
    const graph = await newSession(3, [input!, { ...next!, template: 'incremental' }]);
    await age(graph);
    await database.query('update session set closed_at = now() where id = $1', [graph.sessionId]);
    await database.query(
      `update node_run set state = 'done', outcome = 'failed' where node_instance_id = $1`,
      [graph.nodes.next],
    );
    // The run has failed after its first input.
    await database.query(
      'update node_instance set consumed_position = 3, watermark_position = 1 where id = $1',
      [graph.nodes.next],
    );
    expect((await ask200(retention)).outputs).toMatchObject({ count: 1, sessions: 1 });
    expect(await runNow()).toMatchObject({ sessions: 0, outputs: 1 });
    const left = await database.query(
      'select position from node_output where node_instance_id = $1 order by position',
      [graph.nodes.in],
    );
    expect(left).toEqual([{ position: 2 }, { position: 3 }]);
    await database.query('update node_instance set watermark_position = 3 where id = $1', [graph.nodes.next]);
    expect(await runNow()).toMatchObject({ sessions: 0, outputs: 1 });
  });

  test('are not read where their sessions are younger than the retention time, however many there are', async () => {
    await copySession(owner, await newSession(3, pair), 300);
    const read = await readBy(owner, async (own) => {
      await listExpiredOutputs(own, null, 50);
    });
    expect(read.node_output).toBeLessThan(100);
  });
});

test('while the store is away the preview with its orphans is 503, and that without them is served', async () => {
  const { username, password } = platform.administrator;
  const alone = await startTestApi({ ...platform.environment, S3_ENDPOINT: 'http://127.0.0.1:9' });
  onTestFinished(() => alone.stop());
  const token = await tokenOf(alone.url, username, password);
  const preview = (query: string) => ask(alone.url, 'GET', `${retention}${query}`, { token });
  expect((await preview('')).status).toBe(200);
  const { status, headers } = await preview('?orphans=true');
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
});

test('objects of every kind without a row are deleted, unless they are young, in transfer, queued, or foreign', async () => {
  const graph = await newSession(1);
  const replaced = (await upload(graph, 'lap')).objectKey;
  await upload(graph, 'lap', 'a,b\n3,4\n');
  const [known] = await database.query<{ key: string }>(
    'select object_key as key from node_output where node_instance_id = $1',
    [graph.nodes.in],
  );
  const orphans = objectKinds.map(newObjectKey);
  const [onItsWay, queued, reportFile] = [newOutputKey(), newOutputKey(), newObjectKey('reports')];
  const foreign = ['outputs/notes.txt', 'bundles/notes.txt', `elsewhere/${newId()}`];
  for (const Key of [...orphans, onItsWay, queued, reportFile, ...foreign])
    await bucket.send(new PutObjectCommand({ Bucket: platform.s3.bucket, Key, Body: 'four' }));
  await writePendingRow(database, onItsWay, graph.dataSourceId);
  await database.query(
    `insert into queued_upload (project_id, session_id, node_instance_id, data_source_id, object_key, size_bytes, etag)
     values ($1, $2, $3, $4, $5, 4, 'x')`,
    [graph.projectId, graph.sessionId, graph.nodes.in, graph.dataSourceId, queued],
  );
  await writeReportFile(reportFile, graph.dataSourceId);
  const { objects } = api.composed.services;
  const look = async (olderThanSeconds: number) => {
    const found = { orphans: 0, bytes: 0 };
    let after: string | null = null;
    do {
      const page: OrphanPage = await findOrphans(database, objects, {
        after,
        olderThanSeconds,
        remove: null,
      });
      found.orphans += page.orphans;
      found.bytes += page.bytes;
      after = page.next;
    } while (after !== null);
    return found;
  };
  expect(await look(86_400)).toEqual({ orphans: 0, bytes: 0 });
  expect((await ask200(`${retention}?orphans=true`)).orphans).toEqual({ count: 0, bytes: 0 });
  // The clock of the store may be a little ahead.
  expect(await look(-60)).toEqual({ orphans: 3, bytes: 12 });
  const aged = asIfOld(objects);
  expect(await runNow({ objects: aged }), 'none without RETENTION_REMOVES_ORPHANS').toMatchObject({
    orphans: 0,
  });
  expect(await look(-60)).toEqual({ orphans: 3, bytes: 12 });
  expect(await runNow({ objects: aged, removesOrphans: true })).toMatchObject({ orphans: 3, bytes: 12 });
  expect(await look(-60)).toMatchObject({ orphans: 0 });
  await sweep();
  const keys = await keysInBucket();
  for (const key of orphans) expect(keys).not.toContain(key);
  for (const key of [known!.key, replaced, onItsWay, queued, reportFile, ...foreign])
    expect(keys).toContain(key);
  const { Body } = await bucket.send(new GetObjectCommand({ Bucket: platform.s3.bucket, Key: known!.key }));
  expect(await Body?.transformToString()).toBe('a,b\n1,2\n');
});

/** The bucket as it is listed years later. */
function asIfOld(objects: ObjectStores): ObjectStores {
  const of: ObjectStores['of'] = (source) => {
    const store = objects.of(source);
    const list: typeof store.list = async (...where) => {
      const page = await store.list(...where);
      return { ...page, objects: page.objects.map((one) => ({ ...one, modifiedAt: new Date(0) })) };
    };
    return Object.assign(Object.create(store), { list });
  };
  return Object.assign(Object.create(objects), { of });
}

async function writeReportFile(objectKey: string, dataSourceId: number): Promise<void> {
  await database.query(
    `with report as (
       insert into report_schedule (id, report_key, format, every, at_minute, weekday, month_day, time_zone, kept_files,
                                    enabled, created_by)
       select gen_random_uuid(), key, 'csv', 'day', 0, 1, 1, 'UTC', 1, false, gen_random_uuid()
         from report_definition limit 1 returning id)
     insert into report_file (id, schedule_id, due_at, state, data_source_id, object_key)
     select gen_random_uuid(), id, now(), 'ready', $1, $2 from report`,
    [dataSourceId, objectKey],
  );
}
