import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { Intake } from '../../../store/objects/intake.ts';
import { newOutputKey, openObjectStore } from '../../../store/objects/object-store.ts';
import { fillPart, StagedPart } from '../../../store/objects/staging.ts';
import { blockBytes, StagingArea, StagingFull } from '../../../store/objects/staging-area.ts';
import { eventually } from '../../support/eventually.ts';
import { testEnvironment } from '../../support/stack.ts';

const mebibyte = 1024 * 1024;
const memoryBytes = 40 * mebibyte;
const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), 'sdp-staging-'));
/** A separate file system that is soon full; undefined where this user may not mount one. */
const small = mountSmall(join(folder, 'small'));
afterAll(() => {
  if (small !== undefined) execFileSync('umount', [small]);
  rmSync(folder, { recursive: true });
});

function mountSmall(path: string): string | undefined {
  try {
    execFileSync('mkdir', [path]);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'none', path], { stdio: 'ignore' });
    return path;
  } catch {
    return undefined;
  }
}

async function filled(area: StagingArea, bytes: Buffer, signal = never): Promise<StagedPart> {
  const part = new StagedPart(area, bytes.length, signal);
  try {
    for (let at = 0; at < bytes.length; at += 50_000) await part.append(bytes.subarray(at, at + 50_000));
  } catch (error) {
    part.dispose(false);
    throw error;
  }
  part.filled();
  return part;
}

const bytesOf = async (part: StagedPart, once = false) => buffer(Readable.from(part.read(once)));

describe('staged bytes', () => {
  const bytes = randomBytes(5 * mebibyte + 17);

  test('are read unchanged and repeatedly, from memory and from the file', async () => {
    const area = new StagingArea({ folder });
    const inMemory = await filled(area, Buffer.alloc(memoryBytes));
    const part = await filled(area, bytes);
    for (let count = 0; count < 2; count += 1) expect((await bytesOf(part)).equals(bytes)).toBe(true);
    expect((await bytesOf(part, true)).equals(bytes)).toBe(true);
    part.dispose(true);
    inMemory.dispose(true);
  });

  test('that are sent once release their space as they go', async () => {
    const area = new StagingArea({ folder, maxBytes: 0, waitSeconds: 1 });
    const first = await filled(area, Buffer.alloc(memoryBytes));
    const reading = first.read(true);
    for (let count = 0; count <= bytes.length / blockBytes + 1; count += 1) await reading.next();
    const second = await filled(area, bytes);
    expect((await bytesOf(second)).equals(bytes)).toBe(true);
    second.dispose(true);
    first.dispose(true);
  });

  test('of a failed request leave memory that no other part uses', async () => {
    const area = new StagingArea({ folder });
    const part = await filled(area, randomBytes(blockBytes * 4));
    const sent: Buffer[] = [];
    for await (const block of part.read()) sent.push(block);
    const before = sent.map((block) => Buffer.from(block));
    part.dispose(false);
    const other = await filled(area, randomBytes(memoryBytes));
    expect(sent).toEqual(before);
    other.dispose(true);
  });

  test('that differ from the received ones are never returned whole', async () => {
    const area = new StagingArea({ folder });
    const part = await filled(area, bytes);
    const blocks: Buffer[] = [];
    for await (const block of part.read()) blocks.push(block);
    blocks[3]!.fill(0);
    await expect(bytesOf(part)).rejects.toThrow('The bytes to send differ from the received ones.');
    part.dispose(false);
  });
});

describe('without space', () => {
  test('a part waits for a limited time', async () => {
    const area = new StagingArea({ folder, maxBytes: 0, waitSeconds: 0.2 });
    const first = await filled(area, Buffer.alloc(memoryBytes));
    await expect(filled(area, randomBytes(mebibyte))).rejects.toThrow(StagingFull);
    const patient = new StagingArea({ folder, maxBytes: 0, waitSeconds: 20 });
    const holder = await filled(patient, Buffer.alloc(memoryBytes));
    let isIn = false;
    const waiting = filled(patient, randomBytes(mebibyte)).then((part) => {
      isIn = true;
      return part;
    });
    await Promise.resolve();
    expect(isIn).toBe(false);
    holder.dispose(true);
    (await waiting).dispose(true);
    first.dispose(true);
  });

  test('a caller who hangs up waits no more', async () => {
    const area = new StagingArea({ folder, maxBytes: 0, waitSeconds: 20 });
    const first = await filled(area, Buffer.alloc(memoryBytes));
    const gone = new AbortController();
    const waiting = filled(area, randomBytes(mebibyte), gone.signal);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    first.dispose(true);
  });

  test('parts that grow side by side never keep each other from being finished', async () => {
    const area = new StagingArea({ folder, maxBytes: 0, waitSeconds: 20 });
    const partBytes = 8 * mebibyte;
    const bytes = Buffer.alloc(partBytes);
    let finished = 0;
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const intake = new Intake(Readable.from([bytes]), {
          maxBytes: partBytes,
          withMd5: false,
          withCrc32: false,
        });
        const options = { area, intake, partBytes, expectedBytes: null, signal: never };
        const { part } = await fillPart(options);
        intake.release();
        part.dispose(true);
        finished += 1;
      }),
    );
    expect(finished).toBe(12);
  });
});

describe.skipIf(small === undefined)('on a disk of 64 MB', () => {
  const folderOfDisk = small ?? '';
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(folderOfDisk);
    return bavail * bsize;
  };

  test('that is full, a part fails, and nothing is written partially', async () => {
    const filler = join(folderOfDisk, 'filler');
    // An odd number: the last block is written in part.
    writeFileSync(filler, Buffer.alloc(freeBytes() - 3 * mebibyte - 20_480));
    const area = new StagingArea({ folder: folderOfDisk, waitSeconds: 0.5 });
    const inMemory = await filled(area, Buffer.alloc(memoryBytes));
    const fits = randomBytes(2 * mebibyte);
    const part = await filled(area, fits);
    await expect(filled(area, randomBytes(2 * mebibyte))).rejects.toThrow(StagingFull);
    expect((await bytesOf(part)).equals(fits)).toBe(true);
    const patient = filled(
      new StagingArea({ folder: folderOfDisk, waitSeconds: 20 }),
      Buffer.alloc(memoryBytes + mebibyte * 3),
    );
    rmSync(filler);
    (await patient).dispose(true);
    part.dispose(true);
    inMemory.dispose(true);
    await eventually('the disk is free again', async () => freeBytes() > 60 * mebibyte);
  });

  test('ten uploads that need more than it holds are all stored as they were sent', async () => {
    const platform = await testEnvironment();
    const area = new StagingArea({ folder: folderOfDisk, maxBytes: 16 * mebibyte });
    const store = openObjectStore({ ...platform.s3, prefix: '', forcePathStyle: true }, area);
    const bytes = randomBytes(10 * mebibyte);
    const uploads = await Promise.allSettled(
      Array.from({ length: 10 }, async (_, index) => {
        const own = index % 5;
        const source = Readable.from([bytes.subarray(own)], { objectMode: false });
        const declaredBytes = index % 2 === 0 ? bytes.length - own : null;
        const key = newOutputKey();
        const stored = await store.put(key, source, { declaredBytes, signal: never });
        expect(stored.sizeBytes).toBe(bytes.length - own);
        if (index >= 3) return await store.delete(key);
        const { stream } = await store.get(key);
        expect((await buffer(stream)).equals(bytes.subarray(own))).toBe(true);
      }),
    );
    store.close();
    // All have ended before one is judged: the disk cannot be unmounted while it is used.
    await Promise.all(
      uploads.map((upload) => (upload.status === 'rejected' ? Promise.reject(upload.reason) : null)),
    );
  });
});
