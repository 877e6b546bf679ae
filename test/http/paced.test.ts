import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { paced, turnBytes } from '../../http/bodies/paced.ts';

const chunkBytes = 64 * 1024;

/** Bytes that are all there at once. */
const ready = (chunks: number, byte = 1) =>
  Readable.from(
    Array.from({ length: chunks }, () => Buffer.alloc(chunkBytes, byte)),
    { objectMode: false },
  );

test('many downloads that are ready at once leave turns to other calls, and each gets its own bytes', async () => {
  let sent = 0;
  const reads = Array.from({ length: 40 }, (_, n) => {
    const stream = paced(ready(32, n));
    stream.on('data', (chunk: Buffer) => (sent += chunk.length));
    return buffer(stream);
  });
  let isDone = false;
  const read = Promise.all(reads).finally(() => (isDone = true));
  let most = 0;
  for (let before = 0; !isDone; before = sent) {
    await nextTurn();
    most = Math.max(most, sent - before);
  }
  expect(most).toBeLessThanOrEqual(2 * turnBytes);
  for (const [n, bytes] of (await read).entries())
    expect(bytes.equals(Buffer.alloc(32 * chunkBytes, n))).toBe(true);
});

test('a store that breaks off ends the reply with its error, and a caller that leaves the read of the store', async () => {
  const broken = new PassThrough();
  broken.write('half');
  const reply = paced(broken);
  const read = buffer(reply);
  broken.destroy(new Error('reset'));
  await expect(read).rejects.toThrow('reset');
  const stored = ready(100);
  const left = paced(stored);
  left.once('data', () => left.destroy());
  await new Promise((resolve) => stored.once('close', resolve));
  expect(stored.destroyed).toBe(true);
});

test('a caller that does not read holds no more than a few chunks', async () => {
  let given = 0;
  const stored = new Readable({
    read() {
      given += 1;
      this.push(Buffer.alloc(chunkBytes));
    },
  });
  const reply = paced(stored);
  for (let turns = 0; turns < 50; turns += 1) await nextTurn();
  expect(given).toBeLessThanOrEqual(4);
  reply.destroy();
});
