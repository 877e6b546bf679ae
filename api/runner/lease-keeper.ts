/** Renews a task's lease while bytes of a call for it flow (decisions 9). */
import { Readable } from 'node:stream';
import { leaseTimes } from '../../domain/runs/lease-times.ts';
import type { Database } from '../../store/connection/database.ts';
import type { TaskHolder } from '../../store/runners/holder.ts';
import { renewLease } from '../../store/runners/lease.ts';

export class LeaseKeeper {
  readonly #database: Database;
  readonly #caller: TaskHolder;
  readonly #lost = new AbortController();
  #renewedAtMs = performance.now();
  #isRenewing = false;

  /** The lease was renewed just now. */
  constructor(database: Database, caller: TaskHolder) {
    this.#database = database;
    this.#caller = caller;
  }

  /** Aborted when the caller no longer holds the task. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** To be called for every chunk. */
  readonly onBytes = (): void => {
    const now = performance.now();
    if (this.#isRenewing || now - this.#renewedAtMs < leaseTimes.renewEveryMs) return;
    this.#isRenewing = true;
    this.#renewedAtMs = now;
    renewLease(this.#database, this.#caller)
      .then(
        (task) => {
          if (task === undefined) this.#lost.abort(new Error('The task is no longer held.'));
        },
        // The next chunk tries again; the final write is fenced anyway.
        () => undefined,
      )
      .finally(() => {
        this.#isRenewing = false;
      });
  };

  /** Renews the lease during work for the task in which no bytes flow. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const timer = setInterval(this.onBytes, leaseTimes.checkEveryMs);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  /** The same bytes; the stream breaks off when the task is lost. */
  watch(stream: Readable): Readable {
    const watched = Readable.from(this.#passOn(stream), { objectMode: false });
    // A generator that was never started closes nothing.
    return watched.once('close', () => stream.destroy());
  }

  async *#passOn(stream: Readable): AsyncGenerator<Buffer> {
    for await (const chunk of stream) {
      this.onBytes();
      this.#lost.signal.throwIfAborted();
      yield chunk as Buffer;
    }
  }
}
