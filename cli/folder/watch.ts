/** Sends the files of a folder as they are completed, one after the other, and goes on after any interruption. */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackOff, isTransient, pause } from '../../client/back-off.ts';
import { ApiError } from '../../client/errors.ts';
import type { Journal } from './journal.ts';
import { moveFile } from './move.ts';
import {
  type FolderContent,
  type FoundFile,
  filesOf,
  findFile,
  markSuffix,
  metadataOf,
  pauseAfterScanMs,
  sideSuffix,
  undefinedIfMissing,
} from './scan.ts';

/** What fails is tried again after this time: a session may be frozen, or a disk be away, for a while. */
const againMs = 600_000;
/** In a row, for one file; then the next one shows whether the server fails for all. */
const maxServerErrors = 5;

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

/** @returns the number of files that were refused, are still to be moved or cannot be read, with `once` */
export async function watchFolder(options: WatchOptions, journal: Journal): Promise<number> {
  return await new Watch(options, journal).run();
}

interface RetryOptions {
  readonly say: (line: string) => void;
  /** Whether the same work may succeed later. */
  readonly mayPass: (error: unknown) => boolean;
  /** Shared by several pieces of work; default: its own. */
  readonly backOff?: BackOff;
  /** Server errors in a row after which it ends; default: none. */
  readonly maxErrors?: number;
}

/**
 * Does the work again and again until it succeeds, with longer and longer pauses.
 * @throws an error that will not pass, and the last of `maxErrors`
 */
export async function retryUntilDone<T>(options: RetryOptions, work: () => Promise<T>): Promise<T> {
  const { say, mayPass, backOff = newBackOff(), maxErrors = Number.POSITIVE_INFINITY } = options;
  for (let errors = 0; ; ) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      say((error as Error).message);
      await backOff.wait(error);
      errors = isServerError(error) ? errors + 1 : 0;
      if (errors >= maxErrors) throw error;
    }
  }
}

const newBackOff = () => new BackOff({ firstMs: 1_000, maxMs: 60_000 });
const isServerError = (error: unknown) => error instanceof ApiError && error.status >= 500;

const keyOf = ({ file, sizeBytes, modifiedAtMs }: FoundFile) => `${modifiedAtMs} ${sizeBytes} ${file}`;

class Watch {
  readonly #options: WatchOptions;
  readonly #journal: Journal;
  /** Sent, and still to be marked or moved. */
  readonly #unsettled = new Set<string>();
  /** Since when each file is as it is now. Times of files are not asked: clocks of devices and shares may be wrong. */
  #sinceMs = new Map<string, number>();
  readonly #againAtMs = new Map<string, number>();
  readonly #reported = new Set<string>();
  /** Shared by all files: in an outage many files ask the server no more often than one. */
  readonly #backOff = newBackOff();

  constructor(options: WatchOptions, journal: Journal) {
    this.#options = options;
    this.#journal = journal;
  }

  async run(): Promise<number> {
    const { once } = this.#options;
    // A run before this one may have ended between the journal and what follows it.
    for (const found of (await this.#scan()).files)
      if (this.#journal.find(found) !== undefined) this.#unsettled.add(keyOf(found));
    for (;;) {
      const startedAtMs = performance.now();
      const { files, unreadable } = await this.#scan();
      // Read once: files that came together are sent together, so that one that works shows which of the others do not.
      const nowMs = performance.now();
      const left = files.filter(
        (found) => this.#journal.find(found) === undefined || this.#unsettled.has(keyOf(found)),
      );
      this.#note(left, nowMs);
      const due = left.filter((found) => nowMs >= (this.#againAtMs.get(keyOf(found)) ?? 0));
      const ready = due.filter((found) => this.#isReady(found, nowMs));
      // All that one scan has found: a folder may hold very many.
      await this.#handleAll(ready);
      if (ready.length > 0) continue;
      if (once && due.length === 0) return left.length + unreadable.size;
      await pause(pauseAfterScanMs(nowMs - startedAtMs));
    }
  }

  /** The folder of a share may be away for a while. */
  async #scan(): Promise<FolderContent> {
    const { folder, once } = this.#options;
    try {
      const found = await filesOf(folder);
      // On a full disk it stays long for now.
      await this.#journal.forgetGone(found.files).catch(() => undefined);
      for (const [name, why] of found.unreadable) this.#sayOnce(`${name}: ${why}`);
      this.#reported.delete(folder);
      return found;
    } catch (error) {
      if (once) throw error;
      this.#sayOnce(`${folder}: ${(error as Error).message}`, folder);
      return { files: [], unreadable: new Map() };
    }
  }

  #sayOnce(line: string, key = line): void {
    if (!this.#reported.has(key)) this.#options.say(line);
    this.#reported.add(key);
  }

  #note(left: readonly FoundFile[], nowMs: number): void {
    const before = this.#sinceMs;
    this.#sinceMs = new Map(left.map(keyOf).map((key) => [key, before.get(key) ?? nowMs]));
    for (const key of this.#againAtMs.keys()) if (!this.#sinceMs.has(key)) this.#againAtMs.delete(key);
  }

  #isReady(found: FoundFile, nowMs: number): boolean {
    const unchangedMs = nowMs - (this.#sinceMs.get(keyOf(found)) ?? Number.POSITIVE_INFINITY);
    return unchangedMs >= this.#options.settleMs || this.#journal.find(found) !== undefined;
  }

  /** Handles files, oldest first. Those for which the server fails are put off once it works for another one. */
  async #handleAll(ready: readonly FoundFile[]): Promise<void> {
    let failed: FoundFile[] = [];
    for (const found of ready) {
      if (!(await this.#isHandled(found, failed.length > 0 ? 1 : maxServerErrors))) {
        failed.push(found);
        continue;
      }
      this.#backOff.reset();
      for (const each of failed) if (!(await this.#isHandled(each, 1))) this.#putOff(each);
      failed = [];
    }
  }

  /** Sends, marks and moves a file. What fails is tried again later. False after so many server errors in a row. */
  async #isHandled(found: FoundFile, maxErrors: number): Promise<boolean> {
    const key = keyOf(found);
    try {
      const sent = this.#journal.find(found) ?? (await this.#send(found, maxErrors));
      if (sent === undefined) return true;
      this.#unsettled.add(key);
      await settle(this.#options, found, sent);
      this.#unsettled.delete(key);
    } catch (error) {
      if (isServerError(error)) return false;
      this.#putOff(found);
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isGone)
        this.#options.say(`${found.file}: ${(error as Error).message}${await this.#whatFollows(found)}`);
    }
    return true;
  }

  async #whatFollows(found: FoundFile): Promise<string> {
    const now = await findFile(this.#options.folder, found.file).catch(() => found);
    if (now === undefined) return '';
    if (keyOf(now) !== keyOf(found)) return ' It is sent when it has stopped changing.';
    return this.#options.once ? '' : ` It is tried again in ${againMs / 60_000} minutes.`;
  }

  #putOff(found: FoundFile): void {
    this.#againAtMs.set(keyOf(found), performance.now() + againMs);
  }

  /** @returns undefined for a file that changed meanwhile, which is sent when it is complete, or that another agent has sent */
  async #send(found: FoundFile, maxErrors: number): Promise<Acknowledged | undefined> {
    const { folder, pattern, send, say, once } = this.#options;
    const { file, sizeBytes, modifiedAtMs } = found;
    // A new token may come with the next start of the service, and no recording is given up for it; `once` ends instead.
    const mayPass = (error: unknown) =>
      isTransient(error) || (!once && error instanceof ApiError && [401, 403].includes(error.status));
    const retries = {
      say: (line: string) => say(`${file}: ${line}`),
      mayPass,
      backOff: this.#backOff,
      maxErrors,
    };
    return await retryUntilDone(retries, async () => {
      const before = await findFile(folder, file);
      if (before === undefined || keyOf(before) !== keyOf(found)) return undefined;
      const metadata = await metadataOf(found, pattern);
      // After its metadata: another agent of this folder that has sent the file moves them away first.
      await this.#journal.read();
      if (this.#journal.find(found) !== undefined) return undefined;
      const acknowledged = await send(found, metadata);
      const after = await findFile(folder, file);
      if (after !== undefined && keyOf(after) !== keyOf(found)) return undefined;
      // On a full disk only what is moved away frees it; sent once more, a file makes no second output.
      await this.#journal
        .add({ file, sizeBytes, modifiedAtMs, ...acknowledged })
        .catch(({ message }: Error) =>
          say(`${file}: it was sent, but this could not be noted in the folder: ${message}`),
        );
      say(`${file}: ${acknowledged.outputId === null ? 'stored' : `output ${acknowledged.outputId}`}`);
      return acknowledged;
    });
  }
}

async function settle(
  { folder, moveTo, mark }: WatchOptions,
  found: FoundFile,
  { identifier, outputId }: Acknowledged,
): Promise<void> {
  const { file, path } = found;
  const writeMark = () => writeFile(path + markSuffix, `${JSON.stringify({ identifier, outputId })}\n`);
  const unmarked = mark ? await writeMark().catch((error: unknown) => error) : undefined;
  if (moveTo === undefined) {
    if (unmarked !== undefined) throw unmarked;
    return;
  }
  await mkdir(moveTo, { recursive: true });
  // Another file of this name may have been moved before; the identifier names these bytes alone.
  const isTaken = await stat(join(moveTo, file)).then(
    () => true,
    () => false,
  );
  const target = join(moveTo, isTaken ? identifier : file);
  // Programs write each recording under the same name: the next one is not sent yet.
  const check = async () => {
    const now = await findFile(folder, file);
    if (now !== undefined && keyOf(now) !== keyOf(found))
      throw new Error('The file changed before it was moved.');
  };
  // Before the file: an interrupted move is done again for the file, and the next of its name has other metadata.
  await moveFile(path + sideSuffix, target + sideSuffix, check).catch(undefinedIfMissing);
  await moveFile(path, target, check);
  // A full disk has room for it now.
  if (unmarked !== undefined) await writeMark();
}
