import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { beginMultipart, completeMultipart } from '../../../store/objects/multipart.ts';
import { newOutputKey, objectSettings, openObjectStore } from '../../../store/objects/object-store.ts';
import { ObjectStores } from '../../../store/objects/object-stores.ts';
import { type PieceProgress, type StoredPiece, storePiece } from '../../../store/objects/piece-writer.ts';
import { testEnvironment } from '../../support/stack.ts';

const platform = await testEnvironment();
const store = openObjectStore(new ObjectStores(objectSettings.parse(platform.environment)).platformAccess);
afterAll(() => store.close());
const mebibyte = 1024 * 1024;

test('parts are numbered in the order of their bytes, however slowly a number comes', async () => {
  const key = newOutputKey();
  const bytes = randomBytes(28 * mebibyte);
  const place = store.multipart(key);
  const storeUploadId = await beginMultipart(place);
  const saved: { pieces: StoredPiece[]; last: PieceProgress | undefined } = { pieces: [], last: undefined };
  let given = 0;
  const end = await storePiece(Readable.from([bytes]), {
    place,
    storeUploadId,
    sizeBytes: bytes.length,
    from: { offsetBytes: 0, tail: null, hashState: null, sha256: null },
    record: {
      // The first answer is the slowest.
      async reserve() {
        await sleep(Math.max(0, 600 - given * 200));
        given += 1;
        return given;
      },
      async save(pieces, progress) {
        saved.pieces.push(...pieces);
        saved.last = progress;
      },
      openTail: () => Promise.reject(new Error('There is none.')),
      putTail: () => Promise.reject(new Error('There is none.')),
    },
    checksum: null,
    stop: new AbortController().signal,
  });
  expect(end).toBe(bytes.length);
  expect(saved.pieces.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(saved.last).toEqual({ offsetBytes: bytes.length, tail: null, hashState: null, sha256 });
  await completeMultipart(place, storeUploadId, saved.pieces, bytes.length, AbortSignal.timeout(60_000));
  const { stream } = await store.get(key);
  expect((await buffer(stream)).equals(bytes)).toBe(true);
});
