import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  newOutputKey,
  ObjectTooLarge,
  openObjectStore,
  SourceBroken,
} from '../../../store/objects/object-store.ts';
import { s3Client } from '../../support/bucket.ts';
import { testEnvironment } from '../../support/stack.ts';

const platform = await testEnvironment();
const access = { ...platform.s3, prefix: 'some/prefix', forcePathStyle: true };
const store = openObjectStore(access);
const client = s3Client(platform.environment);
afterAll(() => {
  store.close();
  client.destroy();
});
const mebibyte = 1024 * 1024;
const never = new AbortController().signal;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A stream of the bytes in pieces of a size, at a pace. */
function pieces(bytes: Buffer, pieceBytes = 65_536, pauseMs = 0): Readable {
  async function* generate() {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (pauseMs > 0) await sleep(pauseMs);
      yield bytes.subarray(at, at + pieceBytes);
    }
  }
  return Readable.from(generate(), { objectMode: false });
}

async function leftInBucket(): Promise<{ objects: string[]; uploads: string[] }> {
  const objects = await client.send(new ListObjectsV2Command({ Bucket: platform.s3.bucket }));
  const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket: platform.s3.bucket }));
  return {
    objects: (objects.Contents ?? []).map((object) => object.Key ?? ''),
    uploads: (uploads.Uploads ?? []).map((upload) => upload.Key ?? ''),
  };
}

describe('bytes are returned unchanged', () => {
  const cases: [string, number, number, boolean][] = [
    ['nothing, declared', 0, 65_536, true],
    ['nothing, undeclared', 0, 65_536, false],
    ['one byte', 1, 1, false],
    ['10 KB in odd pieces', 10_240, 333, true],
    ['exactly one part, declared', 8 * mebibyte, 65_536, true],
    ['exactly one part, undeclared', 8 * mebibyte, 65_536, false],
    ['one byte more than a part, undeclared', 8 * mebibyte + 1, 60_000, false],
    ['20 MB declared, in one request', 20 * mebibyte, 65_536, true],
    ['20 MB undeclared, in parts', 20 * mebibyte + 7, 50_001, false],
  ];
  test.each(cases)('%s', async (_name, size, pieceBytes, isDeclared) => {
    const bytes = randomBytes(size);
    const key = newOutputKey();
    const counted: number[] = [];
    const result = await store.put(key, pieces(bytes, pieceBytes), {
      declaredBytes: isDeclared ? size : null,
      withMd5: true,
      signal: never,
      onBytes: (count) => counted.push(count),
    });
    expect(result).toMatchObject({ sizeBytes: size, sha256: sha256(bytes) });
    expect(result.md5).toBe(createHash('md5').update(bytes).digest('hex'));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(size);
    const read = await store.get(key);
    expect(read.sizeBytes).toBe(size);
    expect((await buffer(read.stream)).equals(bytes)).toBe(true);
    if (size > 10) {
      const part = await store.get(key, { range: { start: 3, end: 9 } });
      expect((await buffer(part.stream)).equals(bytes.subarray(3, 10))).toBe(true);
    }
    await store.delete(key);
    expect(await store.exists(key)).toBe(false);
    expect(await leftInBucket()).toEqual({ objects: [], uploads: [] });
  });

  test('a slow declared source goes in parts, so that no request to the store waits for it', async () => {
    const bytes = randomBytes(9 * mebibyte);
    const key = newOutputKey();
    const result = await store.put(key, pieces(bytes, 128 * 1024, 35), {
      declaredBytes: bytes.length,
      signal: never,
    });
    // The tag of an object that was made of parts.
    expect(result.etag).toMatch(/-2$/);
    expect((await buffer((await store.get(key)).stream)).equals(bytes)).toBe(true);
    await store.delete(key);
  });
});

describe('a source that fails leaves nothing', () => {
  const sizes = [0, 1000, 9 * mebibyte, 30 * mebibyte];
  test.each(sizes)('ends after %i bytes', async (size) => {
    for (const declaredBytes of [null, size + 1]) {
      async function* generate() {
        yield* pieces(randomBytes(size));
        throw new Error('line is dead');
      }
      const source = Readable.from(generate(), { objectMode: false });
      const put = store.put(newOutputKey(), source, { declaredBytes, signal: never });
      await expect(put).rejects.toThrow(SourceBroken);
    }
    expect(await leftInBucket()).toEqual({ objects: [], uploads: [] });
  });

  test.each([1000, 20 * mebibyte])('brings more than allowed (%i bytes)', async (maxBytes) => {
    const source = pieces(randomBytes(maxBytes + 1));
    await expect(store.put(newOutputKey(), source, { maxBytes, signal: never })).rejects.toThrow(
      ObjectTooLarge,
    );
    expect(source.destroyed).toBe(false);
    expect(await leftInBucket()).toEqual({ objects: [], uploads: [] });
  });

  test.each([null, 100 * mebibyte])('is aborted by its signal (declared: %s)', async (declaredBytes) => {
    const stop = new AbortController();
    let count = 0;
    const put = store.put(newOutputKey(), pieces(randomBytes(100 * mebibyte)), {
      declaredBytes,
      signal: stop.signal,
      onBytes(bytes) {
        count += bytes;
        if (count > 40 * mebibyte) stop.abort(new Error('enough'));
      },
    });
    await expect(put).rejects.toThrow('enough');
    await expect.poll(leftInBucket).toEqual({ objects: [], uploads: [] });
  });
});

test('parts of an unfinished upload are found only by their key', async () => {
  const { CreateMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  for (const Key of ['some/prefix/outputs/a', 'some/prefix/outputs/ab'])
    await client.send(new CreateMultipartUploadCommand({ Bucket: platform.s3.bucket, Key }));
  await store.abortUploads('outputs/a');
  expect((await leftInBucket()).uploads).toEqual(['some/prefix/outputs/ab']);
  await store.abortUploads('outputs/ab');
});

test('a missing object is reported as missing, and a failed download leaves no file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'objects-'));
  const path = join(folder, 'file');
  await expect(store.get('outputs/none')).rejects.toMatchObject({ kind: 'missing', httpStatus: 404 });
  await expect(store.download('outputs/none', path, { sizeBytes: 5 })).rejects.toMatchObject({
    kind: 'missing',
  });
  await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
  const key = newOutputKey();
  await store.put(key, pieces(Buffer.from('hello')), { signal: never });
  await store.download(key, path, { range: { start: 1, end: 3 }, sizeBytes: 3 });
  expect(await readFile(path, 'utf8')).toBe('ell');
  await store.delete(key);
  await rm(folder, { recursive: true });
});

describe('a store that misbehaves', () => {
  /** A store that gives these answers. */
  async function faulty(answerOf: (method: string, url: string) => [number, string]) {
    let calls = 0;
    const server: Server = createServer((request, response) => {
      calls += 1;
      const [status, body] = answerOf(request.method ?? '', request.url ?? '');
      request.resume();
      request.on('end', () => response.writeHead(status, { 'content-type': 'application/xml' }).end(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const through = openObjectStore({ ...access, endpoint: `http://127.0.0.1:${port}` });
    onTestFinished(() => {
      through.close();
      server.closeAllConnections();
      server.close();
    });
    return { through, calls: () => calls };
  }
  const errorXml =
    '<?xml version="1.0"?><Error><Code>InternalError</Code><Message>We failed.</Message></Error>';
  const startXml = '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>';

  test.each([errorXml, `${errorXml}\n`])(
    'a completion that answers 200 with an error inside is a failure',
    async (xml) => {
      const store = await faulty((method, url) => {
        if (method === 'POST' && url.includes('uploads')) return [200, startXml];
        if (method === 'POST') return [200, xml];
        if (method === 'HEAD') return [404, ''];
        if (method === 'PUT') return [200, ''];
        return [204, ''];
      });
      const put = store.through.put('outputs/x', pieces(Buffer.alloc(9 * mebibyte)), { signal: never });
      await expect(put).rejects.toMatchObject({ name: 'ObjectStoreError', kind: 'failed' });
    },
  );

  test('one that refuses is reported as failed with its status, after retries', async () => {
    const store = await faulty(() => [503, errorXml]);
    const put = store.through.put('outputs/x', pieces(Buffer.from('abc')), { signal: never });
    await expect(put).rejects.toMatchObject({ kind: 'failed', httpStatus: 503 });
    // A direct put, and those of the SDK.
    expect(store.calls()).toBe(1 + 4);
  });

  test.each([
    ['more', 'abcdef', 'it sent more than the 5 bytes of the object.'],
    ['fewer', 'abc', 'it sent 3 of the 5 bytes of the object.'],
  ])('one that sends %s bytes than an object has fails, and leaves no file', async (_, sent, message) => {
    const folder = await mkdtemp(join(tmpdir(), 'objects-'));
    const store = await faulty(() => [200, sent]);
    const path = join(folder, 'file');
    await expect(store.through.download('x', path, { sizeBytes: 5 })).rejects.toThrow(
      `The object store failed: ${message}`,
    );
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });

  test('one that cannot be reached is reported as failed without a status', async () => {
    const nowhere = openObjectStore({ ...access, endpoint: 'http://127.0.0.1:1' });
    await expect(nowhere.put('x', pieces(Buffer.from('abc')), { signal: never })).rejects.toMatchObject({
      kind: 'failed',
      httpStatus: null,
    });
    nowhere.close();
  });
});

test('a streamed object has a connection of its own, since some stores leave the end of such a request unread', async () => {
  const sockets: [string, unknown][] = [];
  const server = createServer((request, response) => {
    sockets.push([request.method ?? '', request.socket]);
    request.resume().on('end', () => response.setHeader('etag', '"e"').end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const through = openObjectStore({ ...access, endpoint: `http://127.0.0.1:${port}` });
  for (let round = 0; round < 3; round += 1) {
    const bytes = Buffer.alloc(9 * mebibyte);
    await through.put('outputs/x', pieces(bytes), { declaredBytes: bytes.length, signal: never });
    await through.exists('outputs/x');
  }
  const own = sockets.filter(([method]) => method === 'PUT').map(([, socket]) => socket);
  const shared = new Set(sockets.filter(([method]) => method === 'HEAD').map(([, socket]) => socket));
  expect(new Set(own).size).toBe(3);
  expect(own.some((socket) => shared.has(socket))).toBe(false);
  through.close();
  server.closeAllConnections();
  server.close();
});

test('every call to the store succeeds although the clock steps by hours, there and back', async () => {
  const bytes = randomBytes(100);
  const key = newOutputKey();
  await store.put(key, pieces(bytes), { declaredBytes: bytes.length, signal: never });
  const calls: readonly (() => Promise<unknown>)[] = [
    () => store.put(newOutputKey(), pieces(bytes), { declaredBytes: bytes.length, signal: never }),
    async () => expect(await buffer((await store.get(key)).stream)).toEqual(bytes),
    async () => expect(await store.exists(key)).toBe(true),
    async () => expect((await store.list('outputs/', null)).objects.length).toBeGreaterThan(0),
    () => store.delete(newOutputKey()),
    () => store.probe(),
  ];
  vi.useFakeTimers({ toFake: ['Date'] });
  const now = Date.now();
  try {
    for (const call of calls)
      for (const hours of [1, -1, 0]) {
        vi.setSystemTime(now + hours * 3_600_000);
        await call();
      }
  } finally {
    vi.useRealTimers();
  }
});
