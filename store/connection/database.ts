/**
 * The one way to PostgreSQL: MikroORM over a pool of our own.
 *
 * Transactions hand out a {@link Tx} whose statements are prepared once a connection; {@link EntityTx} adds entities.
 * Serialisation failures, deadlocks and lock time-outs are tried again, so work in a transaction must be free
 * of effects outside the database.
 */
import type { MigrationObject } from '@mikro-orm/core';
import { MikroORM, type SqlEntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import { isConflict } from '../../domain/network/database-fault.ts';
import type { SessionChange } from '../../domain/sessions/session-change.ts';
import { watchPool } from '../../telemetry/metrics.ts';
import { auditStatement, isAuditPending, isWrite } from '../administration/audit-scope.ts';
import { entities } from '../entities/index.ts';
import { migrationsList } from './migrations.ts';
import { PreparingClient } from './postgres-client.ts';
import type { EntityTx, Reader, Row, Tx } from './queryable.ts';
import { type Tries, tryAgain } from './try-again.ts';

export type { EntityTx, Queryable, Reader, Row, Tx } from './queryable.ts';

export interface DatabaseSettings {
  /** `postgres://user:password@host:port/database` */
  databaseUrl: string;
  /** Connections of this process at the most. */
  poolSize?: number;
  /** For migrating: what runs, and connections that give way to the platform's own. */
  migrations?: readonly MigrationObject[];
}

const workingOptions =
  '-c work_mem=16MB -c lock_timeout=2000 -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000';
/** Whoever waits for a lock on a whole table holds up all who come after: a migration waits for a moment, and tries again. */
const migratingOptions = '-c lock_timeout=300 -c idle_in_transaction_session_timeout=60000';

/** Transactions that the database asks to run again: serialisation failures, deadlocks and lock time-outs. */
const conflicts: Tries = { maxTries: 6, firstPauseMs: 14, mayPass: isConflict };

export class Database implements Reader {
  readonly pool: pg.Pool;
  /** Called after each commit that changed a session's graph. It must not throw, nor wait. */
  onSessionChanged: (change: SessionChange) => void = () => undefined;
  private readonly orm: MikroORM;
  private readonly unwatch: () => void;
  private readonly kysely: Kysely<unknown>;

  private constructor(orm: MikroORM, pool: pg.Pool) {
    this.orm = orm;
    this.pool = pool;
    this.unwatch = watchPool('platform', pool);
    this.kysely = orm.em.getConnection().getClient() as unknown as Kysely<unknown>;
  }

  /** Opens the pool; the first connection is made by the first query. */
  static async open(settings: DatabaseSettings): Promise<Database> {
    const pool = new pg.Pool({
      connectionString: settings.databaseUrl,
      max: settings.poolSize ?? 16,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      // With the default of 4 MB a search that finds much keeps whole pages in mind and looks at each of their rows.
      options: settings.migrations === undefined ? workingOptions : migratingOptions,
      pipeline: true,
      // pg's types of `Client` in a pool's options are of its own class.
      Client: PreparingClient,
    } as pg.PoolConfig);
    // A connection that the server drops while idle must not end the process; the pool makes a new one.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    const orm = await MikroORM.init({
      entities,
      dbName: new URL(settings.databaseUrl).pathname.slice(1) || 'postgres',
      driverOptions: new PostgresDialect({ pool }),
      migrations: {
        migrationsList: [...(settings.migrations ?? migrationsList)],
        // Each in a transaction of its own, so that none holds locks while another runs.
        allOrNothing: false,
        snapshot: false,
        tableName: 'platform_migration',
        snapshotName: 'platform',
        // It would write to the terminal, past our own log.
        silent: true,
      },
      discovery: { checkDuplicateTableNames: true },
      forceUtcTimezone: true,
      ...(await migratorExtension()),
    });
    return new Database(orm, pool);
  }

  async query<R = Row>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    // So that the audit entry of a call goes with it.
    if (isAuditPending() && isWrite(statement))
      return this.transaction((tx) => tx.query(statement, parameters));
    const result = await this.pool.query(statement, parameters as unknown[]);
    return result.rows as R[];
  }

  async queryAnew<R = Row>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    // Without a name, and as an object, it passes the client that prepares.
    const result = await this.pool.query({ text: statement, values: parameters as unknown[] });
    return result.rows as R[];
  }

  /** A fresh entity manager outside a transaction, for reads. */
  get em(): SqlEntityManager {
    return this.orm.em.fork() as SqlEntityManager;
  }

  /** The migrator over `store/migrations`. */
  get migrator() {
    return this.orm.migrator;
  }

  /**
   * Runs `work` in one transaction (READ COMMITTED), again when the database asks for it.
   * What `work` throws rolls back and passes on.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return tryAgain(conflicts, () => this.once(work));
  }

  /** As {@link transaction}, with entities. They cost more than statements: not for paths that every task takes. */
  async entityTransaction<T>(work: (tx: EntityTx) => Promise<T>): Promise<T> {
    return tryAgain(conflicts, () => this.onceWithEntities(work));
  }

  private async once<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    const pipeline = new Pipeline(client, this);
    try {
      pipeline.ahead('begin');
      const result = await work(pipeline);
      const audit = pipeline.hasWritten ? auditStatement() : undefined;
      const entries = audit && pipeline.ahead(audit.text, audit.values);
      await pipeline.commit();
      for (const effect of pipeline.effects) effect();
      if (entries !== undefined) audit?.committed(await entries);
      return result;
    } catch (error) {
      // The first error is the one to tell; a connection that cannot roll back is not used again.
      await client.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
      throw (await pipeline.failure()) ?? error;
    } finally {
      client.release(broken);
    }
  }

  /** By Kysely's own transactions, not its controlled ones: those never give back a connection that broke. */
  private async onceWithEntities<T>(work: (tx: EntityTx) => Promise<T>): Promise<T> {
    let first: { readonly error: unknown } | undefined;
    const effects: Array<() => void> = [];
    const withEntities = async (trx: Transaction<unknown>) => {
      const em = this.orm.em.fork() as SqlEntityManager;
      em.setTransactionContext(trx);
      const query = async <R>(statement: string, parameters: readonly unknown[] = []) => {
        const result = await trx.executeQuery(CompiledQuery.raw(statement, [...parameters]));
        return result.rows as R[];
      };
      const tx: EntityTx = {
        isTransaction: true,
        em,
        query,
        onCommit: (effect) => void effects.push(effect),
        announce: (change) => void effects.push(() => this.onSessionChanged(change)),
        ahead(statement, parameters) {
          const rows = query<never>(statement, parameters);
          rows.catch((error: unknown) => {
            first ??= { error };
          });
          return rows;
        },
      };
      try {
        const result = await work(tx);
        await em.flush();
        const audit = auditStatement();
        if (audit !== undefined) {
          const entries = await query(audit.text, audit.values);
          effects.push(() => audit.committed(entries));
        }
        return result;
      } catch (error) {
        first = { error };
        throw error;
      }
    };
    try {
      const result = await this.kysely.transaction().execute(withEntities);
      for (const effect of effects) effect();
      return result;
    } catch (error) {
      // The first error is the one to tell; a broken connection cannot roll back and need not.
      throw first ? first.error : error;
    }
  }

  async close(): Promise<void> {
    this.unwatch();
    await this.orm.close(true);
    if (!this.pool.ended) await this.pool.end();
  }
}

/** The statements of one transaction on one connection, in the order in which they were sent. */
class Pipeline implements Tx {
  readonly isTransaction = true;
  /** For an audited call alone. */
  hasWritten = false;
  private readonly isAudited = isAuditPending();
  private readonly client: pg.PoolClient;
  private readonly database: Pick<Database, 'onSessionChanged'>;
  private readonly sentAhead: Array<Promise<unknown>> = [];
  readonly effects: Array<() => void> = [];

  constructor(client: pg.PoolClient, database: Pick<Database, 'onSessionChanged'>) {
    this.client = client;
    this.database = database;
  }

  async query<R>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    this.hasWritten ||= this.isAudited && isWrite(statement);
    const result = await this.client.query(statement, parameters as unknown[]);
    return result.rows as R[];
  }

  ahead<R>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    (this.client as unknown as PreparingClient).gather();
    const rows = this.query<R>(statement, parameters);
    // Told by `failure`, if by nobody else.
    rows.catch(() => {});
    this.sentAhead.push(rows);
    return rows;
  }

  onCommit(effect: () => void): void {
    this.effects.push(effect);
  }

  announce(change: SessionChange): void {
    this.effects.push(() => this.database.onSessionChanged(change));
  }

  /** What failed first of all that was sent ahead; what came behind it failed only because of it. */
  async failure(): Promise<Error | undefined> {
    const settled = await Promise.allSettled(this.sentAhead);
    return settled.find((result) => result.status === 'rejected')?.reason as Error | undefined;
  }

  /** A transaction in which something failed answers a commit by rolling back, without an error of its own. */
  async commit(): Promise<void> {
    const { command } = await this.client.query('commit');
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back.');
  }
}

async function migratorExtension() {
  const { Migrator } = await import('@mikro-orm/migrations');
  return { extensions: [Migrator] };
}
