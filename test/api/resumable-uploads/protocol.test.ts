import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import { sweepResumableUploads } from '../../../store/uploads/sweep-resumable-uploads.ts';
import { makePeople } from '../../support/api.ts';
import { chunked } from '../node-instances/support.ts';
import { mebibyte, metadataOf, sha256, tusWorld } from './support.ts';

const maxBytes = 64 * mebibyte;
const world = await tusWorld({ MAX_UPLOAD_BYTES: String(maxBytes) });
const { api, platform, database, makeNode, send, leftovers } = world;
const { begin, begun, piece, head, offsetOf, terminate, outputsOf, bytesOf, expire } = world;
const error = (message: string) => ({ status: 'error', message });
const { objects } = api.composed.services;

describe('an upload in pieces becomes the output that a plain upload would have made', () => {
  const cases: [string, number, number][] = [
    ['nothing', 0, 1],
    ['one byte', 1, 1],
    ['one piece', 300_000, 300_000],
    ['pieces smaller than a part', 9 * mebibyte, mebibyte],
    ['pieces as large as a short part', 21 * mebibyte + 1, 6 * mebibyte],
    ['pieces of several parts', 40 * mebibyte + 17, 19 * mebibyte],
    ['whole parts', 32 * mebibyte, 16 * mebibyte],
  ];
  test.each(cases)('%s', async (_name, sizeBytes, pieceBytes) => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(sizeBytes);
    const said = {
      identifier: 'lap-1',
      contentType: 'text/csv',
      metadata: '{"driver":"Åsa"}',
      filename: 'x',
    };
    const path = await begun(nodeId, sizeBytes, said);
    let last = await head(path);
    for (let at = 0; at < sizeBytes; at += pieceBytes) {
      last = await piece(path, at, bytes.subarray(at, at + pieceBytes));
      expect(last.status, String(last.bytes)).toBe(204);
      expect(last.headers['upload-offset']).toBe(String(Math.min(sizeBytes, at + pieceBytes)));
      expect(last.headers['tus-resumable']).toBe('1.0.0');
    }
    expect(last.headers['x-platform-upload-state']).toBe('published');
    const [output, ...more] = await outputsOf(nodeId);
    expect(more).toEqual([]);
    expect(output).toMatchObject({
      id: Number(last.headers['x-platform-output-id']),
      outputIdentifier: 'lap-1',
      contentType: 'text/csv',
      metadata: { driver: 'Åsa' },
      sizeBytes,
      sha256: sha256(bytes),
    });
    expect((await bytesOf(output!.id)).equals(bytes)).toBe(true);
    const again = await head(path);
    expect(again.headers).toMatchObject({
      'upload-offset': String(sizeBytes),
      'upload-length': String(sizeBytes),
      'x-platform-output-id': String(output!.id),
    });
  });

  test('with a body at its creation, whole or in part', async () => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(500_000);
    const type = { 'content-type': 'application/offset+octet-stream' };
    const whole = await begin(nodeId, bytes.length, type, bytes);
    expect(whole.status, String(whole.bytes)).toBe(201);
    expect(whole.headers['x-platform-upload-state']).toBe('published');
    const part = await begin(nodeId, bytes.length, type, chunked(bytes.subarray(0, 200_000)));
    expect(part.headers['upload-offset']).toBe('200000');
    const rest = await piece(part.headers.location!, 200_000, bytes.subarray(200_000));
    expect(rest.headers['x-platform-upload-state']).toBe('published');
    expect((await outputsOf(nodeId)).map((output) => output.sha256)).toEqual(Array(2).fill(sha256(bytes)));
  });

  test('the same upload again is the same output, and leaves nothing behind', async () => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(100_000);
    for (let time = 0; time < 2; time++) {
      const path = await begun(nodeId, bytes.length, { identifier: 'one' });
      expect((await piece(path, 0, bytes)).status).toBe(204);
    }
    expect(await outputsOf(nodeId)).toHaveLength(1);
    const [row] = await database.query<{ position: number }>(
      'select count(*)::int as count from node_output where node_instance_id = $1',
      [nodeId],
    );
    expect(row).toEqual({ count: 1 });
    await sweepAbandonedObjects(database, objects, { olderThanSeconds: 0 });
    const left = await leftovers();
    expect(left.objects).toBe(left.outputs);
  });

  test('a project with a queue gets it in the order of the last bytes', async () => {
    const { nodeId, projectId } = await makeNode();
    await database.query('update project set queued_ingestion = true where id = $1', [projectId]);
    const paths = await Promise.all(
      ['first', 'second'].map((identifier) => begun(nodeId, 4, { identifier })),
    );
    for (const path of [paths[1]!, paths[0]!]) {
      const { status, headers } = await piece(path, 0, Buffer.from('abcd'));
      expect([status, headers['x-platform-upload-state']]).toEqual([204, 'queued']);
    }
    const queued = await database.query(
      'select output_identifier from queued_upload where node_instance_id = $1 order by id',
      [nodeId],
    );
    expect(queued).toEqual([{ outputIdentifier: 'second' }, { outputIdentifier: 'first' }]);
  });
});

describe('refusals, before the body', () => {
  test('the node, the frozen session and the data source are checked as for plain uploads', async () => {
    const { nodeId, sessionId } = await makeNode();
    expect((await begin('999999999', 1)).json()).toEqual(error('Node instance not found.'));
    const unnamed = await makeNode('{}');
    expect((await begin(unnamed.nodeId, 1)).status).toBe(400);
    const path = await begun(nodeId, 10);
    await database.query('update session set frozen_at = clock_timestamp() where id = $1', [sessionId]);
    expect((await begin(nodeId, 1)).json()).toEqual(error('Session is frozen.'));
    expect((await piece(path, 0, Buffer.alloc(10))).json()).toEqual(error('Session is frozen.'));
    await database.query('update session set frozen_at = null where id = $1', [sessionId]);
    expect((await piece(path, 0, Buffer.alloc(10))).status).toBe(204);
  });

  test('a session that is frozen before the last byte keeps the bytes, and publishes them when it is open again', async () => {
    const { nodeId, sessionId } = await makeNode();
    const path = await begun(nodeId, 10);
    await piece(path, 0, Buffer.alloc(10)).catch(() => undefined);
    expect(await outputsOf(nodeId)).toHaveLength(1);
    const late = await begun(nodeId, 10);
    await piece(late, 0, Buffer.alloc(9));
    await database.query('update session set frozen_at = clock_timestamp() where id = $1', [sessionId]);
    expect((await piece(late, 9, Buffer.alloc(1))).status).toBe(400);
    await database.query('update session set frozen_at = null where id = $1', [sessionId]);
    expect(await offsetOf(late)).toBe(9);
    expect((await piece(late, 9, Buffer.alloc(1))).status).toBe(204);
    expect(await outputsOf(nodeId)).toHaveLength(2);
  });

  test.each([
    [413, { 'upload-length': String(maxBytes + 1) }],
    [400, { 'upload-length': '-1' }],
    [400, { 'upload-length': '' }],
    [400, { 'upload-defer-length': '1' }],
    [400, { 'upload-metadata': metadataOf({ identifier: 'a/b' }) }],
    [400, { 'upload-metadata': metadataOf({ metadata: '[1]' }) }],
    [400, { 'upload-metadata': 'identifier not-base64!' }],
    [400, { 'upload-metadata': 'identifier YQ==,identifier Yg==' }],
    [415, { 'upload-metadata': metadataOf({ contentEncoding: 'br' }) }],
    [412, { 'tus-resumable': '0.2.2' }],
    [400, { 'upload-checksum': 'crc32 AAAA' }],
  ])('a creation is answered %i for %o', async (status, headers) => {
    const { nodeId } = await makeNode();
    const { status: seen, json } = await begin(nodeId, 5, headers as Record<string, string>);
    expect([seen, (json() as { status: string }).status]).toEqual([status, 'error']);
    const rows = await database.query('select 1 from resumable_upload where node_instance_id = $1', [nodeId]);
    expect(rows).toEqual([]);
  });

  test('a creation with a body that is longer than announced begins nothing', async () => {
    const { nodeId } = await makeNode();
    const type = { 'content-type': 'application/offset+octet-stream' };
    const { status, json } = await begin(nodeId, 5, type, Buffer.alloc(6));
    expect([status, json()]).toEqual([413, error('The upload was announced with 5 bytes.')]);
    const rows = await database.query('select 1 from resumable_upload where node_instance_id = $1', [nodeId]);
    expect(rows).toEqual([]);
  });

  test('a piece of another type, at another offset, too long, or of an upload that is none', async () => {
    const { nodeId } = await makeNode();
    const path = await begun(nodeId, 5);
    expect((await piece(path, 0, Buffer.alloc(5), { 'content-type': 'text/csv' })).status).toBe(415);
    expect((await piece(path, 3, Buffer.alloc(2))).status).toBe(409);
    expect((await piece(path, 0, Buffer.alloc(6))).status).toBe(413);
    expect((await piece(path, 0, chunked(Buffer.alloc(600), 100))).status).toBe(413);
    expect((await piece(path, 0, Buffer.alloc(5), { 'tus-resumable': '2.0.0' })).status).toBe(412);
    for (const id of ['no-upload', '0198f2b9-91c3-7f10-a6d2-0c5b7e3f4a68'])
      expect((await piece(`/api/v2/node-instance/${nodeId}/uploads/${id}`, 0, Buffer.alloc(5))).status).toBe(
        404,
      );
    const other = await makeNode();
    expect((await head(path.replace(String(nodeId), String(other.nodeId)))).status).toBe(404);
    expect(await outputsOf(nodeId)).toEqual([]);
  });

  test('only its caller continues and terminates an upload, with any of their tokens', async () => {
    const people = await makePeople(api.url, platform);
    const { nodeId } = await makeNode();
    const path = await begun(nodeId, 10);
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    const stranger = as(people.Developer.token);
    expect((await piece(path, 0, Buffer.alloc(5), stranger)).status).toBe(403);
    expect((await send('HEAD', path, { 'tus-resumable': '1.0.0', ...stranger })).status).toBe(403);
    expect((await send('DELETE', path, { 'tus-resumable': '1.0.0', ...stranger })).status).toBe(403);
    expect((await piece(path, 0, Buffer.alloc(5), as(people.adminToken))).status).toBe(204);
    expect((await piece(path, 5, Buffer.alloc(5), as(people.offlineToken))).status).toBe(204);
    expect(await outputsOf(nodeId)).toHaveLength(1);
  });
});

describe('checksums', () => {
  test.each(['sha256', 'sha1', 'md5'])('%s: a piece that does not match is not kept', async (algorithm) => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(20 * mebibyte);
    const path = await begun(nodeId, bytes.length);
    const checksumOf = (of: Buffer) => ({
      'upload-checksum': `${algorithm} ${createHash(algorithm).update(of).digest('base64')}`,
    });
    const [first, second] = [bytes.subarray(0, 11 * mebibyte), bytes.subarray(11 * mebibyte)];
    const wrong = await piece(path, 0, first, checksumOf(second));
    expect([wrong.status, wrong.json()]).toEqual([460, error('The bytes do not match Upload-Checksum.')]);
    expect(await offsetOf(path)).toBe(0);
    expect((await piece(path, 0, first, checksumOf(first))).status).toBe(204);
    expect((await piece(path, first.length, second, checksumOf(first))).status).toBe(460);
    expect(await offsetOf(path)).toBe(first.length);
    expect((await piece(path, first.length, second, checksumOf(second))).status).toBe(204);
    expect(await outputsOf(nodeId)).toMatchObject([{ sha256: sha256(bytes) }]);
  });
});

describe('the end of an upload without an output', () => {
  test('a terminated upload is unknown, and nothing of it stays', async () => {
    const { nodeId } = await makeNode();
    const path = await begun(nodeId, 30 * mebibyte);
    await piece(path, 0, randomBytes(20 * mebibyte + 5));
    expect((await terminate(path)).status).toBe(204);
    for (const answer of [await head(path), await terminate(path), await piece(path, 0, Buffer.alloc(1))])
      expect(answer.status).toBe(404);
    await expectNothingLeft(nodeId);
  });

  test('an upload that has expired is refused, and swept', async () => {
    const { nodeId } = await makeNode();
    const path = await begun(nodeId, 30 * mebibyte);
    await piece(path, 0, randomBytes(9 * mebibyte));
    await expire();
    expect((await head(path)).status).toBe(404);
    expect((await piece(path, 9 * mebibyte, Buffer.alloc(1))).status).toBe(404);
    await expectNothingLeft(nodeId);
  });

  test('a finished upload cannot be terminated', async () => {
    const { nodeId } = await makeNode();
    const path = await begun(nodeId, 1);
    await piece(path, 0, Buffer.alloc(1));
    expect((await terminate(path)).status).toBe(409);
    expect(await outputsOf(nodeId)).toHaveLength(1);
  });

  async function expectNothingLeft(nodeId: number): Promise<void> {
    // Uploads of the tests before this one expire, too.
    await expire();
    while ((await sweepResumableUploads(database, objects)) > 0);
    await database.query(`update pending_object set heartbeat_at = '-infinity'`);
    await sweepAbandonedObjects(database, objects, { olderThanSeconds: 0 });
    const left = await leftovers();
    expect(left).toMatchObject({ uploads: 0, pending: 0, deletions: 0 });
    const [queue] = await database.query<{ count: number }>(
      'select count(*)::int as count from queued_upload',
    );
    expect(left.objects).toBe(left.outputs! + queue!.count);
    expect(await outputsOf(nodeId)).toEqual([]);
  }
});

test('OPTIONS says what the server supports', async () => {
  const { nodeId } = await makeNode();
  const { status, headers } = await send('OPTIONS', `/api/v2/node-instance/${nodeId}/uploads`);
  expect(status).toBe(204);
  expect(headers).toMatchObject({
    'tus-version': '1.0.0',
    'tus-max-size': String(maxBytes),
    'tus-extension': 'creation,creation-with-upload,termination,checksum,expiration',
    'tus-checksum-algorithm': 'sha1,sha256,md5',
  });
});

test('a caller has no more than a share of unfinished uploads', async () => {
  const { nodeId } = await makeNode();
  await database.query(
    `insert into resumable_upload (id, node_instance_id, user_id, counted_for, data_source_id, object_key, size_bytes,
                                   expires_at, sweep_at)
     select gen_random_uuid(), node_instance_id, user_id, counted_for, data_source_id, gen_random_uuid()::text, 1,
            'infinity', 'infinity'
       from (select * from resumable_upload where state = 'done' limit 1) u, generate_series(1, 1000)`,
  );
  const refused = await begin(nodeId, 1);
  expect([refused.status, refused.json()]).toEqual([
    429,
    error('The caller has 1000 unfinished resumable uploads. Finish or delete some first.'),
  ]);
  await database.query(`delete from resumable_upload where expires_at = 'infinity'`);
  expect((await begin(nodeId, 1)).status).toBe(201);
});
