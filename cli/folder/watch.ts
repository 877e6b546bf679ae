/** Sends the files of a folder as they are completed, one after the other, and goes on after any interruption. */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackOff, isTransient, pause } from '../../client/back-off.ts';
import { ApiError } from '../../client/errors.ts';
import type { Journal } from './journal.ts';
import { moveFile } from './move.ts';
import { type FoundFile, filesOf, markSuffix, metadataOf, sideSuffix } from './scan.ts';

const scanEveryMs = 1_000;
/** A file that the platform refuses is tried again after this time: a session may be frozen for a while. */
const refusedAgainMs = 600_000;

export interface Acknowledged {
  readonly identifier: string;
  readonly outputId: number | null;
}

export interface WatchOptions {
  readonly folder: string;
  /** A file is complete when it has not changed for this long. */
  readonly settleMs: number;
  readonly pattern?: RegExp | undefined;
  /** Where acknowledged files go; default: they stay. */
  readonly moveTo?: string | undefined;
  /** Writes `NAME.sent` beside each acknowledged file. */
  readonly mark: boolean;
  /** Ends when every file is sent or refused. */
  readonly once: boolean;
  readonly send: (file: FoundFile, metadata: string | undefined) => Promise<Acknowledged>;
  readonly say: (line: string) => void;
}

/** @returns the number of files that were refused or are still to be moved, with `once` */
export async function watchFolder(options: WatchOptions, journal: Journal): Promise<number> {
  const { folder, settleMs, once } = options;
  const refusedAtMs = new Map<string, number>();
  const unsettled = await settleEarlier(options, journal);
  for (;;) {
    const files = (await filesOf(folder)).filter((file) => journal.find(file) === undefined);
    const due = files.filter((file) => performance.now() > (refusedAtMs.get(keyOf(file)) ?? 0));
    const next = due.find(({ modifiedAtMs }) => Date.now() - modifiedAtMs >= settleMs);
    if (next !== undefined) {
      const isSent = await sendOne(options, journal, next);
      if (!isSent) refusedAtMs.set(keyOf(next), performance.now() + refusedAgainMs);
    } else if (once && due.length === 0) return files.length + unsettled;
    else await pause(scanEveryMs);
  }
}

/**
 * Marks and moves the files of a run that ended between the journal and what follows it. What fails holds up no new file.
 * @returns how many failed
 */
async function settleEarlier(options: WatchOptions, journal: Journal): Promise<number> {
  let failed = 0;
  for (const file of await filesOf(options.folder)) {
    const sent = journal.find(file);
    if (sent === undefined) continue;
    try {
      await settle(options, file, sent);
    } catch (error) {
      failed += 1;
      options.say(`${file.file}: ${(error as Error).message}`);
    }
  }
  return failed;
}

const keyOf = ({ file, modifiedAtMs }: FoundFile) => `${modifiedAtMs} ${file}`;

/** @returns false when it was refused */
async function sendOne(options: WatchOptions, journal: Journal, found: FoundFile): Promise<boolean> {
  const { folder, pattern, send, say } = options;
  const backOff = new BackOff({ firstMs: 1_000, longestMs: 60_000 });
  for (;;) {
    try {
      const acknowledged = await send(found, await metadataOf(found, pattern));
      if (await hasChanged(folder, found)) return true;
      const { file, sizeBytes, modifiedAtMs } = found;
      await journal.add({ file, sizeBytes, modifiedAtMs, ...acknowledged });
      await settle(options, found, acknowledged);
      say(`${file}: ${acknowledged.outputId === null ? 'stored' : `output ${acknowledged.outputId}`}`);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      say(`${found.file}: ${(error as Error).message}`);
      // A new token may come with the next start of the service, and no recording is given up for it.
      const isTokenGone = error instanceof ApiError && (error.status === 401 || error.status === 403);
      if (!isTransient(error) && !isTokenGone) return false;
      await backOff.wait(error);
    }
  }
}

/** A file that was still being written after all is sent again when it is complete. */
async function hasChanged(folder: string, { file, sizeBytes, modifiedAtMs }: FoundFile): Promise<boolean> {
  const now = (await filesOf(folder)).find((one) => one.file === file);
  return now !== undefined && (now.sizeBytes !== sizeBytes || now.modifiedAtMs !== modifiedAtMs);
}

async function settle(
  { moveTo, mark }: WatchOptions,
  { file, path }: FoundFile,
  { identifier, outputId }: Acknowledged,
): Promise<void> {
  if (mark) await writeFile(path + markSuffix, `${JSON.stringify({ identifier, outputId })}\n`);
  if (moveTo === undefined) return;
  await mkdir(moveTo, { recursive: true });
  // Another file of this name may have been moved before; the identifier names these bytes alone.
  const isTaken = await stat(join(moveTo, file)).then(
    () => true,
    () => false,
  );
  const target = join(moveTo, isTaken ? identifier : file);
  // Before the file: an interrupted move is done again for the file, and the next of its name has other metadata.
  await moveFile(path + sideSuffix, target + sideSuffix).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await moveFile(path, target);
}
