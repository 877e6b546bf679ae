/**
 * The one way to PostgreSQL, for all of `store/`.
 *
 * What people administer are entities (`store/entities`: projects, users, ingests, reports, configuration, system
 * dashboards, data sources), read and written through an entity manager and its unit of work. What the platform does
 * with many rows at once or many times a second is plain SQL: runs, outputs, sessions, search, runners, the publication
 * of manifests, and what every session or upload reads of its project or data source. Both go through one transaction:
 * a {@link Tx} has statements and an entity manager, on one connection, with one audit entry
 * (docs/architecture/015-entities-and-statements.md).
 *
 * Serialisation failures, deadlocks and lock time-outs of a transaction are tried again, so its work must be free of
 * effects outside the database. A statement alone is tried again after a deadlock.
 */
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { isConflict, isReadOnly, isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { endsWithLostClient, planForValues, plannedOnce } from '../../domain/network/session-options.ts';
import type { SessionChange } from '../../domain/sessions/session-change.ts';
import { watchPool } from '../../telemetry/metrics.ts';
import { auditStatement, isAuditPending, isWrite } from './audit-scope.ts';
import { entityManager, type StatementSink } from './entity-manager.ts';
import { guardConnections } from './pool-connections.ts';
import { PreparingClient, Statement } from './postgres-client.ts';
import type { EntityReader, Reader, Row, Tx } from './queryable.ts';
import { type RetryPolicy, withRetries } from './with-retries.ts';

export type { EntityReader, Queryable, Reader, Row, Tx } from './queryable.ts';

export interface DatabaseSettings {
  /** `postgres://user:password@host:port/database` */
  databaseUrl: string;
  /** Connections of this process at the most. */
  poolSize?: number;
  /** After which PostgreSQL ends a statement. */
  maxStatementMs?: number;
}

const workingOptions = (maxStatementMs: number) =>
  `-c work_mem=16MB -c lock_timeout=2000 -c statement_timeout=${maxStatementMs} ` +
  `-c idle_in_transaction_session_timeout=10000 ${plannedOnce} ${endsWithLostClient}`;

/** Transactions that must run again: serialisation failures, deadlocks and lock time-outs. */
const conflicts: RetryPolicy = { maxTries: 6, firstPauseMs: 14, mayPass: isConflict };
/** Conflicts of a statement alone. */
const deadlocks: RetryPolicy = {
  ...conflicts,
  mayPass: (error) => isRefusal(error, sqlStates.deadlockDetected),
};

export class Database implements Reader, EntityReader {
  readonly pool: pg.Pool;
  /** Called after each commit that changed a session's graph. It must not throw, nor wait. */
  onSessionChanged: (change: SessionChange) => void = () => undefined;
  readonly #unwatch: () => void;

  private constructor(pool: pg.Pool) {
    this.pool = pool;
    this.#unwatch = watchPool('platform', pool);
  }

  /** Opens the pool; the first connection is made by the first query. */
  static async open(settings: DatabaseSettings): Promise<Database> {
    const { maxStatementMs = 60_000 } = settings;
    const pool = new pg.Pool({
      connectionString: settings.databaseUrl,
      max: settings.poolSize ?? 16,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      // With the default of 4 MB a search that finds much remembers whole pages and checks each of their rows.
      options: workingOptions(maxStatementMs),
      pipeline: true,
      // pg's types of `Client` in a pool's options are of its own class.
      Client: PreparingClient,
    });
    guardConnections(pool, maxStatementMs);
    return new Database(pool);
  }

  async query<R = Row>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    // A pending audit entry is written in the transaction of this statement.
    if (isAuditPending() && isWrite(statement))
      return this.transaction((tx) => tx.query(statement, parameters));
    const result = await withRetries(deadlocks, () => this.pool.query(new Statement(statement, parameters)));
    return result.rows as R[];
  }

  async queryUnprepared<R = Row>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return this.#once((tx) => tx.lastUnprepared<R>(statement, parameters));
  }

  /** A fresh entity manager, for reads. */
  get em(): SqlEntityManager {
    return entityManager(readingSink(this.pool));
  }

  /**
   * Runs `work` in one transaction (READ COMMITTED), again when the database requires it. What `work` throws rolls back
   * and passes on.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return withRetries(conflicts, () => this.#once(work));
  }

  async #once<T>(work: (tx: Pipeline) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    const pipeline = new Pipeline(client, this);
    try {
      pipeline.pipelined('begin');
      const result = await work(pipeline);
      await pipeline.flush();
      const audit = pipeline.hasWritten ? auditStatement() : undefined;
      const entries = audit && pipeline.pipelined(audit.text, audit.values);
      await pipeline.commit();
      for (const effect of pipeline.effects) effect();
      if (entries !== undefined) audit?.committed(await entries);
      return result;
    } catch (error) {
      // The first error is the one to report; a connection that cannot roll back is not used again.
      await client.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
      const failure = await pipeline.failure(error);
      // After a failover the next one may lead to the server that takes writes.
      if (isReadOnly(failure)) broken = failure as Error;
      throw failure;
    } finally {
      client.release(broken);
    }
  }

  async close(): Promise<void> {
    this.#unwatch();
    await this.pool.end();
  }
}

/** For entities outside of a transaction: they are read there, and written within one, which carries the audit. */
function readingSink(pool: pg.Pool): StatementSink {
  return {
    async send(text, values) {
      if (isWrite(text)) throw new Error('Entities are written within a transaction of the database.');
      return await pool.query({ text, values: values as unknown[] });
    },
  };
}

/** The statements of one transaction on one connection, in the order in which they were sent. */
class Pipeline implements Tx, StatementSink {
  readonly isTransaction = true;
  /** Whether an audited call has written; false for all others. */
  hasWritten = false;
  readonly #isAudited = isAuditPending();
  readonly #client: pg.PoolClient;
  readonly #database: Pick<Database, 'onSessionChanged'>;
  readonly #sentAhead: Array<Promise<unknown>> = [];
  #entities: SqlEntityManager | undefined;
  #committed: Promise<pg.QueryResult> | undefined;
  #firstFailure: unknown;
  readonly effects: Array<() => void> = [];

  constructor(client: pg.PoolClient, database: Pick<Database, 'onSessionChanged'>) {
    this.#client = client;
    this.#database = database;
  }

  get em(): SqlEntityManager {
    this.#entities ??= entityManager(this);
    return this.#entities;
  }

  async flush(): Promise<void> {
    await this.#entities?.flush();
  }

  async query<R>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return this.#run<R>(new Statement(statement, parameters));
  }

  async #run<R>(statement: Statement): Promise<R[]> {
    if (this.#committed !== undefined) throw new Error('The last statement has been sent.');
    this.hasWritten ||= this.#isAudited && isWrite(statement.text);
    const result = await this.#noted(this.#client.query(statement));
    return result.rows as R[];
  }

  async send(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    this.hasWritten ||= this.#isAudited && isWrite(text);
    return await this.#noted(this.#client.query({ text, values: values as unknown[] }));
  }

  /** The driver settles statements in the order in which they were sent. */
  #noted(result: Promise<pg.QueryResult>): Promise<pg.QueryResult> {
    result.catch((error: unknown) => {
      this.#firstFailure ??= error;
    });
    return result;
  }

  pipelined<R>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    (this.#client as unknown as PreparingClient).gather();
    const rows = this.query<R>(statement, parameters);
    // `failure` reports it if no other code does.
    rows.catch(() => {});
    this.#sentAhead.push(rows);
    return rows;
  }

  async last<R>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return this.#runLast<R>(new Statement(statement, parameters));
  }

  /** As `last`, planned for the values. */
  async lastUnprepared<R>(statement: string, parameters: readonly unknown[]): Promise<R[]> {
    this.pipelined(planForValues);
    return this.#runLast<R>(new Statement(statement, parameters, false));
  }

  async #runLast<R>(statement: Statement): Promise<R[]> {
    // Then more follows: the entry of the audit, or what entities have changed.
    if (this.#isAudited || this.#entities !== undefined) return this.#run<R>(statement);
    (this.#client as unknown as PreparingClient).gather();
    const rows = this.#run<R>(statement);
    this.#committed = this.#client.query('commit');
    // `commit` reports it when the rows have come.
    this.#committed.catch(() => {});
    return rows;
  }

  onCommit(effect: () => void): void {
    this.effects.push(effect);
  }

  announce(change: SessionChange): void {
    this.effects.push(() => this.#database.onSessionChanged(change));
  }

  /**
   * Why the transaction failed: the first failure of the statements sent ahead, or what its work threw. The failure of a
   * statement that follows from an earlier failure may arrive before that.
   */
  async failure(thrown: unknown): Promise<unknown> {
    const settled = await Promise.allSettled(this.#sentAhead);
    const failure = settled.find((result) => result.status === 'rejected')?.reason ?? thrown;
    return isRefusal(failure, sqlStates.inFailedTransaction) ? this.#firstFailure : failure;
  }

  /** After a failure in a transaction, the server answers a commit by rolling back, without an error. */
  async commit(): Promise<void> {
    // A statement that comes later would go to the next user of the connection.
    this.#committed ??= this.#client.query('commit');
    const { command } = await this.#committed;
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back.');
  }
}
