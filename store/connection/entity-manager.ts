/**
 * MikroORM over the connections of the platform: entities and statements share pools, transactions and the audit, and
 * MikroORM has no connection of its own. Values go as parameters, and not in the text as MikroORM's own connection sends
 * them: a database logs the text of what it refuses.
 */
import type { Dictionary, RawQueryFragment } from '@mikro-orm/core';
import {
  isRaw,
  MikroORM,
  NativeQueryBuilder,
  PostgreSqlConnection,
  PostgreSqlDriver,
  type SqlEntityManager,
} from '@mikro-orm/postgresql';
import type pg from 'pg';
import { entities } from '../entities/index.ts';

/** Where statements go: a transaction, or a pool. */
export interface StatementSink {
  /** Unprepared: entities are read by all columns of a table, which a migration may add to meanwhile. */
  send(text: string, values: readonly unknown[]): Promise<pg.QueryResult>;
}

type Method = 'all' | 'get' | 'run';

class SharedConnection extends PostgreSqlConnection {
  /** @param sink what the entity manager was made with */
  override async execute<T>(
    query: string | NativeQueryBuilder | RawQueryFragment,
    values: readonly unknown[] | Dictionary = [],
    method: Method = 'all',
    sink?: unknown,
  ): Promise<T> {
    const raw = query instanceof NativeQueryBuilder ? query.toRaw() : query;
    const sent: unknown[] = [];
    const text = isRaw(raw) ? numbered(raw.sql, raw.params, sent) : numbered(raw, values as unknown[], sent);
    const { rows, rowCount } = await (sink as StatementSink).send(text, sent);
    return this.transformRawResult<T>({ rows, numAffectedRows: rowCount }, method);
  }
}

/**
 * MikroORM writes `?` for a value or an expression; none of its statements here has another one.
 * @param sent gets the values
 */
function numbered(text: string, values: readonly unknown[], sent: unknown[]): string {
  let next = 0;
  return text.replaceAll('?', () => {
    const value = values[next++];
    return isRaw(value) ? numbered(value.sql, value.params, sent) : `$${sent.push(value)}`;
  });
}

class SharedDriver extends PostgreSqlDriver {
  override readonly connection = new SharedConnection(this.config);
}

const orm = new MikroORM({
  driver: SharedDriver,
  entities,
  dbName: 'platform',
  // `Database` begins and commits them.
  implicitTransactions: false,
  discovery: { checkDuplicateTableNames: true },
  forceUtcTimezone: true,
});

/** A fresh entity manager whose statements go to `sink`. */
export function entityManager(sink: StatementSink): SqlEntityManager {
  const em = orm.em.fork();
  em.setTransactionContext(sink);
  return em;
}
