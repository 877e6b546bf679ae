/**
 * Hears of queued tasks: one connection a process that LISTENs, and asks on the same connection now and then what
 * notifications may have missed. Waiting claims hold no connection of their own.
 */
import pg from 'pg';
import type { RunnerIdentity } from './claims.ts';
import type { Database } from './database.ts';
import { runnerChangedChannel } from './runner-instances.ts';
import { taskReadyChannel } from './task-ready-channel.ts';

/** A connection that answers nothing for so long is replaced. */
const silentMs = 2_000;
const reconnectMs = 250;

export interface TaskReadyEvents {
  /** A task of this node template was queued, or may have been. */
  ready(template: string): void;
  /** Operators drained instances, or gave them tasks again. */
  runnersChanged(): void;
  /** The connection stands (again): what was queued before went unheard. */
  connected(): void;
  /** The connection is lost, or could not be made; it is tried again by itself. */
  lost(error: Error): void;
}

/** A claim that waits, with the sequence that it got on arrival. */
export interface WaitingClaim {
  readonly identity: RunnerIdentity;
  readonly claimSeq: number;
}

export interface ReadyCheck {
  /** Those of the asked templates that have a task queued. */
  readonly ready: readonly string[];
  /** Places (from 0) of those claims that a newer claim of the same instance has replaced. */
  readonly outdated: readonly number[];
  /** Places of those claims whose instance is drained. */
  readonly drained: readonly number[];
}

export class TaskReadyListener {
  readonly #database: Database;
  readonly #events: TaskReadyEvents;
  #client: pg.Client | undefined;
  #running: Promise<void> | undefined;
  #pause: { timer: NodeJS.Timeout; end: () => void } | undefined;
  #isStopped = false;

  constructor(database: Database, events: TaskReadyEvents) {
    this.#database = database;
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
   * What is ready now, asked on the listening connection, which is replaced when it does not answer; while there is
   * none, on one of the pool.
   */
  async check(templates: readonly string[], waiting: readonly WaitingClaim[]): Promise<ReadyCheck> {
    const parameters = [
      templates,
      waiting.map(({ identity }) => identity.holder),
      waiting.map(({ identity }) => identity.instanceId),
      waiting.map(({ claimSeq }) => claimSeq),
    ];
    const client = this.#client;
    if (client === undefined) {
      const [row] = await this.#database.query<ReadyCheck>(checkStatement, parameters);
      return row!;
    }
    try {
      const { rows } = await client.query<ReadyCheck>(checkStatement, parameters);
      return rows[0]!;
    } catch (error) {
      client.emit('error', error);
      throw error;
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const client = new pg.Client({
        connectionString: this.#database.pool.options.connectionString,
        connectionTimeoutMillis: 5_000,
        query_timeout: silentMs,
        keepAlive: true,
      });
      try {
        await this.#listen(client);
        await client.end();
      } catch (error) {
        this.#events.lost(error as Error);
        // Not awaited: on a dead connection it would take the system's own time.
        client.end().catch(() => undefined);
      }
      this.#client = undefined;
      if (!this.#isStopped) await this.#sleep();
    }
  }

  /** Resolves when the connection was ended in order, rejects when it broke. */
  async #listen(client: pg.Client): Promise<void> {
    const over = new Promise<void>((resolve, reject) => {
      client.on('error', reject);
      client.once('end', resolve);
    });
    over.catch(() => undefined);
    client.on('notification', ({ channel, payload }) => {
      if (channel === runnerChangedChannel) this.#events.runnersChanged();
      else this.#events.ready(payload ?? '');
    });
    await client.connect();
    await client.query(`listen ${taskReadyChannel}; listen ${runnerChangedChannel}`);
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

const placesOf = (condition: string) => `
  array(
    select w.place - 1
      from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as w (holder, instance_id, claim_seq, place)
      join runner_instance i on i.holder = w.holder and i.instance_id = w.instance_id
     where ${condition})`;
const checkStatement = `
  select array(
           select t.name from unnest($1::text[]) as t (name)
            where exists (
              select from node_run r where r.state = 'queued' and not r.frozen and r.template_name = t.name)) as ready,
         ${placesOf('i.claim_seq > w.claim_seq')} as outdated, ${placesOf('i.drained')} as drained`;
