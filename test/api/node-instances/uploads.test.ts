import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { bodyTooLarge, catalogue } from '../../../domain/errors.ts';
import { sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import { makePeople } from '../../support/api.ts';
import { chunked, uploadWorld } from './support.ts';

const world = await uploadWorld({ MAX_UPLOAD_BYTES: String(24 * 1024 * 1024) });
const { api, database, makeNode, send, upload, leftovers } = world;
const mebibyte = 1024 * 1024;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const error = (message: string) => ({ status: 'error', message });
const { invalidOutputIdentifier: identifier, invalidOutputMetadata: metadata } = catalogue;

describe('bytes come back as they were sent', () => {
  const csv = Buffer.from(`time,speed [m/s]\n${'0.1,3.5\n'.repeat(1400)}`.slice(0, 10_240));
  const cases: [string, Buffer, string | undefined][] = [
    ['0 bytes', Buffer.alloc(0), 'application/octet-stream'],
    ['1 byte', Buffer.from([0]), undefined],
    ['10 KB of text/csv', csv, 'text/csv'],
    ['10 KB of JSON', Buffer.from(JSON.stringify({ a: 'b'.repeat(10_000) })), 'application/json'],
    ['20 MB of anything', randomBytes(20 * mebibyte), 'application/octet-stream'],
  ];
  for (const isChunked of [false, true]) {
    test.each(cases)(`%s, ${isChunked ? 'chunked' : 'with a length'}`, async (_name, bytes, contentType) => {
      const { nodeId } = await makeNode();
      const headers: Record<string, string> =
        contentType === undefined ? {} : { 'content-type': contentType };
      if (!isChunked) headers['content-length'] = String(bytes.length);
      const created = await upload(nodeId, chunked(bytes), headers);
      expect(created.status).toBe(201);
      expect(created.json()).toMatchObject({
        nodeInstanceId: nodeId,
        configuration: '{"dataSourceName":"platform"}',
        dataPath: expect.stringMatching(/^outputs\/[0-9a-f-]{36}$/),
        contentType: contentType ?? null,
        contentEncoding: null,
        sizeBytes: bytes.length,
        sha256: sha256(bytes),
        metadata: null,
        dataSource: { name: 'platform', kind: 's3' },
      });
      const { id } = created.json() as { id: number };
      const read = await send('GET', `/api/v2/node-instance/outputs/${id}/data`);
      expect(read.status).toBe(200);
      expect(read.headers['content-type']).toBe(contentType ?? 'application/octet-stream');
      expect(read.headers.etag).toBe(`"${sha256(bytes)}"`);
      expect(read.bytes.equals(bytes)).toBe(true);
      const newest = await send('GET', `/api/v2/node-instance/${nodeId}/outputs/latest/data`);
      expect(newest.bytes.equals(bytes)).toBe(true);
      const list = await send('GET', `/api/v2/node-instance/${nodeId}/outputs`);
      expect(list.json()).toEqual([created.json()]);
    });
  }

  test('an upload marks its node as processed and its child as waiting, before it is answered', async () => {
    const { nodeId, nodes } = await makeNode();
    await upload(nodeId, Buffer.from('x'));
    const states = await database.query<{ id: number; state: number }>(
      'select id, state from node_instance where id = any ($1::bigint[]) order by ordinal',
      [[nodeId, nodes.child]],
    );
    expect(states.map((row) => row.state)).toEqual([3, 5]);
  });

  test('gzip is stored unchanged, and unpacked for callers that do not accept it', async () => {
    const { nodeId } = await makeNode();
    const plain = Buffer.from('a,b\n1,2\n'.repeat(5000));
    const packed = gzipSync(plain);
    const created = await upload(nodeId, packed, { 'content-encoding': 'gzip', 'content-type': 'text/csv' });
    expect(created.json()).toMatchObject({
      contentEncoding: 'gzip',
      sizeBytes: packed.length,
      sha256: sha256(packed),
    });
    const path = `/api/v2/node-instance/outputs/${(created.json() as { id: number }).id}/data`;
    const asStored = await send('GET', path, { 'accept-encoding': 'gzip' });
    expect(asStored.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(asStored.bytes.equals(packed)).toBe(true);
    for (const accept of [{}, { 'accept-encoding': 'gzip;q=0, br' }] as Record<string, string>[]) {
      const unpacked = await send('GET', path, { ...accept, range: 'bytes=0-3' });
      expect(unpacked.status).toBe(200);
      expect(unpacked.headers['content-encoding']).toBeUndefined();
      expect(unpacked.bytes.equals(plain)).toBe(true);
    }
  });
});

describe('refusals, in the decided order', () => {
  test.each(['0', 'abc', '999999999', '-1', '1.5', '99999999999999999999'])('node %s: 404', async (id) => {
    const answer = await upload(id, Buffer.from('x'));
    expect([answer.status, answer.json()]).toEqual([404, error('Node instance not found.')]);
  });

  test('frozen comes before a broken configuration', async () => {
    const { nodeId, sessionId } = await makeNode('{');
    await database.query('update session set frozen_at = now() where id = $1', [sessionId]);
    const answer = await upload(nodeId, Buffer.from('x'));
    expect([answer.status, answer.json()]).toEqual([400, error('Session is frozen.')]);
  });

  test.each([
    ['{', 400, 'Invalid node configuration JSON.'],
    ['[]', 400, 'Invalid node configuration JSON.'],
    ['null', 400, 'Invalid node configuration JSON.'],
    ['{}', 400, 'Missing DataSourceName in node configuration.'],
    ['{"dataSourceName":""}', 400, 'Missing DataSourceName in node configuration.'],
    ['{"dataSourceName":7}', 400, 'Missing DataSourceName in node configuration.'],
    ['{"dataSourceName":"no \'such\' one"}', 404, "Data source 'no 'such' one' not found."],
  ])('configuration %s: %i %s', async (configuration, status, message) => {
    const { nodeId } = await makeNode(configuration);
    const answer = await upload(nodeId, Buffer.from('x'), { 'x-platform-output-identifier': 'not valid' });
    expect([answer.status, answer.json()]).toEqual([status, error(message)]);
  });

  test('a data source that is not S3-compatible counts as not registered', async () => {
    await database.query(`insert into data_source (name, kind) values ('tape', 'tape')`);
    const { nodeId } = await makeNode('{"dataSourceName":"tape"}');
    const answer = await upload(nodeId, Buffer.from('x'));
    expect([answer.status, answer.json()]).toEqual([404, error("Data source 'tape' not found.")]);
  });

  test.each([
    ['x-platform-output-identifier', 'a b', 400, identifier.message],
    ['x-platform-output-identifier', 'a'.repeat(101), 400, identifier.message],
    ['x-platform-output-identifier', '', 400, identifier.message],
    ['x-platform-output-metadata', '[1]', 400, metadata.message],
    ['x-platform-output-metadata', '{"$a":1}', 400, metadata.message],
    ['x-platform-output-metadata', `{"a":"${'b'.repeat(4096)}"}`, 400, metadata.message],
    ['x-platform-output-metadata', '{"a":"\\u0000"}', 400, metadata.message],
    ['content-md5', 'AAAAAAAAAAAAAAAAAAAAAA==', 400, 'The body does not match the checksum sent with it.'],
    ['content-md5', 'nonsense', 400, 'The body does not match the checksum sent with it.'],
    ['x-amz-checksum-sha256', 'AAAA', 400, 'The body does not match the checksum sent with it.'],
    ['content-encoding', 'br', 415, 'Content-Encoding must be gzip or absent.'],
  ])('%s: %s is refused and leaves nothing', async (name, value, status, message) => {
    const { nodeId } = await makeNode();
    const before = await leftovers();
    const answer = await upload(nodeId, Buffer.from('x'), { [name]: value });
    expect([answer.status, answer.json()]).toEqual([status, error(message)]);
    expect(await leftovers()).toEqual(before);
  });

  test('right checksums are accepted', async () => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(1000);
    const digest = (name: string) => createHash(name).update(bytes).digest('base64');
    const answer = await upload(nodeId, bytes, {
      'content-md5': digest('md5'),
      'x-amz-checksum-sha256': digest('sha256'),
    });
    expect(answer.status).toBe(201);
  });

  test.each([true, false])('above MAX_UPLOAD_BYTES: 413, nothing kept (declared: %s)', async (isDeclared) => {
    const { nodeId } = await makeNode();
    const before = await leftovers();
    const bytes = Buffer.alloc(24 * mebibyte + 1);
    const headers: Record<string, string> = isDeclared ? { 'content-length': String(bytes.length) } : {};
    const answer = await upload(nodeId, chunked(bytes), headers);
    expect([answer.status, answer.json()]).toEqual([413, error(bodyTooLarge(24 * mebibyte).message)]);
    expect(await leftovers()).toEqual(before);
  });

  test('storage that is down: 500 with the documented message', async () => {
    await database.query(
      `insert into data_source (name, endpoint, bucket, access_key_id) values ('gone', 'http://127.0.0.1:1', 'b', 'a')`,
    );
    const { nodeId } = await makeNode('{"dataSourceName":"gone"}');
    const answer = await upload(nodeId, Buffer.from('x'));
    expect([answer.status, answer.json()]).toEqual([500, error('Failed to create node output.')]);
    await database.query(`delete from pending_object`);
  });

  test('only accounts of every role and offline tokens may upload', async () => {
    const people = await makePeople(api.url, world.platform);
    const { nodeId } = await makeNode();
    const tokens = [people.Administrator, people.Instructor, people.Trainee, people.Developer].map(
      (one) => one.token,
    );
    for (const token of [...tokens, people.offlineToken]) {
      expect((await upload(nodeId, Buffer.from('x'), { authorization: `Bearer ${token}` })).status).toBe(201);
    }
    expect((await upload(nodeId, Buffer.from('x'), { authorization: 'Bearer nothing' })).status).toBe(401);
  });
});

describe('identifier and metadata', () => {
  test('metadata in UTF-8 and the identifier come back', async () => {
    const { nodeId } = await makeNode();
    const metadata = { größe: '5 µm', nested: { $inner: true } };
    const answer = await upload(nodeId, Buffer.from('x'), {
      'x-platform-output-identifier': 'run-1_A.csv',
      'x-platform-output-metadata': Buffer.from(JSON.stringify(metadata)).toString('latin1'),
    });
    expect(answer.json()).toMatchObject({ outputIdentifier: 'run-1_A.csv', metadata });
  });

  test('the same identifier again replaces the bytes: 200, same id, last in the list', async () => {
    const { nodeId } = await makeNode();
    const named = { 'x-platform-output-identifier': 'same' };
    const first = (await upload(nodeId, Buffer.from('one'), named)).json() as { id: number };
    const between = (await upload(nodeId, Buffer.from('between'))).json() as { id: number };
    const second = await upload(nodeId, Buffer.from('two'), named);
    expect([second.status, second.json()]).toMatchObject([
      200,
      { id: first.id, sha256: sha256(Buffer.from('two')) },
    ]);
    const list = (await send('GET', `/api/v2/node-instance/${nodeId}/outputs`)).json() as { id: number }[];
    expect(list.map((output) => output.id)).toEqual([between.id, first.id]);
    const read = await send('GET', `/api/v2/node-instance/outputs/${first.id}/data`);
    expect(read.bytes.toString()).toBe('two');
  });

  test('an invalid Content-Type is never returned', async () => {
    const { nodeId } = await makeNode();
    const created = await upload(nodeId, Buffer.from('x'), { 'content-type': 'text/<html>; x' });
    expect(created.json()).toMatchObject({ contentType: 'application/octet-stream' });
  });
});

describe('an upload that breaks off', () => {
  test.each([0, 1000, 9 * mebibyte, 20 * mebibyte])('after %i bytes leaves nothing', async (size) => {
    const { nodeId } = await makeNode();
    const before = await leftovers();
    for (const headers of [{}, { 'content-length': String(size + 1) }] as Record<string, string>[]) {
      async function* generate() {
        yield* chunked(Buffer.alloc(size, 1));
        await sleep(50);
        throw new Error('cut');
      }
      const sent = upload(nodeId, Readable.from(generate(), { objectMode: false }), headers);
      await expect(sent).rejects.toThrow();
    }
    await expect.poll(leftovers).toEqual(before);
  });

  test('is swept when the process that received it died', async () => {
    const { services } = api.composed;
    const before = await leftovers();
    const [source] = await database.query<{ id: number }>(
      `select id from data_source where name = 'platform'`,
    );
    await database.query(
      `insert into pending_object (object_key, data_source_id, heartbeat_at)
       values ('outputs/dead', $1, now() - interval '2 hours'), ('outputs/alive', $1, now() - interval '50 minutes')`,
      [source!.id],
    );
    const { CreateMultipartUploadCommand, PutObjectCommand } = await import('@aws-sdk/client-s3');
    const Bucket = world.platform.s3.bucket;
    for (const Key of ['outputs/dead', 'outputs/alive']) {
      await world.client.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
      await world.client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    }
    const result = await sweepAbandonedObjects(database, services.objects, { olderThanSeconds: 3600 });
    expect(result).toEqual({ abandoned: 1, deleted: 1, failed: 0 });
    expect(await leftovers()).toEqual({
      ...before,
      objects: before.objects + 1,
      uploads: before.uploads + 1,
      pending: before.pending! + 1,
    });
    await sweepAbandonedObjects(database, services.objects, { olderThanSeconds: 60 });
    expect(await leftovers()).toEqual(before);
  });

  test('an object that an output still refers to is never swept', async () => {
    const { services } = api.composed;
    const { nodeId } = await makeNode();
    const { dataPath, dataSourceId, id } = (await upload(nodeId, Buffer.from('kept'))).json() as Record<
      string,
      never
    >;
    await database.query('insert into object_deletion (data_source_id, object_key) values ($1, $2)', [
      dataSourceId,
      dataPath,
    ]);
    const result = await sweepAbandonedObjects(database, services.objects, { olderThanSeconds: 3600 });
    expect(result).toEqual({ abandoned: 0, deleted: 0, failed: 0 });
    const read = await send('GET', `/api/v2/node-instance/outputs/${id}/data`);
    expect(read.bytes.toString()).toBe('kept');
  });
});

test('many concurrent uploads to one session all succeed', async () => {
  const { nodeId } = await makeNode();
  const bytes = randomBytes(300_000);
  const sent = Array.from({ length: 150 }, (_, index) =>
    upload(nodeId, chunked(bytes.subarray(index * 1000))),
  );
  const answers = await Promise.all(sent);
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 201));
  const list = (await send('GET', `/api/v2/node-instance/${nodeId}/outputs`)).json() as {
    sizeBytes: number;
  }[];
  const sizes = list.map((output) => output.sizeBytes).toSorted((a, b) => b - a);
  expect(sizes).toEqual(sent.map((_, index) => 300_000 - index * 1000));
});
