/** What a hostile or broken peer can do to the server with bytes alone: framing, slowness, numbers. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineRoute } from '../../api/route.ts';
import { access } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { type ReaderLimits, watchReader } from '../../http/server/slow-reader.ts';
import { ask, startTestApi, type TestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';
import { count } from './count-route.ts';

const platform = await testEnvironment();
const tags = ['Test'];
let underWay = 0;
let seconds = 0;
const second = defineRoute({
  id: 'second',
  method: 'GET',
  path: '/second',
  summary: 'Counts who came',
  tags,
  access: access.open,
  responses: { 204: { description: 'Counted.' } },
  handler() {
    seconds += 1;
    return { status: 204 };
  },
});
const waits = defineRoute({
  id: 'waits',
  method: 'GET',
  path: '/waits',
  summary: 'Waits until the caller or the server goes',
  tags,
  access: access.open,
  responses: { 204: { description: 'Gone.' } },
  async handler({ signal, shutdown }) {
    underWay += 1;
    await new Promise((resolve) => {
      AbortSignal.any([signal, shutdown]).addEventListener('abort', resolve);
    });
    underWay -= 1;
    return { status: 204 };
  },
});

let api: TestApi;
let overTls: TestApi;
beforeAll(async () => {
  const routes = [count, second, waits];
  api = await startTestApi(platform.environment, { routes });
  overTls = await startTestApi(
    { ...platform.environment, PUBLIC_URL: 'https://platform.example.org' },
    { routes },
  );
});
afterAll(() => Promise.all([api.stop(), overTls.stop()]));

function open(port = api.server.port): { readonly socket: Socket; readonly received: () => string } {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      // The start of an endless reply is enough: a fast machine sends more than a string can hold.
      if (text.length < 65_536) text += chunk.toString('latin1');
    });
  return { socket, received: () => text };
}

/** However it ends: a reset is an end too. */
const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

/** Sends raw bytes and resolves with all that comes back until the server closes. */
async function raw(text: string): Promise<string> {
  const { socket, received } = open();
  socket.end(text, 'latin1');
  await closed(socket);
  return received();
}

describe('a body with an ambiguous end', () => {
  const start = 'POST /count HTTP/1.1\r\nHost: x\r\n';
  const forms: [string, string][] = [
    ['length and chunked', `${start}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunked and length', `${start}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${start}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef`],
    ['the same length twice', `${start}Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde`],
    ['a list of lengths', `${start}Content-Length: 5, 5\r\n\r\nabcde`],
    ['a length with a sign', `${start}Content-Length: +5\r\n\r\nabcde`],
    ['a length in hexadecimal', `${start}Content-Length: 0x5\r\n\r\nabcde`],
    ['an unknown coding', `${start}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a coding that nobody undoes', `${start}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['chunked, then another', `${start}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['two codings', `${start}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a space before the colon', `${start}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
    ['a control character', `${start}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
    ['chunks in HTTP/1.0', 'POST /count HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['line feeds alone', 'POST /count HTTP/1.1\nHost: x\nContent-Length: 3\n\nabc'],
    ['a folded line', `${start}A: b\r\n Content-Length: 3\r\n\r\nabc`],
    ['a return within a line', `${start}A: b\rContent-Length: 3\r\n\r\nabc`],
    ['a chunk size with a sign', `${start}Transfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n`],
    ['chunks that end in line feeds', `${start}Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n`],
    ['a length in the trailer', `${start}Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n`],
  ];
  test.each(forms)('is refused, and the bytes after it are no request: %s', async (_form, text) => {
    seconds = 0;
    const answer = await raw(`${text}GET /second HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n');
    expect(seconds).toBe(0);
  });

  test('is read to its one end when there is one, and the next request behind it', async () => {
    const chunked = `${start}Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    const answer = await raw(`${chunked}${start}Content-Length: 2\r\nConnection: close\r\n\r\nab`);
    expect(answer.match(/\{"bytes":\d\}/g)).toEqual(['{"bytes":3}', '{"bytes":2}']);
  });
});

describe('numbers', () => {
  test('of header fields are bounded as their bytes are', async () => {
    const request = (fields: number) =>
      raw(`GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a:b\r\n'.repeat(fields - 2)}\r\n`);
    expect(await request(limits.headerFields)).toMatch(/^HTTP\/1\.1 404 /);
    for (const fields of [limits.headerFields + 1, 3000, 7000])
      expect(await request(fields)).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('of requests that are sent ahead of their answers are bounded for each connection', async () => {
    const most = limits.requestsAtOncePerConnection;
    const ahead = (path: string, requests: number) =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(requests);
    const answers = await raw(ahead('/nothing', most));
    expect(answers.match(/HTTP\/1\.1 404 /g)).toHaveLength(most);
    const greedy = open();
    greedy.socket.write(ahead('/waits', 5_000));
    await closed(greedy.socket);
    expect(greedy.received()).toBe('');
    await eventually('nothing of it goes on', () => underWay === 0);
  });

  test('of connections are bounded, and those that are open go on', async () => {
    const { server } = overTls.server;
    expect(server.maxConnections).toBe(limits.connections);
    const first = open(overTls.server.port);
    first.socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('the first is served', () => first.received().includes('404'));
    server.maxConnections = 1;
    const second = open(overTls.server.port);
    await closed(second.socket);
    expect(second.received()).toBe('');
    server.maxConnections = limits.connections;
    first.socket.end('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('the first goes on', () => first.received().match(/HTTP\/1\.1 404/g)?.length === 2);
  });
});

describe.concurrent('slowness', () => {
  test('of headers, or of a caller who says nothing at all, ends the connection', async () => {
    const { server } = api.server;
    expect(server.headersTimeout).toBe(limits.headersTimeoutSeconds * 1000);
    server.headersTimeout = 200;
    const silent = open();
    const dripping = open();
    dripping.socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => dripping.socket.write('a: b\r\n'), 50);
    await Promise.all([closed(silent.socket), closed(dripping.socket)]);
    clearInterval(drip);
    server.headersTimeout = limits.headersTimeoutSeconds * 1000;
    expect(dripping.received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  /** The product's rule, in a hundredth of its time. */
  const slow: ReaderLimits = { bytesPerSecond: 1024 * 1024, seconds: 0.4 };

  async function serveEndless(reader = slow): Promise<{
    readonly port: number;
    readonly seen: { given: number; ended: boolean };
    readonly stop: () => void;
  }> {
    const seen = { given: 0, ended: false };
    const block = Buffer.alloc(64 * 1024);
    const server = createServer((_request, response) => {
      watchReader(response, reader);
      const endless = new Readable({
        read() {
          seen.given += block.length;
          this.push(block);
        },
      });
      response.once('close', () => {
        seen.ended = true;
        endless.destroy();
      });
      endless.pipe(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: (server.address() as AddressInfo).port,
      seen,
      stop() {
        server.closeAllConnections();
        server.close();
      },
    };
  }

  test('of a reader who reads nothing ends the reply, and little is buffered', async () => {
    const { port, seen, stop } = await serveEndless();
    const { socket } = open(port);
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('the reply is given up', () => seen.ended);
    // Buffers of both kernels, and a few blocks of ours.
    expect(seen.given).toBeLessThan(32 * 1024 * 1024);
    stop();
  });

  test('of a reader who pauses and continues, or of an idle reply, ends nothing', async () => {
    // Longer than a busy machine may keep this process waiting.
    const reader = { ...slow, seconds: 2 };
    const { port, seen, stop } = await serveEndless(reader);
    const { socket } = open(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let turns = 0;
    const turn = setInterval(() => {
      turns += 1;
      if (turns % 2 === 0) socket.pause();
      else socket.resume();
    }, 50);
    const quiet = open();
    quiet.socket.write('GET /waits HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('four windows are over', () => turns * 50 > 4 * reader.seconds * 1000);
    clearInterval(turn);
    expect([seen.ended, quiet.socket.destroyed]).toEqual([false, false]);
    quiet.socket.destroy();
    socket.destroy();
    stop();
  });
});

describe('headers of a reply', () => {
  const headersOf = async (url: string, headers: Record<string, string> = {}) =>
    Object.fromEntries((await ask(url, 'GET', '/nothing', { headers })).headers);

  test('let no page of elsewhere frame, embed, open or read it, and no cache keep it', async () => {
    const headers = await headersOf(api.url, { origin: 'https://elsewhere.example.org' });
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('server');
  });

  test('refuse requests of other origins: a preflight is refused', async () => {
    const preflight = await ask(api.url, 'OPTIONS', '/count', {
      headers: { origin: 'https://elsewhere.example.org', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(405);
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  test('require TLS of browsers only if the public address has it', async () => {
    expect(await headersOf(overTls.url)).toMatchObject({
      'strict-transport-security': 'max-age=31536000',
    });
    expect(await headersOf(api.url)).not.toHaveProperty('strict-transport-security');
  });
});
