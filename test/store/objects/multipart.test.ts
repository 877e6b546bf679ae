import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import {
  abortMultipart,
  beginMultipart,
  completeMultipart,
  MultipartGone,
  type PartsDiffer,
} from '../../../store/objects/multipart.ts';
import {
  newOutputKey,
  ObjectTooLarge,
  openObjectStore,
  SourceBroken,
} from '../../../store/objects/object-store.ts';
import { type PartOptions, putPart } from '../../../store/objects/put-part.ts';
import { s3Client } from '../../support/bucket.ts';
import { testEnvironment } from '../../support/stack.ts';

const platform = await testEnvironment();
const store = openObjectStore({ ...platform.s3, prefix: 'some/prefix', forcePathStyle: true });
const client = s3Client(platform.environment);
afterAll(() => {
  store.close();
  client.destroy();
});
const mebibyte = 1024 * 1024;
const never = new AbortController().signal;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function begin() {
  const key = newOutputKey();
  const place = store.multipart(key);
  const uploadId = await beginMultipart(place);
  const put = (number: number, source: Buffer | Readable, options: Partial<PartOptions> = {}) =>
    putPart(place, uploadId, number, source instanceof Readable ? source : Readable.from([source]), {
      maxBytes: 100 * mebibyte,
      signal: never,
      admit: async () => undefined,
      ...options,
    });
  return { key, place, uploadId, put };
}

const read = async (key: string) => buffer((await store.get(key)).stream);

describe('an object of parts', () => {
  test('holds them in the order of their numbers, whatever the order of their arrival', async () => {
    const { key, place, uploadId, put } = await begin();
    const bytes = [randomBytes(5 * mebibyte), randomBytes(6 * mebibyte), randomBytes(10)];
    const sent = [];
    for (const number of [3, 1, 2]) {
      const part = await put(number, bytes[number - 1]!, { withMd5: true });
      expect(part).toMatchObject({
        sizeBytes: bytes[number - 1]!.length,
        sha256: sha256(bytes[number - 1]!),
        md5: createHash('md5')
          .update(bytes[number - 1]!)
          .digest('hex'),
      });
      sent.push({ number, etag: part.etag });
    }
    sent.sort((one, other) => one.number - other.number);
    const whole = Buffer.concat(bytes);
    const etag = await completeMultipart(place, uploadId, sent, whole.length, never);
    expect(etag).toMatch(/^[0-9a-f]{32}-3$/);
    expect((await read(key)).equals(whole)).toBe(true);
    // The answer to the first completion may have been lost.
    expect(await completeMultipart(place, uploadId, sent, whole.length, never)).toBe(etag);
    await expect(put(1, bytes[0]!)).rejects.toThrow(MultipartGone);
    await abortMultipart(place, uploadId);
    expect((await read(key)).length).toBe(whole.length);
  });

  test('takes the newest part of a number, and one part of nothing', async () => {
    const { key, place, uploadId, put } = await begin();
    const old = await put(1, Buffer.from('old'));
    const fresh = await put(1, Buffer.from('fresh'));
    await expect(
      completeMultipart(place, uploadId, [{ number: 1, etag: old.etag }], 3, never),
    ).rejects.toMatchObject({ name: 'PartsDiffer', numbers: [1] } satisfies Partial<PartsDiffer>);
    await completeMultipart(place, uploadId, [{ number: 1, etag: fresh.etag }], 5, never);
    expect((await read(key)).toString()).toBe('fresh');
    const empty = await begin();
    const nothing = await empty.put(1, Buffer.alloc(0));
    await completeMultipart(empty.place, empty.uploadId, [{ number: 1, etag: nothing.etag }], 0, never);
    expect((await read(empty.key)).length).toBe(0);
  });
});

describe('a part that is refused leaves the one before', () => {
  const refusals: [string, (put: Awaited<ReturnType<typeof begin>>['put']) => Promise<unknown>, unknown][] = [
    [
      'because its source breaks off',
      (put) =>
        put(
          1,
          Readable.from(
            (async function* () {
              yield randomBytes(100_000);
              throw new Error('line is dead');
            })(),
          ),
        ),
      SourceBroken,
    ],
    ['because it is too large', (put) => put(1, Buffer.alloc(1001), { maxBytes: 1000 }), ObjectTooLarge],
    [
      'because it is not admitted',
      (put) =>
        put(1, Buffer.from('other'), {
          async admit() {
            throw new RangeError('not you');
          },
        }),
      RangeError,
    ],
    [
      'because it is broken off',
      (put) => put(1, Buffer.from('other'), { signal: AbortSignal.abort(new RangeError('enough')) }),
      RangeError,
    ],
  ];
  test.each(refusals)('%s', async (_why, refused, kind) => {
    const { key, place, uploadId, put } = await begin();
    const first = await put(1, Buffer.from('first'));
    await expect(refused(put)).rejects.toThrow(kind as ErrorConstructor);
    await completeMultipart(place, uploadId, [{ number: 1, etag: first.etag }], 5, never);
    expect((await read(key)).toString()).toBe('first');
  });
});

test('an upload that was aborted is gone, and so are its parts', async () => {
  const { place, uploadId, put } = await begin();
  const { etag } = await put(1, Buffer.from('some'));
  await abortMultipart(place, uploadId);
  await abortMultipart(place, uploadId);
  await expect(put(2, Buffer.from('more'))).rejects.toThrow(MultipartGone);
  await expect(completeMultipart(place, uploadId, [{ number: 1, etag }], 4, never)).rejects.toThrow(
    MultipartGone,
  );
  const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket: platform.s3.bucket }));
  expect(uploads.Uploads ?? []).toEqual([]);
  const objects = await client.send(
    new ListObjectsV2Command({ Bucket: platform.s3.bucket, Prefix: place.key }),
  );
  expect(objects.Contents ?? []).toEqual([]);
});
