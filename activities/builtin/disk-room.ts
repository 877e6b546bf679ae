/**
 * Room for temporary files of built-in runs: all runs that work below one folder share a budget, and the disk keeps a
 * reserve for its other users. Usage is read from the disk itself, so these limits also hold for workers that share
 * nothing else.
 */
import { readdir, rm, stat, statfs, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TabularError } from './tabular/errors.ts';

export interface RoomSettings {
  /** The bytes that all runs together may use, and the bytes that each may use. */
  readonly budgetBytes: number;
  /** Bytes that stay free on the disk. */
  readonly reserveBytes: number;
}

/** The disk has no room, which is not a fault of the file. */
export class NoRoomError extends Error {
  /** @param why for operators: a disk may have room, and too little of it beside its other users */
  constructor(why: string) {
    super(`The worker's disk has no space for temporary files: ${why}.`);
    this.name = 'NoRoomError';
  }
}

/** Beginning of the names of work folders. */
export const workFolderPrefix = 'sdp-run-';
const checkEveryMs = 200;
/** A folder that was not marked for this long belongs to a process that is gone and no longer counts. */
const markedMs = 60_000;
const keptMs = 3_600_000;

/**
 * Runs `work` while there is room, and aborts it when there is none: of several runs, the one that uses most.
 * @param workDir an own folder beside those of other runs
 * @throws NoRoomError, the signal's reason, errors of the work; TabularError when the file alone exceeds the budget
 */
export async function withRoom<T>(
  workDir: string,
  settings: RoomSettings,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  await mark(workDir);
  await removeAbandoned(dirname(workDir));
  const free = await freeBytes(workDir);
  if (free < settings.reserveBytes) throw tight(free, settings);
  const over = new AbortController();
  const done = new AbortController();
  const watching = watch(workDir, settings, over, done.signal);
  try {
    return await work(AbortSignal.any([signal, over.signal]));
  } catch (error) {
    throw over.signal.aborted && !signal.aborted ? over.signal.reason : error;
  } finally {
    done.abort();
    await watching;
  }
}

async function watch(workDir: string, settings: RoomSettings, over: AbortController, done: AbortSignal) {
  while (!done.aborted && !over.signal.aborted) {
    await delay(checkEveryMs, undefined, { signal: done }).catch(() => undefined);
    // A failed read is repeated; the folder may be about to be removed.
    const fault = await findFault(workDir, settings).catch(() => undefined);
    if (fault !== undefined) over.abort(fault);
  }
}

async function findFault(workDir: string, settings: RoomSettings): Promise<Error | undefined> {
  const { budgetBytes, reserveBytes } = settings;
  await mark(workDir);
  const own = await bytesBelow(workDir);
  if (own > budgetBytes) {
    return new TabularError(
      `The conversion of the file needs more than ${megabytes(budgetBytes)} MB of temporary disk space; upload it in smaller files.`,
    );
  }
  const free = await freeBytes(workDir);
  const isTight = free < reserveBytes;
  const others = await Promise.all((await otherWorkFolders(workDir)).map(bytesBelow));
  const isOver = own + others.reduce((sum, bytes) => sum + bytes, 0) > budgetBytes;
  if (!(isTight || isOver) || own === 0 || others.some((bytes) => bytes > own)) return undefined;
  return isTight
    ? tight(free, settings)
    : new NoRoomError(`runs may use ${megabytes(budgetBytes)} MB together`);
}

/** By the clock of the process, with which ages are compared: the disk's own may differ by hours. */
async function mark(workDir: string): Promise<void> {
  const now = new Date();
  await utimes(workDir, now, now);
}

const megabytes = (bytes: number) => Math.floor(bytes / 1024 ** 2);

const tight = (free: number, { reserveBytes }: RoomSettings) =>
  new NoRoomError(`${megabytes(free)} MB are free, and ${megabytes(reserveBytes)} MB are kept free`);

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Folders of runs under way. */
async function otherWorkFolders(workDir: string): Promise<string[]> {
  const folders = await workFolders(dirname(workDir));
  return folders.flatMap(({ path, ageMs }) => (path !== workDir && ageMs < markedMs ? [path] : []));
}

/** Folders of workers that were killed. One of another user stays, and keeps no run from its work. */
async function removeAbandoned(root: string): Promise<void> {
  for (const { path, ageMs } of await workFolders(root))
    if (ageMs > keptMs) await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

async function workFolders(root: string): Promise<{ path: string; ageMs: number }[]> {
  const names = (await readdir(root)).filter((name) => name.startsWith(workFolderPrefix));
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(root, name);
      const state = await stat(path).catch(() => undefined);
      return state === undefined ? [] : [{ path, ageMs: Date.now() - state.mtimeMs }];
    }),
  );
  return found.flat();
}

/** Bytes that the files of a folder occupy on the disk. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      if (!entry.isFile()) return 0;
      const state = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
      return state === undefined ? 0 : (state.blocks * 512) / state.nlink;
    }),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
