/** Uploads while PostgreSQL is away: sending them again may take hours, and its return seconds. */
import { type ClientRequest, request } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, expect, test } from 'vitest';
import type { Services } from '../../../api/services.ts';
import { commitUpload } from '../../../api/uploads/commit-upload.ts';
import { type ReceivedObject, readUploadHeaders } from '../../../api/uploads/receive.ts';
import { findDataSourceByName } from '../../../store/objects/data-sources.ts';
import { publishUpload } from '../../../store/uploads/publish-upload.ts';
import { queueUpload } from '../../../store/uploads/queued-uploads.ts';
import { s3Client } from '../../support/bucket.ts';
import { eventually } from '../../support/eventually.ts';
import { faultWorld } from '../fault-world.ts';
import { outsideChain } from '../http-runner.ts';

const { platform, database, api, client } = await faultWorld({ ownStack: true });
const { postgres } = platform.stack!;
const { signal } = new AbortController();
const s3 = s3Client(platform.environment);
afterAll(() => s3.destroy());

/** An upload whose first byte is sent; its end sends the last. */
function begun(nodeInstanceId: number): { readonly sent: ClientRequest; readonly status: Promise<number> } {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(
    `${api.url}/api/v2/node-instance/${nodeInstanceId}/outputs/data`,
    { method: 'POST', agent: false, headers: { authorization: `Bearer ${client.token}` } },
    (answer) => resolve(answer.resume().statusCode ?? 0),
  );
  sent.on('error', reject).write('a');
  return { sent, status: promise };
}

test('they are published when it is back within seconds, in whatever order they wait', async () => {
  const { nodes } = await outsideChain(database, 1);
  const uploads = Array.from({ length: 12 }, () => begun(nodes.input!));
  await eventually('all are under way', async () => {
    const [row] = await database.query<{ count: number }>(
      'select count(*)::int as count from pending_object',
    );
    return row!.count === uploads.length;
  });
  await postgres!.stop();
  for (const { sent } of uploads) sent.end('b');
  await eventually('all bytes are stored', async () => {
    const { KeyCount } = await s3.send(new ListObjectsV2Command({ Bucket: platform.s3.bucket }));
    return KeyCount === uploads.length;
  });
  // The first try of each fails meanwhile.
  await delay(1_000);
  await postgres!.start();
  expect(await Promise.all(uploads.map(({ status }) => status))).toEqual(uploads.map(() => 201));
  const outputs = await database.query('select 1 from node_output where node_instance_id = $1', [
    nodes.input,
  ]);
  expect(outputs).toHaveLength(uploads.length);
});

const services: Services = { ...api.composed.services, reference: () => ({}) as never, leaving: signal };

/** An upload of one byte to a new node, as its route receives it. */
async function oneByte() {
  const { nodes } = await outsideChain(database, 1);
  const dataSource = await findDataSourceByName(services.database, 'platform');
  return {
    kind: 'upload',
    dataSource: dataSource!,
    announced: readUploadHeaders({}),
    body: { declaredBytes: 1, open: () => Readable.from([Buffer.from('a')]) },
    maxBytes: 1,
    nodeInstanceId: nodes.input!,
    signal,
  } as const;
}

test('one whose bytes were not asked for yet waits too', async () => {
  const bytes = await oneByte();
  const { nodeInstanceId } = bytes;
  await postgres!.stop();
  const commit = (received: ReceivedObject) =>
    publishUpload(services.database, { ...received, nodeInstanceId });
  const [result] = await Promise.all([
    commitUpload(services, bytes, commit),
    delay(1_000).then(() => postgres!.start()),
  ]);
  expect(result.outcome).toBe('created');
});

test.for([
  ['published', publishUpload, 'created'],
  ['queued', queueUpload, 'queued'],
] as const)(
  'one that was %s by a commit whose answer got lost is not made twice',
  async ([, commit, outcome]) => {
    const { nodes } = await outsideChain(database, 1);
    const nodeInstanceId = nodes.input!;
    const services: Services = { ...api.composed.services, reference: () => ({}) as never, leaving: signal };
    const dataSource = await findDataSourceByName(services.database, 'platform');
    let commits = 0;
    const bytes = {
      kind: 'upload',
      dataSource: dataSource!,
      announced: readUploadHeaders({}),
      body: { declaredBytes: 1, open: () => Readable.from([Buffer.from('a')]) },
      maxBytes: 1,
      nodeInstanceId,
      signal,
    } as const;
    const work = async (received: ReceivedObject) => {
      await commit(services.database, { ...received, nodeInstanceId });
      commits += 1;
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    };
    expect(await commitUpload(services, bytes, work)).toMatchObject({ outcome });
    expect(commits).toBe(1);
    expect(await database.query('select 1 from object_deletion')).toEqual([]);
  },
);
