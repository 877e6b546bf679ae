/**
 * Tells once a second that this process is up. Heartbeats of outside runners arrive through API processes: while none
 * was up, no lease may count as lost (decisions 9).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../store/database.ts';
import { beatAlive } from '../../store/leases.ts';

const beatEveryMs = 1_000;

export class AliveBeat {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #processId = randomUUID();
  readonly #over = new AbortController();
  #beats: Promise<void> | undefined;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /** Resolves after the first beat, which must come before anybody is served; keeps trying while the database is down. */
  async start(): Promise<void> {
    if (this.#beats !== undefined) return;
    while (!(await this.#beat()) && !this.#over.signal.aborted) await this.#pause();
    this.#beats = this.#goOn();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#beats;
  }

  async #goOn(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#pause();
      if (!this.#over.signal.aborted) await this.#beat();
    }
  }

  async #pause(): Promise<void> {
    await sleep(beatEveryMs, undefined, { signal: this.#over.signal }).catch(() => undefined);
  }

  async #beat(): Promise<boolean> {
    try {
      const prolonged = await beatAlive(this.#database, this.#processId);
      if (prolonged > 0) this.#log.warn({ leases: prolonged }, 'leases prolonged: no process was up');
      return true;
    } catch (error) {
      this.#log.warn({ err: error }, 'the database does not answer');
      return false;
    }
  }
}
