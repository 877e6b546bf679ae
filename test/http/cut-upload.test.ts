import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { createApp, routeSet } from '../../http/app.ts';
import { routeFactory } from '../../http/route.ts';
import { listen } from '../../http/server/server.ts';
import { createLog } from '../../telemetry/log.ts';
import { eventually } from '../support/eventually.ts';

const upload = routeFactory<null, never>()({
  id: 'takeBytes',
  method: 'POST',
  path: '/bytes',
  summary: 'Takes bytes',
  tags: ['Test'],
  access: access.open,
  body: 'stream',
  responses: { 200: { description: 'Taken.', schema: z.object({ bytes: z.int() }) } },
  async handler({ body }) {
    return { status: 200, body: { bytes: (await buffer(body.open())).length } };
  },
});

const endless = routeFactory<null, never>()({
  id: 'endless',
  method: 'GET',
  path: '/endless',
  summary: 'Replies without an end',
  tags: ['Test'],
  access: access.open,
  responses: { 200: { description: 'Bytes.', content: { 'application/octet-stream': {} } } },
  async handler() {
    const stream = new PassThrough();
    stream.write('some');
    return { status: 200, stream, headers: { 'content-type': 'application/octet-stream' } };
  },
});

const broken = routeFactory<null, never>()({
  id: 'broken',
  method: 'GET',
  path: '/broken',
  summary: 'Replies with a stream that breaks',
  tags: ['Test'],
  access: access.open,
  responses: { 200: { description: 'Bytes.', content: { 'application/octet-stream': {} } } },
  async handler() {
    const stream = new PassThrough();
    stream.write('some');
    stream.once('resume', () => setImmediate(() => stream.destroy()));
    return { status: 200, stream, headers: { 'content-type': 'application/octet-stream' } };
  },
});

/** More than a connection holds, so that the caller can leave while it has all been read. */
const bytes = Buffer.alloc(32 * 1024 * 1024);
const soonRead = routeFactory<null, never>()({
  id: 'soonRead',
  method: 'GET',
  path: '/soon-read',
  summary: 'Replies with a stream that ends before its bytes are sent',
  tags: ['Test'],
  access: access.open,
  responses: { 200: { description: 'Bytes.', content: { 'application/octet-stream': {} } } },
  handler: () => ({
    status: 200,
    stream: Readable.from([bytes], { objectMode: false }),
    headers: { 'content-type': 'application/octet-stream' },
  }),
});

const lines: string[] = [];
const errors = () => lines.filter((line) => JSON.parse(line).level === 'error');
const observed: [string, number][] = [];
const log = createLog({ service: 'test' }, 'info', { write: (line: string) => void lines.push(line) });
const shutdown = new AbortController();
const routes = routeSet([upload, endless, broken, soonRead], {
  services: null,
  identify: async () => null,
  responseChecks: 'strict',
});
const app = createApp({
  routeSets: [routes],
  log,
  shutdown: shutdown.signal,
  observe: (route, status) => void observed.push([route, status]),
});
const server = await listen(app.callback(), { port: 0, shutdown });
afterAll(() => server.stop(0));

test('an upload that its caller cuts is logged and counted as cut, not as a missing resource', async () => {
  const request = httpRequest(`${server.url}/bytes`, {
    method: 'POST',
    headers: { 'content-length': '1000' },
  });
  request.on('error', () => undefined);
  request.write('some');
  await eventually('the server has its connection', async () => {
    const count = await new Promise<number>((resolve) =>
      server.server.getConnections((_, open) => resolve(open)),
    );
    return count > 0;
  });
  request.destroy();
  const lineOfRequest = () => lines.find((line) => line.includes('"delivered"'));
  await eventually('the request is logged', async () => lineOfRequest() !== undefined);
  expect(JSON.parse(lineOfRequest()!)).toMatchObject({
    route: 'takeBytes',
    status: 499,
    delivered: false,
    msg: 'request aborted by its caller',
  });
  expect(observed).toEqual([['takeBytes', 499]]);
  expect(errors()).toEqual([]);
});

async function expectLoggedAsCut(name = 'endless'): Promise<void> {
  const ofRoute = () => lines.map((line) => JSON.parse(line)).filter(({ route }) => route === name);
  await eventually('the request is logged', async () => ofRoute().length === 1);
  for (const line of ofRoute()) expect(line).toMatchObject({ delivered: false });
  expect(errors()).toEqual([]);
}

test('a reply whose caller leaves is logged as cut, and as no error of the platform', async () => {
  const leaving = new AbortController();
  const reply = await fetch(`${server.url}/endless`, { signal: leaving.signal });
  await reply.body!.getReader().read();
  leaving.abort();
  await expectLoggedAsCut();
});

test('a reply whose caller resets the connection is logged as cut, and as no error of the platform', async () => {
  lines.length = 0;
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET /endless HTTP/1.1\r\nHost: here\r\n\r\n');
  await once(socket, 'data');
  socket.resetAndDestroy();
  await expectLoggedAsCut();
});

test('a reply that is reset after its stream was read is logged as cut, and as no error of the platform', async () => {
  lines.length = 0;
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET /soon-read HTTP/1.1\r\nHost: here\r\n\r\n');
  await once(socket, 'data');
  socket.resetAndDestroy();
  await expectLoggedAsCut('soonRead');
});

test('a reply whose own stream breaks off is logged as an error', async () => {
  lines.length = 0;
  const reply = await fetch(`${server.url}/broken`);
  await expect(reply.arrayBuffer()).rejects.toThrow();
  await eventually('the error is logged', async () => errors().length > 0);
  expect(errors().map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'app error', route: 'broken', err: { code: 'ERR_STREAM_PREMATURE_CLOSE' } },
  ]);
});
