import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, inject, test } from 'vitest';
import { uploadWorld } from './support.ts';

const endpoint = new URL(inject('stackEnvironment').S3_ENDPOINT ?? '');
// Another name of the same store, as clients outside would have.
endpoint.hostname = 'localhost';
const { database, makeNode, send, upload } = await uploadWorld({ S3_DOWNLOAD_ENDPOINT: endpoint.origin });

const large = randomBytes(2 * 1024 * 1024);

async function stored(bytes: Buffer, headers: Record<string, string> = {}) {
  const { nodeId } = await makeNode();
  const { id, sha256 } = (await upload(nodeId, bytes, headers)).json() as { id: number; sha256: string };
  return { id, tag: `"${sha256}"`, path: `/api/v2/node-instance/outputs/${id}/data?redirect=true` };
}

async function addressOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await send('GET', path, headers);
  expect([answer.status, answer.bytes.length]).toEqual([307, 0]);
  return String(answer.headers.location);
}

/** Opens an address as a stranger to the platform. */
async function open(address: string, headers: Record<string, string> = {}) {
  const answer = await fetch(address, { headers });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

test('a large download that accepts it is sent to the store, whose address needs no token', async () => {
  const { path, tag } = await stored(large, {
    'content-type': 'text/csv',
    'x-platform-output-identifier': 'lap-1.csv',
  });
  const answer = await send('GET', path);
  expect(answer.status).toBe(307);
  expect(answer.headers).toMatchObject({
    etag: tag,
    'cache-control': 'no-store',
    'x-platform-size-bytes': String(large.length),
  });
  const address = String(answer.headers.location);
  expect(new URL(address).origin).toBe(endpoint.origin);
  const read = await open(address);
  expect([read.status, read.bytes.equals(large)]).toEqual([200, true]);
  expect(read.headers.get('content-type')).toBe('text/csv');
  expect(read.headers.get('content-disposition')).toMatch(/^attachment; filename="lap-1\.csv"/);
  expect(read.headers.get('cache-control')).toBe('private, no-cache');
});

test('ranges are read at the store', async () => {
  const { path } = await stored(large);
  const range = { range: 'bytes=10-19' };
  const read = await open(await addressOf(path, range), range);
  expect([read.status, read.headers.get('content-range')]).toEqual([206, `bytes 10-19/${large.length}`]);
  expect(read.bytes.equals(large.subarray(10, 20))).toBe(true);
  const outside = await send('GET', path, { range: `bytes=${large.length}-` });
  expect([outside.status, outside.headers['content-range']]).toEqual([416, `bytes */${large.length}`]);
});

test('gzip goes to the store for callers that accept it; for others it is decoded here', async () => {
  const packed = gzipSync(large);
  const { path } = await stored(packed, { 'content-encoding': 'gzip' });
  const gzip = { 'accept-encoding': 'gzip' };
  const answer = await fetch(await addressOf(path, gzip), { headers: gzip });
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  // `fetch` decodes what is declared as gzip.
  expect(Buffer.from(await answer.arrayBuffer()).equals(large)).toBe(true);
  const decoded = await send('GET', path);
  expect([decoded.status, decoded.bytes.equals(large)]).toEqual([200, true]);
});

test('an address opens its own object alone, and for a short time', async () => {
  const { path } = await stored(large);
  const other = await stored(large);
  const address = new URL(await addressOf(path));
  expect(Number(address.searchParams.get('X-Amz-Expires'))).toBe(300);
  const stranger = new URL(address);
  stranger.pathname = new URL(await addressOf(other.path)).pathname;
  const longer = new URL(address);
  longer.searchParams.set('X-Amz-Expires', '6000');
  for (const forged of [stranger, longer]) expect((await open(forged.href)).status).toBe(403);
  expect((await fetch(address, { method: 'DELETE' })).status).toBe(403);
});

test('the platform sends the bytes itself where the caller does not accept an address', async () => {
  const { path, id } = await stored(large);
  for (const plain of [`/api/v2/node-instance/outputs/${id}/data`, path.replace('true', 'false')]) {
    const read = await send('GET', plain);
    expect([read.status, read.bytes.equals(large)]).toEqual([200, true]);
  }
  expect((await send('GET', path.replace('true', 'perhaps'))).status).toBe(400);
});

test('conditions, HEAD and small outputs are answered without the store’s address', async () => {
  const { path, tag } = await stored(large);
  expect((await send('GET', path, { 'if-none-match': tag })).status).toBe(304);
  const head = await send('HEAD', path);
  expect([head.status, head.headers['content-length']]).toEqual([200, String(large.length)]);
  const small = await stored(Buffer.from('few'));
  expect((await send('GET', small.path)).bytes.toString()).toBe('few');
});

test('a part of an object gets no address: it would open the whole object', async () => {
  const { path, id } = await stored(Buffer.concat([large, large]));
  await database.query('update node_output set object_offset = 100, size_bytes = $2 where id = $1', [
    id,
    large.length,
  ]);
  const read = await send('GET', path);
  expect([read.status, read.bytes.length]).toEqual([200, large.length]);
});

test('an output in a store of another address is sent by the platform', async () => {
  const { path, id } = await stored(large);
  await database.query(
    `with source as (
       insert into data_source (name, endpoint, bucket, access_key_id) values ('elsewhere', 'http://127.0.0.1:1', 'b', 'a')
       returning id)
     update node_output set data_source_id = source.id from source where node_output.id = $1`,
    [id],
  );
  expect((await send('GET', path)).status).toBe(502);
});
