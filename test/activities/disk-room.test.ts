import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, rm, statfs, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NoRoomError, withRoom, workFolderPrefix } from '../../activities/builtin/disk-room.ts';
import { TabularError } from '../../activities/builtin/tabular/errors.ts';

const megabyte = Buffer.alloc(1024 ** 2, 'x');
const forever = new AbortController().signal;

async function root(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sdp-room-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
async function workFolder(at: string, name: string): Promise<string> {
  const folder = join(at, workFolderPrefix + name);
  await mkdir(folder);
  return folder;
}

/** Writes so many megabytes, unless the signal is aborted, and then waits for the signal or some time. */
const writing = (folder: string, megabytes: number) => async (signal: AbortSignal) => {
  for (let written = 0; written < megabytes; written += 1) {
    signal.throwIfAborted();
    await appendFile(join(folder, 'bytes'), megabyte);
  }
  await delay(2_000, undefined, { signal }).catch(() => signal.throwIfAborted());
  return 'done';
};
const outcome = (work: Promise<string>) => work.catch((error: unknown) => error);

describe('runs that share a disk', () => {
  test('abort the run with the largest use when the shared budget is used up, and continue the others', async () => {
    const at = await root();
    const [small, large] = [await workFolder(at, 'small'), await workFolder(at, 'large')];
    const settings = { budgetBytes: 40 * 1024 ** 2, reserveBytes: 0 };
    const outcomes = await Promise.all([
      outcome(withRoom(small, settings, forever, writing(small, 15))),
      outcome(withRoom(large, settings, forever, writing(large, 35))),
    ]);
    expect(outcomes).toEqual(['done', expect.any(NoRoomError)]);
    expect(String(outcomes[1])).toContain('for temporary files: runs may use 40 MB together.');
  });

  test('refuse a file that needs the whole budget by itself', async () => {
    const at = await root();
    const folder = await workFolder(at, 'alone');
    const settings = { budgetBytes: 8 * 1024 ** 2, reserveBytes: 0 };
    const error = await outcome(withRoom(folder, settings, forever, writing(folder, 20)));
    expect(error).toBeInstanceOf(TabularError);
    expect((error as Error).message).toBe(
      'The conversion of the file needs more than 8 MB of temporary disk space; upload it in smaller files.',
    );
  });

  test('do not count, and finally remove, the files of a killed worker', async () => {
    const at = await root();
    const [own, left, old] = [
      await workFolder(at, 'own'),
      await workFolder(at, 'left'),
      await workFolder(at, 'old'),
    ];
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
    for (const folder of [left, old])
      await writeFile(join(folder, 'bytes'), Buffer.alloc(30 * 1024 ** 2, 'x'));
    await utimes(left, ago(120), ago(120));
    await utimes(old, ago(7_200), ago(7_200));
    const settings = { budgetBytes: 20 * 1024 ** 2, reserveBytes: 0 };
    expect(await withRoom(own, settings, forever, writing(own, 15))).toBe('done');
    expect([existsSync(left), existsSync(old)]).toEqual([true, false]);
  });

  test('never remove their own files as those of a killed worker, whatever the clock says', async () => {
    const own = await workFolder(await root(), 'own');
    // As after a clock that was put forward, or on a disk whose server's clock is behind.
    const past = new Date(Date.now() - 7_200_000);
    await utimes(own, past, past);
    const settings = { budgetBytes: 20 * 1024 ** 2, reserveBytes: 0 };
    expect(await withRoom(own, settings, forever, writing(own, 1))).toBe('done');
    expect(existsSync(own)).toBe(true);
  });

  test('pass on what the work throws, and an abort of its own signal', async () => {
    const folder = await workFolder(await root(), 'one');
    const settings = { budgetBytes: 2 ** 30, reserveBytes: 0 };
    const fails = withRoom(folder, settings, forever, () => Promise.reject(new Error('of the work')));
    await expect(fails).rejects.toThrow('of the work');
    await expect(withRoom(folder, settings, AbortSignal.timeout(300), writing(folder, 1))).rejects.toThrow(
      /timeout/,
    );
  });
});

/** A small separate disk, which only root can make. */
function smallDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', folder], { stdio: 'ignore' });
    onTestFinished(() => void execFileSync('umount', ['-l', folder], { stdio: 'ignore' }));
    return true;
  } catch {
    return false;
  }
}

test('a run without room says what is free, and what is kept free', async () => {
  const folder = await workFolder(await root(), 'none');
  const settings = { budgetBytes: 2 ** 40, reserveBytes: 2 ** 50 };
  const error = await outcome(withRoom(folder, settings, forever, async () => 'begun'));
  expect(String(error)).toMatch(/for temporary files: \d+ MB are free, and 1073741824 MB are kept free\.$/);
});

test('the disk keeps its reserve: the run with the largest use is aborted, and no run starts below it', async ({
  skip,
}) => {
  const at = await root();
  if (!smallDisk(at)) skip('no file system can be mounted here');
  const folder = await workFolder(at, 'filling');
  const settings = { budgetBytes: 2 ** 40, reserveBytes: 48 * 1024 ** 2 };
  const slowly = async (signal: AbortSignal) => {
    for (;;) {
      await appendFile(join(folder, 'bytes'), megabyte);
      await delay(20, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  };
  expect(await outcome(withRoom(folder, settings, forever, slowly))).toBeInstanceOf(NoRoomError);
  const { bavail, bsize } = await statfs(at);
  // Bytes written between two measurements.
  expect(bavail * bsize).toBeGreaterThan(24 * 1024 ** 2);
  let hasBegun = false;
  const begin = async () => {
    hasBegun = true;
    return 'begun';
  };
  expect(await outcome(withRoom(folder, settings, forever, begin))).toBeInstanceOf(NoRoomError);
  expect(hasBegun).toBe(false);
});
