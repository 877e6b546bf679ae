import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { DataSourceRow } from '../../../store/objects/data-sources.ts';
import { PendingObjects } from '../../../store/objects/held-objects.ts';
import { completeMultipart } from '../../../store/objects/multipart.ts';
import { newOutputKey, type ObjectStore, openObjectStore } from '../../../store/objects/object-store.ts';
import type { ObjectStores } from '../../../store/objects/object-stores.ts';
import { putPart } from '../../../store/objects/put-part.ts';
import { eventually } from '../../support/eventually.ts';
import { testEnvironment } from '../../support/stack.ts';

const { s3 } = await testEnvironment();
const access = { ...s3, prefix: 'silent', forcePathStyle: true };
const never = new AbortController().signal;
const mebibyte = 1024 ** 2;
const bytesOf = (size: number) => Readable.from([randomBytes(size)], { objectMode: false });

let requests = 0;
const server = createServer((request) => {
  requests += 1;
  request.resume();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const silent = openObjectStore({ ...access, endpoint: `http://127.0.0.1:${port}` });
const real = openObjectStore(access);
afterAll(() => {
  silent.close();
  real.close();
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  requests = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => vi.useRealTimers());

describe('a store that takes requests and answers none is away within a minute', () => {
  const calls: Record<string, (store: ObjectStore) => Promise<unknown>> = {
    'for a small object': (store) => store.put('outputs/x', bytesOf(mebibyte), { signal: never }),
    'for an object of parts': (store) => store.put('outputs/x', bytesOf(9 * mebibyte), { signal: never }),
    'for an object that is passed on': (store) =>
      store.put('outputs/x', bytesOf(9 * mebibyte), { declaredBytes: 9 * mebibyte, signal: never }),
    'for a part of a runner': (store) =>
      putPart(store.multipart('outputs/x'), 'upload', 1, bytesOf(mebibyte), {
        maxBytes: mebibyte,
        admit: async () => undefined,
        signal: never,
      }),
    'for the completion of a runner’s parts': (store) =>
      completeMultipart(
        store.multipart('outputs/x'),
        'upload',
        [{ number: 1, etag: 'etag' }],
        mebibyte,
        never,
      ),
    'for a reader': (store) => store.get('outputs/x'),
  };

  test.each(Object.entries(calls))('%s', async (_name, call) => {
    const failure = call(silent).catch((error: unknown) => error);
    await eventually('the store has the request', () => requests > 0, 20_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failure).toMatchObject({ name: 'ObjectStoreError', kind: 'failed', httpStatus: null });
  });
});

test('a caller whose object a silent store did not take has an answer soon after', async () => {
  const stores = { of: () => silent } as unknown as ObjectStores;
  const pending = new PendingObjects({ query: async () => [] }, stores);
  const put = () => silent.put('outputs/x', bytesOf(mebibyte), { signal: never });
  const object = { objectKey: 'outputs/x', dataSource: {} as DataSourceRow };
  let failure: unknown;
  pending
    .hold(object, put, () => true)
    .catch((error: unknown) => {
      failure = error;
    });
  await eventually('the store has the request', () => requests > 0, 20_000);
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  await eventually('the caller has its answer', () => failure !== undefined, 15_000);
  expect(failure).toMatchObject({ name: 'ObjectStoreError', kind: 'failed' });
});

test('a reader who takes longer than a store may be silent gets all bytes', async () => {
  const key = newOutputKey();
  await real.put(key, bytesOf(mebibyte), { signal: never });
  const { stream } = await real.get(key);
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await buffer(stream)).length).toBe(mebibyte);
});
