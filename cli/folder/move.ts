/** Moves acknowledged files, also to another disk: an archive is often one. */
import { copyFile, open, rename, rm, stat, utimes } from 'node:fs/promises';

/**
 * Between file systems a file is copied, under a name that no agent sends, until it is on disk in full.
 * @param check throws when the file is no longer the one to be moved; the copy of a long file takes minutes
 * @throws an error with the code ENOENT when there is no such file
 */
export async function moveFile(from: string, to: string, check: () => Promise<void>): Promise<void> {
  await check();
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyDurably(from, `${to}.partial`);
    try {
      await check();
    } catch (changed) {
      await rm(`${to}.partial`);
      throw changed;
    }
    await rename(`${to}.partial`, to);
    await rm(from);
  }
}

async function copyDurably(from: string, to: string): Promise<void> {
  const { atime, mtime } = await stat(from);
  await copyFile(from, to);
  await utimes(to, atime, mtime);
  const file = await open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
