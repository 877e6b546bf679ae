/** Old sessions, a bucket with their bytes, and runs of the retention. */
import { Readable } from 'node:stream';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { type Logger, pino } from 'pino';
import { afterAll, expect } from 'vitest';
import { ensurePlatformDataSource, findDataSourceByName } from '../../../store/objects/data-sources.ts';
import { newOutputKey } from '../../../store/objects/object-store.ts';
import type { ObjectStores } from '../../../store/objects/object-stores.ts';
import { sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import { publishUpload } from '../../../store/uploads/publish-upload.ts';
import { retainOnce } from '../../../worker/retention.ts';
import { apiStage, ask } from '../../support/api.ts';
import { s3Client } from '../../support/bucket.ts';
import { type Graph, type GraphNode, makeGraph } from '../../support/graph.ts';
import { writePendingRow } from '../../support/pending-row.ts';

export async function retentionWorld() {
  const { platform, api, people } = await apiStage();
  const bucket = s3Client(platform.environment);
  const log = pino({ level: 'silent' });
  const retention = '/api/v2/admin/retention';
  const { database } = api.composed.services;
  await ensurePlatformDataSource(database, api.composed.services.objects.platformAccess);

  afterAll(() => bucket.destroy());

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

  async function upload(graph: Graph, identifier: string | null = null, text = 'a,b\n1,2\n') {
    const { objects } = api.composed.services;
    const source = (await findDataSourceByName(database, 'platform'))!;
    const objectKey = newOutputKey();
    await writePendingRow(database, objectKey, source.id, graph.nodes.in);
    const stored = await objects.of(source).put(objectKey, Readable.from([Buffer.from(text)]), {
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
      `update node_run set created_at = created_at - interval '10 days', queue_time = queue_time - interval '10 days'
        where node_instance_id in ${nodes}`,
      [sessionId],
    );
  }

  const ask200 = async (path: string) => {
    const answer = await ask(api.url, 'GET', path, { token: people.adminToken });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };

  const options = { everyHours: 0, removesOrphans: false, signal: new AbortController().signal };

  async function runNow({
    log: ownLog = log,
    objects = api.composed.services.objects,
    ...change
  }: Partial<typeof options & { log: Logger; objects: ObjectStores }> = {}) {
    const asked = await ask(api.url, 'POST', retention, { token: people.adminToken });
    expect(asked.status).toBe(202);
    await retainOnce(database, objects, ownLog, { ...options, ...change });
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
  return {
    platform,
    bucket,
    log,
    retention,
    api,
    people,
    database,
    pair,
    newSession,
    upload,
    age,
    ask200,
    options,
    runNow,
    sweep,
    keysInBucket,
    exists,
  };
}
