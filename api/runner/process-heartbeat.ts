/**
 * Writes a heartbeat of this process once a second. Heartbeats of outside runners arrive through API processes: while
 * none was up, no lease may count as lost (decisions 9).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { leaseTimes } from '../../domain/runs/lease-times.ts';
import type { Database } from '../../store/connection/database.ts';
import { recordProcessHeartbeat } from '../../store/runs/expire-leases.ts';

const { processHeartbeatEveryMs, standstillMs, catchUpLimitMs } = leaseTimes;

export class ProcessHeartbeat {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #processId = randomUUID();
  readonly #over = new AbortController();
  #heartbeats: Promise<void> | undefined;
  #heartbeatAtMs = Number.NEGATIVE_INFINITY;
  #catchingUp: Promise<unknown> | undefined;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /**
   * Resolves after the first heartbeat, which must precede the first request; keeps trying while the database is down.
   */
  async start(): Promise<void> {
    if (this.#heartbeats !== undefined) return;
    while (!(await this.#heartbeat()) && !this.#over.signal.aborted) await this.#pause();
    this.#heartbeats = this.#goOn();
  }

  /**
   * Resolves at once while this process sends heartbeats. After a stall of the process or the database it resolves
   * after the next heartbeat, so that no caller is refused for a lease that could not be renewed; but soon in any case.
   */
  async caughtUp(): Promise<void> {
    // By the clock that also counts the time while the machine was suspended.
    if (Date.now() - this.#heartbeatAtMs < standstillMs) return;
    this.#catchingUp ??= this.#heartbeat().finally(() => {
      this.#catchingUp = undefined;
    });
    await Promise.race([this.#catchingUp, sleep(catchUpLimitMs, undefined, { ref: false })]);
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#heartbeats;
  }

  async #goOn(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#pause();
      if (!this.#over.signal.aborted) await this.#heartbeat();
    }
  }

  async #pause(): Promise<void> {
    await sleep(processHeartbeatEveryMs, undefined, { signal: this.#over.signal }).catch(() => undefined);
  }

  async #heartbeat(): Promise<boolean> {
    const startedAtMs = Date.now();
    try {
      const prolonged = await recordProcessHeartbeat(this.#database, this.#processId);
      this.#heartbeatAtMs = startedAtMs;
      if (prolonged > 0) this.#log.warn({ leases: prolonged }, 'leases prolonged: no process was running');
      return true;
    } catch (error) {
      this.#log.warn({ err: error }, 'the database cannot be reached');
      return false;
    }
  }
}
