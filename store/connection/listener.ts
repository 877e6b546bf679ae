/**
 * A dedicated connection that LISTENs and is replaced when it breaks or falls silent. Notifications sent while there is
 * none are lost, so its users also poll now and then.
 */
import type pg from 'pg';
import { plannedOnce } from '../../domain/network/session-options.ts';
import type { Database, Row } from './database.ts';
import { PreparingClient } from './postgres-client.ts';

/** A connection that answers nothing for this long is replaced. */
const silentMs = 2_000;
const reconnectMs = 250;

export interface ListenerEvents {
  /** Connected (again): notifications sent before are lost. */
  connected(): void;
  /** The connection is lost, or could not be made; the listener tries again. */
  lost(error: Error): void;
}

export class Listener {
  readonly #database: Database;
  readonly #channels: Readonly<Record<string, (payload: string) => void>>;
  readonly #events: ListenerEvents;
  #client: pg.Client | undefined;
  #running: Promise<void> | undefined;
  #pause: { timer: NodeJS.Timeout; end: () => void } | undefined;
  #isStopped = false;

  /** @param channels the handler of each channel's notifications: constant names, never a caller's text */
  constructor(
    database: Database,
    channels: Readonly<Record<string, (payload: string) => void>>,
    events: ListenerEvents,
  ) {
    this.#database = database;
    this.#channels = channels;
    this.#events = events;
  }

  /** Connects and stays connected until `stop`. Safe to call again. */
  start(): void {
    if (!this.#isStopped) this.#running ??= this.#run();
  }

  /** Closes the connection. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#pause?.timer);
    this.#pause?.end();
    await this.#client?.end().catch(() => undefined);
    await this.#running;
  }

  /**
   * Queries on the listening connection, which is replaced when it does not answer; while there is none, on one of the
   * pool.
   */
  async query<R extends Row>(statement: string, parameters: readonly unknown[]): Promise<R[]> {
    const client = this.#client;
    if (client === undefined) return this.#database.query<R>(statement, parameters);
    try {
      const { rows } = await client.query<R>(statement, parameters as unknown[]);
      return rows;
    } catch (error) {
      client.emit('error', error);
      throw error;
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const client = new PreparingClient({
        connectionString: this.#database.pool.options.connectionString,
        options: plannedOnce,
        connectionTimeoutMillis: 5_000,
        query_timeout: silentMs,
        keepAlive: true,
      });
      try {
        await this.#listen(client);
        await client.end();
      } catch (error) {
        this.#events.lost(error as Error);
        // Not awaited: on a dead connection it would wait for the system's own time-out.
        client.end().catch(() => undefined);
      }
      this.#client = undefined;
      if (!this.#isStopped) await this.#sleep();
    }
  }

  /** Resolves when the connection was closed, rejects when it broke. */
  async #listen(client: pg.Client): Promise<void> {
    const over = new Promise<void>((resolve, reject) => {
      client.on('error', reject);
      client.once('end', resolve);
    });
    over.catch(() => undefined);
    client.on('notification', ({ channel, payload }) => this.#channels[channel]?.(payload ?? ''));
    await client.connect();
    await client.query(
      Object.keys(this.#channels)
        .map((channel) => `listen ${channel}`)
        .join('; '),
    );
    if (this.#isStopped) return;
    this.#client = client;
    this.#events.connected();
    await over;
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#pause = { timer: setTimeout(resolve, reconnectMs), end: resolve };
    });
  }
}
