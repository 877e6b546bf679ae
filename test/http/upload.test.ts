import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openBody, type SlowLimits } from '../../http/bodies/upload.ts';

/** The product's rule, in a hundredth of its time. */
const slow: SlowLimits = { bytesPerSecond: 1024, windowSeconds: 0.3 };
type Seen = { slow: number; failed: number; bytes: number };

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function start(sink: (seen: Seen) => Writable): Promise<{ seen: Seen; socket: Socket }> {
  const seen = { slow: 0, failed: 0, bytes: 0 };
  server = createServer((request, response) => {
    const onSlow = async () => {
      seen.slow += 1;
      response.writeHead(408).end();
    };
    pipeline(openBody(request, response, onSlow, slow), sink(seen)).then(
      () => response.end('done'),
      () => {
        seen.failed += 1;
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  return { seen, socket };
}

const counting = (seen: Seen) =>
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      seen.bytes += chunk.length;
      done();
    },
  });
const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
const text = (socket: Socket) => {
  let received = '';
  socket.on('data', (data) => {
    received += String(data);
  });
  return () => received;
};

describe('an upload', () => {
  test('that stays below the slowest speed for a whole window is answered 408 and cut', async () => {
    const { seen, socket } = await start(counting);
    const received = text(socket);
    socket.write(chunk(10));
    await expect.poll(() => seen.failed).toBe(1);
    expect(seen.slow).toBe(1);
    await expect.poll(received).toMatch(/^HTTP\/1.1 408 /);
    await expect.poll(() => socket.closed).toBe(true);
  });

  test('that is just fast enough goes on, however long it takes', async () => {
    const { seen, socket } = await start(counting);
    const received = text(socket);
    // Three times the limit, so that a busy machine does not make it slow.
    const timer = setInterval(() => socket.write(chunk(100)), 30);
    const startedAt = performance.now();
    const fourWindowsMs = 4 * slow.windowSeconds * 1000;
    await expect.poll(() => performance.now() - startedAt).toBeGreaterThan(fourWindowsMs);
    expect(seen.bytes).toBeGreaterThan(0);
    clearInterval(timer);
    socket.write('0\r\n\r\n');
    await expect.poll(received).toContain('done');
    expect([seen.slow, seen.failed]).toEqual([0, 0]);
  });

  test('is not aborted for time in which the server does not read', async () => {
    let release: () => void = () => undefined;
    const { seen, socket } = await start(
      (counted) =>
        new Writable({
          highWaterMark: 1,
          write(data: Buffer, _encoding, done) {
            counted.bytes += data.length;
            release = done;
          },
        }),
    );
    const received = text(socket);
    for (let index = 0; index < 20; index += 1) socket.write(chunk(1000));
    const startedAt = performance.now();
    await expect.poll(() => performance.now() - startedAt).toBeGreaterThan(1200);
    expect(seen.slow).toBe(0);
    socket.write('0\r\n\r\n');
    const timer = setInterval(() => release(), 1);
    await expect.poll(received).toContain('done');
    clearInterval(timer);
    expect(seen.bytes).toBe(20_000);
  });
});
