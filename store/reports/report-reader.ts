/** The connection of report downloads, where operators gave them one of their own: `REPORT_DATABASE_URL`. */
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { isDatabaseAway } from '../../domain/network/database-fault.ts';
import { SettingsError } from '../../domain/settings.ts';
import { watchPool } from '../../telemetry/metrics.ts';
import type { EntityReader, Queryable, Reader, Row } from '../connection/database.ts';
import { entityManager } from '../connection/entity-manager.ts';
import { guardConnections } from '../connection/pool-connections.ts';
import { PreparingClient, Statement } from '../connection/postgres-client.ts';
import { idsOfDimensions, readDimensions } from '../dashboards/dimension-catalog.ts';
import { findReport } from './definitions.ts';

/** A report reads one batch after the other and holds no connection while its rows are written. */
const poolSize = 4;
/** More reports than this wait for each other, which is better than a report that is cut off. */
const waitMs = 30_000;
/** Whatever the role may do, these sessions only read. */
const maxStatementMs = 60_000;
const options = `-c default_transaction_read_only=on -c work_mem=16MB -c lock_timeout=2000 -c statement_timeout=${maxStatementMs}`;
/** Distinguishes one platform's database from another's, and is the same in a replica. */
const firstMigration = 'select name, executed_at from platform_migration order by id limit 1';
/** Class 53: the server has no connection left. The operator's settings are not at fault then. */
const isServerFull = (error: unknown) => /^53/.test((error as { readonly code?: string }).code ?? '');

export class ReportReader implements Reader, EntityReader {
  readonly #pool: pg.Pool;
  readonly #unwatch: () => void;

  /** Makes no connection before the first query. @param databaseUrl `postgres://user:password@host:port/database` */
  constructor(databaseUrl: string) {
    const pool = new pg.Pool({
      connectionString: databaseUrl,
      max: poolSize,
      connectionTimeoutMillis: waitMs,
      idleTimeoutMillis: 60_000,
      application_name: 'reports',
      options,
      // pg's types of `Client` in a pool's options are of its own class.
      Client: PreparingClient,
    });
    guardConnections(pool, maxStatementMs);
    this.#pool = pool;
    this.#unwatch = watchPool('reports', pool);
  }

  async query<R = Row>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return (await this.#pool.query(new Statement(statement, parameters))).rows as R[];
  }

  async queryUnprepared<R = Row>(statement: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return (await this.#pool.query(new Statement(statement, parameters, false))).rows as R[];
  }

  get em() {
    return entityManager({ send: (text, values) => this.#pool.query({ text, values: values as unknown[] }) });
  }

  /**
   * Checks, before the process starts work, that reports can be read, and from the same platform. Returns why that is
   * unknown when a database is merely unavailable: reports fail until it is back.
   * @throws SettingsError, with the sentence for the operator
   */
  async check(platform: Queryable): Promise<Error | undefined> {
    try {
      const [ours, theirs] = await Promise.all([platform.query(firstMigration), this.query(firstMigration)]);
      if (!isDeepStrictEqual(ours, theirs))
        throw new Error('it belongs to another platform than DATABASE_URL');
      const nothing = { order: 'ascending', offset: 0, limit: 0 } as const;
      await findReport(this, undefined);
      await idsOfDimensions(this, {}, nothing);
      await readDimensions(this, [0]);
      return undefined;
    } catch (error) {
      if (isDatabaseAway(error) || isServerFull(error)) return error as Error;
      throw new SettingsError([`REPORT_DATABASE_URL: reports cannot be read: ${(error as Error).message}.`]);
    }
  }

  async close(): Promise<void> {
    this.#unwatch();
    await this.#pool.end();
  }
}
