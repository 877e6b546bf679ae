import { createHash, randomBytes } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { DirectPuts, directBytesAtMost } from '../../../store/objects/direct-put.ts';
import { newOutputKey, type ObjectStore, openObjectStore } from '../../../store/objects/object-store.ts';
import { testEnvironment } from '../../support/stack.ts';

const platform = await testEnvironment();
const access = { ...platform.s3, prefix: 'direct', forcePathStyle: true };
const real = new URL(access.endpoint);
const never = new AbortController().signal;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** The real store, with what the SDK has sent and what came without it. @param answer in the store's place */
async function storeBehind(answer: (isDirect: boolean) => Answer | undefined) {
  const sent: ('direct' | 'SDK')[] = [];
  const server = createServer((request, response) => {
    const isDirect = !(request.headers['user-agent'] ?? '').includes('aws-sdk');
    if (request.method === 'PUT') sent.push(isDirect ? 'direct' : 'SDK');
    const own = request.method === 'PUT' ? answer(isDirect) : undefined;
    if (own !== undefined) return own(request, response);
    // With the host that the signature names.
    const { method, url: path, headers } = request;
    const onward = httpRequest(
      { host: real.hostname, port: real.port, method, path, headers },
      (answered) => {
        response.writeHead(answered.statusCode!, answered.headers);
        answered.pipe(response);
      },
    );
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const store = openObjectStore({ ...access, endpoint: `http://127.0.0.1:${port}` });
  ends.push(() => {
    store.close();
    server.closeAllConnections();
    server.close();
  });
  return { store, sent };
}

/** Puts bytes and reads them again. */
async function roundTrip(store: ObjectStore, sizeBytes: number): Promise<void> {
  const bytes = randomBytes(sizeBytes);
  const key = newOutputKey();
  const put = await store.put(key, Readable.from([bytes], { objectMode: false }), { signal: never });
  expect(put).toMatchObject({ sizeBytes, sha256: createHash('sha256').update(bytes).digest('hex') });
  expect(put.etag).toMatch(/^[0-9a-f]{32}$/);
  expect((await buffer((await store.get(key)).stream)).equals(bytes)).toBe(true);
}

test('small bytes reach the store without the SDK, and larger ones by it', async () => {
  const { store, sent } = await storeBehind(() => undefined);
  for (const sizeBytes of [0, 1, 1024, directBytesAtMost]) await roundTrip(store, sizeBytes);
  expect(sent).toEqual(['direct', 'direct', 'direct', 'direct']);
  await roundTrip(store, directBytesAtMost + 1);
  expect(sent.at(-1)).toBe('SDK');
});

const refused: Answer = (request, response) => {
  request.resume().on('end', () => response.writeHead(503).end());
};
const cut: Answer = (request) => request.socket.destroy();
const bare: Answer = (request, response) => {
  request.resume().on('end', () => response.writeHead(200).end());
};

test.each([
  ['refuses', refused],
  ['breaks the connection', cut],
  ['answers without an etag', bare],
])(
  'after a direct put to a store that %s the SDK puts the bytes, and alone for a while',
  async (_, fault) => {
    const { store, sent } = await storeBehind((isDirect) => (isDirect ? fault : undefined));
    await roundTrip(store, 100);
    await roundTrip(store, 100);
    expect(sent).toEqual(['direct', 'SDK', 'SDK']);
  },
);

test('a refusal on a kept connection leaves the store to the SDK too', async () => {
  const { store, sent } = await storeBehind((isDirect) =>
    isDirect && sent.length > 1 ? refused : undefined,
  );
  for (let round = 0; round < 3; round += 1) await roundTrip(store, 100);
  expect(sent).toEqual(['direct', 'direct', 'SDK', 'SDK']);
});

test('a kept connection that the store has closed costs one request by the SDK, and the next goes directly', async () => {
  let closes = 0;
  const { store, sent } = await storeBehind((isDirect) => {
    if (!isDirect || sent.length !== 2) return undefined;
    closes += 1;
    return cut;
  });
  for (let round = 0; round < 3; round += 1) await roundTrip(store, 100);
  expect([closes, sent]).toEqual([1, ['direct', 'direct', 'SDK', 'direct']]);
});

test('bytes for a caller who hung up are not stored, and the store is still put to directly afterwards', async () => {
  const caller = new AbortController();
  let hangUp = true;
  const { store, sent } = await storeBehind((isDirect) => {
    if (!isDirect || !hangUp) return undefined;
    caller.abort(new Error('The caller hung up.'));
    return () => undefined;
  });
  const source = Readable.from([randomBytes(100)], { objectMode: false });
  await expect(store.put(newOutputKey(), source, { signal: caller.signal })).rejects.toThrow();
  hangUp = false;
  await roundTrip(store, 100);
  expect(sent).toEqual(['direct', 'direct']);
});

test.each(['a key', 'a/../b', 'a//b', './a', 'ä'])(
  'the key %j, which stores may read in several ways, is left to the SDK',
  async (key) => {
    const puts = DirectPuts.to(access, { inside: true })!;
    const object = { bucket: access.bucket, bytes: Buffer.alloc(1), sha256: '0'.repeat(64), signal: never };
    expect(await puts.put({ ...object, key })).toBe(undefined);
    puts.close();
  },
);

test.each([
  ['the identity of the machine', { usesOwnIdentity: true }],
  ['addresses with the bucket in the host', { forcePathStyle: false }],
  ['a path in its endpoint', { endpoint: `${access.endpoint}/base` }],
])('a store with %s is left to the SDK', (_, change) => {
  expect(DirectPuts.to({ ...access, ...change }, { inside: true })).toBe(undefined);
  expect(DirectPuts.to(access, { inside: true })).not.toBe(undefined);
});

test('an address that may not be reached is never connected to', async () => {
  const puts = DirectPuts.to(access, { inside: false })!;
  const object = {
    bucket: access.bucket,
    key: 'x',
    bytes: Buffer.alloc(1),
    sha256: '0'.repeat(64),
    signal: never,
  };
  expect(await puts.put(object)).toBe(undefined);
  puts.close();
});
