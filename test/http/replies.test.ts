import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineRoute } from '../../api/route.ts';
import { access } from '../../domain/access/access.ts';
import { downloadResponses, serveBytes } from '../../http/bodies/download.ts';
import { ask, startedApi, startTestApi } from '../support/api.ts';

const tags = ['Test'];
const stored = Buffer.from('0123456789');
const download = defineRoute({
  id: 'download',
  method: 'GET',
  path: '/download/{name}',
  summary: 'Serves bytes',
  tags,
  access: access.open,
  params: z.object({ name: z.enum(['plain', 'gzip', 'broken']) }),
  responses: downloadResponses,
  errors: ['rangeNotSatisfiable'],
  handler({ params: { name }, request }) {
    const bytes = name === 'gzip' ? gzipSync(stored) : stored;
    return serveBytes({
      requestHeaders: request.headers,
      sizeBytes: bytes.length,
      etag: 'abc',
      contentType: 'text/html\r\nx: y',
      contentEncoding: name === 'gzip' ? 'gzip' : null,
      fileName: 'é"\r\n.csv',
      async open(range) {
        if (name === 'broken') return brokenStream();
        return Readable.from([range === null ? bytes : bytes.subarray(range.start, range.end + 1)]);
      },
    });
  },
});
/** The calls that began to wait. */
const waiting: string[] = [];
const settled: boolean[] = [];
const waits = defineRoute({
  id: 'waits',
  method: 'GET',
  path: '/waits',
  summary: 'Waits until the caller or the server goes',
  tags,
  access: access.open,
  responses: { 204: { description: 'Gone.' } },
  async handler({ signal, shutdown }) {
    await new Promise((resolve) => {
      AbortSignal.any([signal, shutdown]).addEventListener('abort', resolve);
      waiting.push('waits');
    });
    return { status: 204, settled: (delivered) => void settled.push(delivered) };
  },
});

const streams: Readable[] = [];
/** Gives a stream that is read by its reply alone. */
const streamed = defineRoute({
  id: 'streamed',
  method: 'GET',
  path: '/streamed/{how}',
  summary: 'Replies with a stream',
  tags,
  access: access.open,
  params: z.object({ how: z.enum(['late', 'undeclared', 'header', 'fails', 'unsettled']) }),
  responses: { 200: { description: 'Bytes.', media: 'text/plain' } },
  async handler({ params: { how }, signal }) {
    if (how === 'late') {
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
        waiting.push('late');
      });
    }
    const stream = new PassThrough();
    streams.push(stream);
    if (how === 'fails' || how === 'unsettled') stream.destroy(new Error('the store went away'));
    const headers = how === 'header' ? { 'x-broken': 'a\r\nb' } : {};
    const settle = async () => {
      if (how === 'unsettled') throw new Error('the database went away');
    };
    return { status: (how === 'undeclared' ? 201 : 200) as 200, stream, headers, settled: settle };
  },
});

function brokenStream(): Readable {
  const stream = new PassThrough();
  stream.write('0123');
  setImmediate(() => stream.destroy(new Error('the store went away')));
  return stream;
}

const { api, platform } = await startedApi({
  routes: [download, waits, streamed],
});

describe('stored bytes', () => {
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    ask(api.url, method, `/download/${path}`, { headers });

  test('are served with headers that keep a browser from running them', async () => {
    const { status, headers, body } = await get('plain');
    expect([status, body]).toEqual([200, '0123456789']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '10',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^sandbox/),
      'content-disposition': expect.stringMatching(
        /^attachment; filename="[\w.()_ -]+"; filename\*=UTF-8''[\w%.]+$/,
      ),
      etag: '"abc"',
      'accept-ranges': 'bytes',
    });
  });

  test('honour one range, with 416 outside, and ignore what is no single range', async () => {
    const ranges: [string, number, string][] = [
      ['bytes=0-0', 206, '0'],
      ['bytes=2-', 206, '23456789'],
      ['bytes=-3', 206, '789'],
      ['bytes=-11', 206, '0123456789'],
      ['bytes=-9007199254740993', 206, '0123456789'],
      ['bytes=8-99', 206, '89'],
      ['bytes=0-1,3-4', 200, '0123456789'],
      ['bytes=5-2', 200, '0123456789'],
      ['bytes= 2 - 4 ', 206, '234'],
      ['bytes=2 3-4', 200, '0123456789'],
      [`bytes=${' '.repeat(5_000)}-${' '.repeat(5_000)}x`, 200, '0123456789'],
      ['items=0-1', 200, '0123456789'],
    ];
    for (const [range, status, body] of ranges) {
      const answer = await get('plain', { range });
      expect([range, answer.status, answer.body]).toEqual([range, status, body]);
    }
    expect((await get('plain', { range: 'bytes=2-3' })).headers.get('content-range')).toBe('bytes 2-3/10');
    const outside = await get('plain', { range: 'bytes=10-' });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    expect((await get('plain', { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
    expect((await get('plain', { range: 'bytes=0-1', 'if-range': '"abc"' })).status).toBe(206);
  });

  test('answer 304 to callers with a current copy, and HEAD without a body', async () => {
    for (const tag of ['"abc"', 'W/"abc"', '"x", "abc"', '*']) {
      expect((await get('plain', { 'if-none-match': tag })).status).toBe(304);
    }
    expect((await get('plain', { 'if-none-match': '"x"' })).status).toBe(200);
    const head = await get('broken', {}, 'HEAD');
    expect([head.status, head.body, head.headers.get('content-length')]).toEqual([200, '', '10']);
  });

  test('stored as gzip are sent unchanged to callers that accept it, else decoded', async () => {
    const packed = await get('gzip', { 'accept-encoding': 'gzip' });
    expect([packed.headers.get('content-encoding'), packed.body]).toEqual(['gzip', '0123456789']);
    for (const accepted of ['identity', 'gzip;q=0', '']) {
      const plain = await get('gzip', { 'accept-encoding': accepted, range: 'bytes=0-1' });
      expect([plain.status, plain.headers.get('content-encoding'), plain.body]).toEqual([
        200,
        null,
        '0123456789',
      ]);
      expect(plain.headers.get('accept-ranges')).toBeNull();
    }
  });

  test('that end early break the connection, so that a partial response is not mistaken for a whole one', async () => {
    await expect(get('broken')).rejects.toThrow();
  });
});

describe('the stream of a reply', () => {
  test('is closed when the caller disconnects before it is sent', async () => {
    const controller = new AbortController();
    const request = fetch(`${api.url}/streamed/late`, { signal: controller.signal });
    await expect.poll(() => waiting).toContain('late');
    controller.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => streams.at(-1)?.destroyed).toBe(true);
  });

  test.for(['undeclared', 'header'])('is closed when the reply is refused: %s', async (how) => {
    expect((await ask(api.url, 'GET', `/streamed/${how}`)).status).toBe(500);
    expect(streams.at(-1)?.destroyed).toBe(true);
  });

  test('may have failed before it is sent: the caller gets the error, and the process continues', async () => {
    expect((await ask(api.url, 'GET', '/streamed/fails')).status).toBe(500);
  });

  test('that failed is answered by the common error also when its end cannot be recorded', async () => {
    const { status, body } = await ask(api.url, 'GET', '/streamed/unsettled');
    expect([status, body]).toEqual([500, { status: 'error', message: expect.any(String) }]);
  });
});

describe('a waiting request', () => {
  test('learns that its caller hung up, and that its reply was not delivered', async () => {
    const controller = new AbortController();
    const request = fetch(`${api.url}/waits`, { signal: controller.signal });
    await expect.poll(() => waiting).toContain('waits');
    controller.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => settled).toEqual([false]);
  });

  test('is answered when the server starts to stop, which then ends', async () => {
    const own = await startTestApi(platform.environment, { routes: [waits] });
    waiting.length = 0;
    const answer = fetch(`${own.url}/waits`);
    await expect.poll(() => waiting).toEqual(['waits']);
    const idle = await fetch(`${own.url}/nothing`);
    await idle.text();
    await own.stop();
    expect((await answer).status).toBe(204);
    expect(settled.at(-1)).toBe(true);
    await expect(fetch(own.url)).rejects.toThrow();
  });
});
