/** The objects that a process is making: each is held from before its first byte until something refers to it. */
import { unaudited } from '../connection/audit-scope.ts';
import type { Queryable } from '../connection/database.ts';
import { whenDatabaseReturns } from '../connection/database-returns.ts';
import type { DataSourceRow } from './data-sources.ts';
import type { ObjectStores } from './object-stores.ts';

const heartbeatEveryMs = 10_000;
/** A caller waits for its answer meanwhile. */
const discardMs = 5_000;
/** Each asks the store and the database several times. More at once would keep all other calls waiting for both. */
const discardsAtOnce = 4;
/** What breaks off beyond these is left to the sweeper. */
const discardsWaiting = 2_000;
/** The answer to the first insert may have got lost. */
const againIsTheSame = 'on conflict (object_key) do update set heartbeat_at = clock_timestamp()';

/** The node instance for which an object was meant is gone. */
export class PendingNodeGone extends Error {
  constructor(nodeInstanceId: number) {
    super(`Node instance ${nodeInstanceId} no longer exists.`);
    this.name = 'PendingNodeGone';
  }
}

/** An object whose bytes are to come. */
export interface NewObject {
  readonly objectKey: string;
  readonly dataSource: DataSourceRow;
  /** The node to which a caller uploads: its session's template stays as long. */
  readonly nodeInstanceId?: number | undefined;
  /** A statement of the caller's has written the pending row just now. */
  readonly hasRow?: boolean;
}

/** The objects of one piece of work. Those that are still held at its end are discarded. */
export interface HeldObjects {
  /**
   * Writes the row before the first byte, and sends heartbeats from now on.
   * @throws PendingNodeGone
   */
  begin(object: NewObject): Promise<void>;
  /** Stops the heartbeats: something refers to the object, or the sweeper is to remove it. */
  release(objectKey: string): void;
  /** Removes the object now, and not only at the end of the work. */
  discard(objectKey: string): Promise<void>;
}

/**
 * The pending rows of one process, kept alive while their objects are being written. A heartbeat that
 * is not stopped would keep an abandoned object for as long as the process lives, so heartbeats exist only around the work.
 */
export class PendingObjects {
  readonly #database: Queryable;
  readonly #stores: ObjectStores;
  readonly #active = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #discarding = 0;
  /** Objects to be removed, each with the function that begins it. */
  readonly #waiting: (() => void)[] = [];

  constructor(database: Queryable, stores: ObjectStores) {
    this.#database = database;
    this.#stores = stores;
  }

  /**
   * Does the work that stores an object and makes something refer to it. The object is discarded when the work throws,
   * or when its result does not use the object.
   * @param isLeft errors after which the object is left to the sweeper, because its store would not answer now
   * @throws PendingNodeGone; what the work throws
   */
  async hold<T>(
    object: NewObject,
    work: () => Promise<T>,
    isUsed: (result: T) => boolean,
    isLeft: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    return await this.holdSeveral(async (held) => {
      await held.begin(object);
      try {
        const result = await work();
        if (isUsed(result)) held.release(object.objectKey);
        return result;
      } catch (error) {
        if (isLeft(error)) held.release(object.objectKey);
        throw error;
      }
    });
  }

  /** As {@link hold}, for work that makes several objects and releases those that are used. */
  async holdSeveral<T>(work: (held: HeldObjects) => Promise<T>): Promise<T> {
    const held = new Map<string, DataSourceRow>();
    try {
      return await work({
        begin: async (object) => {
          await this.#begin(object);
          held.set(object.objectKey, object.dataSource);
        },
        release: (objectKey) => {
          if (held.delete(objectKey)) this.#release(objectKey);
        },
        discard: async (objectKey) => {
          const dataSource = held.get(objectKey);
          held.delete(objectKey);
          if (dataSource !== undefined) await this.#discard(objectKey, dataSource);
        },
      });
    } finally {
      for (const [objectKey, dataSource] of held) await this.#discard(objectKey, dataSource);
    }
  }

  async #begin({ objectKey, dataSource, nodeInstanceId, hasRow = false }: NewObject): Promise<void> {
    if (!hasRow)
      await unaudited(() =>
        whenDatabaseReturns(() => this.#writeRow(objectKey, dataSource.id, nodeInstanceId)),
      );
    this.#active.add(objectKey);
    this.#timer ??= setInterval(() => unaudited(() => void this.#heartbeat()), heartbeatEveryMs).unref();
  }

  async #writeRow(objectKey: string, dataSourceId: number, nodeInstanceId?: number): Promise<void> {
    if (nodeInstanceId === undefined) {
      await this.#database.query(
        `insert into pending_object (object_key, data_source_id) values ($1, $2) ${againIsTheSame}`,
        [objectKey, dataSourceId],
      );
    } else {
      const rows = await this.#database.query(
        `insert into pending_object (object_key, data_source_id, node_instance_id)
         select $1, $2::bigint, id from node_instance where id = $3::bigint for key share
         ${againIsTheSame} returning 1`,
        [objectKey, dataSourceId, nodeInstanceId],
      );
      if (rows.length === 0) throw new PendingNodeGone(nodeInstanceId);
    }
  }

  #release(objectKey: string): void {
    this.#active.delete(objectKey);
    if (this.#active.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Removes an object that was not published; when others come first, the work waits no longer than one may take. */
  async #discard(objectKey: string, dataSource: DataSourceRow): Promise<void> {
    this.#release(objectKey);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, discardMs);
      void this.#inTurn(() => this.#remove(objectKey, dataSource)).finally(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#waiting.length >= discardsWaiting) return;
    if (this.#discarding < discardsAtOnce) this.#discarding += 1;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#discarding -= 1;
      else next();
    }
  }

  /**
   * When the publishing transaction did commit after all (its answer was lost), the object stays. Never throws: what fails
   * here is left to the sweeper.
   */
  async #remove(objectKey: string, dataSource: DataSourceRow): Promise<void> {
    try {
      const store = this.#stores.of(dataSource);
      const signal = AbortSignal.timeout(discardMs);
      await store.abortUploads(objectKey, signal);
      const deletionId = await unaudited(() => moveToDeletions(this.#database, objectKey));
      if (deletionId === undefined) return;
      await store.delete(objectKey, signal);
      await unaudited(() => this.#database.query('delete from object_deletion where id = $1', [deletionId]));
    } catch {
      // A row of one of the two tables exists, so the sweeper finds the object.
    }
  }

  async #heartbeat(): Promise<void> {
    // After a failed heartbeat almost an hour is left for the next one.
    await this.#database
      .query(
        'update pending_object set heartbeat_at = clock_timestamp() where object_key = any ($1::text[])',
        [[...this.#active]],
      )
      .catch(() => undefined);
  }
}

/** From pending to "to be deleted", in one statement; undefined when the row is gone. */
async function moveToDeletions(database: Queryable, objectKey: string): Promise<number | undefined> {
  const [row] = await database.query<{ id: number }>(
    `with gone as (
       delete from pending_object where object_key = $1 returning data_source_id, object_key
     )
     insert into object_deletion (data_source_id, object_key)
     select data_source_id, object_key from gone returning id`,
    [objectKey],
  );
  return row?.id;
}
