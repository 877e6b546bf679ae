/** The log of one attempt of a built-in node: lines are stored soon after they come, and before the attempt ends. */
import { limits } from '../domain/limits.ts';
import { type LogLevel, loggedBytes } from '../domain/runs/run-log.ts';
import type { Queryable } from '../store/connection/database.ts';
import type { WrittenEntry } from '../store/run-logs/log-pieces.ts';
import { writeLogs } from '../store/run-logs/write-log.ts';
import type { TaskHolder } from '../store/runners/holder.ts';

/** Lines of this time go together. Longer, and they would stand behind what the platform notes meanwhile. */
const collectedMs = 100;
/** While the database does not answer: later lines are dropped. */
const heldEntries = 5_000;

export class RunLog {
  readonly #database: Queryable;
  readonly #task: TaskHolder;
  #timer: NodeJS.Timeout | undefined;
  #entries: WrittenEntry[] = [];
  /** The entries of the present sequence: after an error they are sent again unchanged. */
  #sending: WrittenEntry[] = [];
  #sequence = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Queryable, task: TaskHolder) {
    this.#database = database;
    this.#task = task;
  }

  add(level: LogLevel, message: string, fields: WrittenEntry['fields'] = null): void {
    if (this.#entries.length >= heldEntries) return;
    this.#entries.push({ at: new Date(), level, message: bounded(message), fields });
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, collectedMs);
  }

  /** Stores what is left. A log that cannot be stored does not fail its run. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#write();
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      while (this.#sending.length + this.#entries.length > 0) {
        if (this.#sending.length === 0) this.#sending = this.#entries.splice(0, limits.logEntriesPerCall);
        const entries = this.#sending;
        const bytes = entries.reduce((sum, entry) => sum + loggedBytes(entry), 0);
        const call = { ...this.#task, sequence: this.#sequence + 1, entries, bytes };
        const stored = await writeLogs(this.#database, [call]).catch(() => undefined);
        if (stored === undefined) return;
        this.#sequence += 1;
        this.#sending = [];
      }
    });
    return this.#writing;
  }
}

function bounded(message: string): string {
  const bytes = Buffer.from(message);
  return bytes.length <= limits.logMessageBytes
    ? message
    : bytes.subarray(0, limits.logMessageBytes - 4).toString('utf8');
}
