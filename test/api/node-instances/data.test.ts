import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { uploadWorld } from './support.ts';

const { api, database, makeNode, send, upload } = await uploadWorld();
const mebibyte = 1024 * 1024;
const error = (message: string) => ({ status: 'error', message });

async function stored(bytes: Buffer, headers: Record<string, string> = {}) {
  const { nodeId } = await makeNode();
  const { id, sha256 } = (await upload(nodeId, bytes, headers)).json() as { id: number; sha256: string };
  return {
    nodeId,
    id,
    tag: `"${sha256}"`,
    path: `/api/v2/node-instance/outputs/${id}/data`,
    latest: `/api/v2/node-instance/${nodeId}/outputs/latest/data`,
  };
}

describe('ranges', () => {
  const bytes = randomBytes(1000);
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=10-19', 10, 19],
    ['bytes=990-', 990, 999],
    ['bytes=990-5000', 990, 999],
    ['bytes=-7', 993, 999],
    ['bytes=-5000', 0, 999],
  ])('%s', async (range, start, end) => {
    const { path, latest, tag } = await stored(bytes);
    for (const address of [path, latest]) {
      const read = await send('GET', address, { range });
      expect(read.status).toBe(206);
      expect(read.headers['content-range']).toBe(`bytes ${start}-${end}/1000`);
      expect(read.headers['content-length']).toBe(String(end - start + 1));
      expect(read.headers.etag).toBe(tag);
      expect(read.bytes.equals(bytes.subarray(start, end + 1))).toBe(true);
    }
  });

  test.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])('%s: 416 with the size', async (range) => {
    const { path } = await stored(bytes);
    const read = await send('GET', path, { range });
    expect(read.status).toBe(416);
    expect(read.headers['content-range']).toBe('bytes */1000');
    expect(read.json()).toMatchObject({ status: 'error' });
  });

  test.each(['bytes=5-2', 'lines=0-1', 'bytes=a-b', 'bytes=0-1,5-6'])('%s: all bytes', async (range) => {
    const { path } = await stored(bytes);
    const read = await send('GET', path, { range });
    expect([read.status, read.bytes.equals(bytes)]).toEqual([200, true]);
  });

  test('a range of an output without bytes: 416', async () => {
    const { path } = await stored(Buffer.alloc(0));
    expect((await send('GET', path, { range: 'bytes=0-' })).status).toBe(416);
  });

  test('If-Range of other bytes: all bytes', async () => {
    const { path, tag } = await stored(bytes);
    const other = await send('GET', path, { range: 'bytes=0-1', 'if-range': '"other"' });
    expect([other.status, other.bytes.length]).toEqual([200, 1000]);
    const same = await send('GET', path, { range: 'bytes=0-1', 'if-range': tag });
    expect([same.status, same.bytes.length]).toEqual([206, 2]);
  });
});

describe('conditions, HEAD, headers', () => {
  test('If-None-Match with the tag: 304 without bytes', async () => {
    const { path, latest, tag } = await stored(Buffer.from('hello'));
    for (const address of [path, latest]) {
      for (const value of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const read = await send('GET', address, { 'if-none-match': value });
        expect([read.status, read.bytes.length, read.headers.etag]).toEqual([304, 0, tag]);
      }
      expect((await send('GET', address, { 'if-none-match': '"other"' })).status).toBe(200);
    }
  });

  test('HEAD has the headers of GET and no bytes', async () => {
    const { path, latest } = await stored(Buffer.from('{"a":1}'), { 'content-type': 'text/csv' });
    for (const address of [path, latest]) {
      const got = await send('GET', address);
      const head = await send('HEAD', address);
      const comparable = ({ date: _date, 'x-request-id': _id, ...rest }: Record<string, unknown>) => rest;
      expect(head.status).toBe(200);
      expect(comparable(head.headers)).toEqual(comparable(got.headers));
      expect(head.bytes.length).toBe(0);
    }
    expect((await send('HEAD', '/api/v2/node-instance/outputs/999999/data')).status).toBe(404);
  });

  test('HEAD ignores Range, also one that is outside: its headers are those of all bytes', async () => {
    const { path, latest } = await stored(Buffer.from('hello'));
    for (const address of [path, latest]) {
      for (const range of ['bytes=1-2', 'bytes=50-']) {
        const { status, headers } = await send('HEAD', address, { range });
        expect([status, headers['content-length'], headers['content-range']]).toEqual([200, '5', undefined]);
        expect(headers['accept-ranges']).toBe('bytes');
      }
    }
  });

  test('no browser runs an uploaded file', async () => {
    const { path } = await stored(Buffer.from('<script>alert(1)</script>'), { 'content-type': 'text/html' });
    const { headers } = await send('GET', path);
    expect(headers['content-type']).toBe('text/html');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toContain('sandbox');
    expect(headers['content-disposition']).toMatch(/^attachment/);
  });
});

describe('missing data', () => {
  test.each(['0', 'abc', '99999999', '-3', 'latest'])('output %s: 404', async (id) => {
    const read = await send('GET', `/api/v2/node-instance/outputs/${id}/data`);
    expect([read.status, read.json()]).toEqual([404, error('Node output not found.')]);
  });

  test('a node without outputs, or no node: the documented messages', async () => {
    const { nodeId } = await makeNode();
    for (const id of [nodeId, 99999999, 'abc']) {
      const list = await send('GET', `/api/v2/node-instance/${id}/outputs`);
      expect([list.status, list.json()]).toEqual([404, error('Node instance or outputs not found.')]);
      const latest = await send('GET', `/api/v2/node-instance/${id}/outputs/latest/data`);
      expect([latest.status, latest.json()]).toEqual([
        404,
        error('Node instance not found, or it has no output yet.'),
      ]);
    }
  });

  test('an output that is only staged is not seen', async () => {
    const { id, nodeId, path, latest } = await stored(Buffer.from('x'));
    await database.query('update node_output set position = null where id = $1', [id]);
    expect((await send('GET', path)).status).toBe(404);
    expect((await send('GET', latest)).status).toBe(404);
    expect((await send('GET', `/api/v2/node-instance/${nodeId}/outputs`)).status).toBe(404);
  });

  test('a store that is down or lost the object gives a clean error, not half a response', async () => {
    const gone = await stored(Buffer.from('x'), { 'content-type': 'text/csv' });
    await database.query(`update node_output set object_key = 'outputs/none' where id = $1`, [gone.id]);
    const logged = vi.spyOn(api.composed.services.log, 'error');
    onTestFinished(() => logged.mockRestore());
    const missing = await send('GET', gone.path, { range: 'bytes=0-0' });
    expect([missing.status, missing.json()]).toEqual([404, error('Node output not found.')]);
    // The operator has no other sign of it.
    expect(logged).toHaveBeenCalledWith(
      expect.objectContaining({ objectKey: 'outputs/none' }),
      'the bytes of an output are missing',
    );
    await database.query(
      `with source as (
         insert into data_source (name, endpoint, bucket, access_key_id) values ('gone', 'http://127.0.0.1:1', 'b', 'a')
         returning id)
       update node_output set data_source_id = source.id from source where node_output.id = $1`,
      [gone.id],
    );
    for (const address of [gone.path, gone.latest]) {
      const down = await send('GET', address);
      expect([down.status, down.json()]).toEqual([502, error('An upstream service failed.')]);
      expect(down.headers['content-type']).toMatch(/^application\/json/);
      expect(down.headers.etag).toBeUndefined();
    }
  });
});

describe('latest', () => {
  const cases: [string, Buffer, Record<string, string>, string][] = [
    ['an object', Buffer.from(' {"a": [1]}\n'), { 'content-type': 'text/plain' }, 'application/json'],
    ['a number', Buffer.from('12'), {}, 'application/json'],
    ['a csv', Buffer.from('a,b\n1,2\n'), { 'content-type': 'text/csv' }, 'application/octet-stream'],
    [
      'called JSON and is none',
      Buffer.from('{"a":'),
      { 'content-type': 'application/json' },
      'application/octet-stream',
    ],
    ['JSON that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 'application/octet-stream'],
    ['nothing', Buffer.alloc(0), { 'content-type': 'application/json' }, 'application/octet-stream'],
    ['exactly 4 MB', Buffer.from(`"${'a'.repeat(4 * mebibyte - 2)}"`), {}, 'application/json'],
    ['a byte above 4 MB', Buffer.from(`"${'a'.repeat(4 * mebibyte - 1)}"`), {}, 'application/octet-stream'],
    ['gzip of an object', gzipSync('{"a":1}'), { 'content-encoding': 'gzip' }, 'application/json'],
    [
      'gzip of 4 MB',
      gzipSync(`"${'a'.repeat(4 * mebibyte - 2)}"`),
      { 'content-encoding': 'gzip' },
      'application/json',
    ],
    [
      'gzip of more than 4 MB',
      gzipSync(`"${'a'.repeat(40 * mebibyte)}"`),
      { 'content-encoding': 'gzip' },
      'application/octet-stream',
    ],
  ];
  test.each(cases)('%s', async (_name, bytes, headers, contentType) => {
    const { latest } = await stored(bytes, headers);
    for (let round = 0; round < 2; round += 1) {
      const read = await send('GET', latest, { 'accept-encoding': 'gzip' });
      expect(read.headers['content-type']).toBe(contentType);
      expect(read.bytes.equals(bytes)).toBe(true);
    }
  });

  test('many at once are all answered', async () => {
    const { latest } = await stored(Buffer.from(`[${'1,'.repeat(100_000)}1]`));
    const reads = await Promise.all(Array.from({ length: 20 }, () => send('HEAD', latest)));
    expect(reads.every((read) => read.headers['content-type'] === 'application/json')).toBe(true);
  });

  test('bytes wrongly marked gzip: unchanged for callers that accept gzip, else a plain error', async () => {
    const { path, latest } = await stored(Buffer.from('no gzip at all'), { 'content-encoding': 'gzip' });
    for (const address of [path, latest]) {
      expect((await send('GET', address, { 'accept-encoding': 'gzip' })).bytes.toString()).toBe(
        'no gzip at all',
      );
      const refused = await send('GET', address);
      expect(refused.status).toBe(502);
      expect(refused.headers['content-encoding']).toBeUndefined();
      expect(refused.json()).toMatchObject({ status: 'error', message: expect.stringContaining('gzip') });
    }
  });
});

describe('a slice of a bundled object', () => {
  test('is served as if it were an object of its own', async () => {
    const bundle = randomBytes(1000);
    const { id, path, latest } = await stored(bundle);
    await database.query('update node_output set object_offset = 100, size_bytes = 50 where id = $1', [id]);
    const slice = bundle.subarray(100, 150);
    for (const address of [path, latest]) {
      const whole = await send('GET', address);
      expect([whole.headers['content-length'], whole.bytes.equals(slice)]).toEqual(['50', true]);
      const part = await send('GET', address, { range: 'bytes=-10' });
      expect([part.headers['content-range'], part.bytes.equals(slice.subarray(40))]).toEqual([
        'bytes 40-49/50',
        true,
      ]);
    }
  });

  test('may be empty', async () => {
    const { id, path } = await stored(randomBytes(10));
    await database.query('update node_output set object_offset = 10, size_bytes = 0 where id = $1', [id]);
    expect((await send('GET', path)).bytes.length).toBe(0);
    const end = await send('GET', path, { range: 'bytes=-5' });
    expect([end.status, end.bytes.length]).toEqual([200, 0]);
    expect((await send('GET', path, { range: 'bytes=0-' })).status).toBe(416);
  });
});
