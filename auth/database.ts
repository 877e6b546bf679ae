/**
 * PostgreSQL for this service: a small pool and named statements with parameters. No entity manager: it writes values
 * into the text of its statements, and a database logs the text of statements that it refuses. Addresses and password
 * hashes are stored here.
 */
import pg from 'pg';
import { isReadOnly } from '../domain/network/database-fault.ts';
import { endsWithLostClient, plannedOnce } from '../domain/network/session-options.ts';
import { guardConnections } from '../store/connection/pool-connections.ts';
import { watchPool } from '../telemetry/metrics.ts';

const poolSize = 5;
const maxStatementMs = 10_000;
const options =
  `-c lock_timeout=2000 -c statement_timeout=${maxStatementMs} -c idle_in_transaction_session_timeout=10000 ` +
  `${plannedOnce} ${endsWithLostClient}`;

/** A statement that PostgreSQL prepares once a connection. */
export type Statement = { readonly name: string; readonly text: string };
export type Runner = { query<R>(statement: Statement, values: readonly unknown[]): Promise<R[]> };

export class AuthDatabase implements Runner {
  readonly #pool: pg.Pool;
  readonly #unwatch: () => void;

  /** Opens no connection before the first query, so a database that is down is noticed there. */
  constructor(databaseUrl: string) {
    const pool = new pg.Pool({
      connectionString: databaseUrl,
      max: poolSize,
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      application_name: 'authentication',
      options,
    });
    guardConnections(pool, maxStatementMs);
    this.#pool = pool;
    this.#unwatch = watchPool('auth', pool);
  }

  async query<R>(statement: Statement, values: readonly unknown[]): Promise<R[]> {
    const result = await this.#pool.query({ ...statement, values: [...values] });
    return result.rows as R[];
  }

  /** Runs `work` in one transaction (READ COMMITTED); an error rolls back and is thrown again. */
  async transaction<T>(work: (tx: Runner) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken = false;
    try {
      await client.query('begin');
      const result = await work({
        async query<R>(statement: Statement, values: readonly unknown[]) {
          return (await client.query({ ...statement, values: [...values] })).rows as R[];
        },
      });
      await client.query('commit');
      return result;
    } catch (error) {
      // After a failover the next connection may lead to the server that takes writes.
      broken = isReadOnly(error);
      await client.query('rollback').catch(() => {
        broken = true;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async close(): Promise<void> {
    this.#unwatch();
    await this.#pool.end();
  }
}
