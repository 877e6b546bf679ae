/** The interfaces for statements: the database itself, a read-only connection, a transaction. */
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { SessionChange } from '../../domain/sessions/session-change.ts';

export type Row = Record<string, unknown>;

/** What both a transaction and the database itself offer. */
export interface Queryable {
  /**
   * Runs one statement with `$1`-style parameters. Statements are constant texts: they never contain a caller's text. They
   * are prepared and planned once, whatever the values: a number of rows that the plan depends on (`limit`) stands in the
   * text.
   */
  query<R = Row>(statement: string, parameters?: readonly unknown[]): Promise<R[]>;
}

/** The interface for code that only reads: the database itself, or a read-only connection. */
export interface Reader extends Queryable {
  /**
   * Runs a statement whose text depends on the request, or whose best plan depends on the values: it is planned for
   * these values and not prepared.
   */
  queryUnprepared<R = Row>(statement: string, parameters?: readonly unknown[]): Promise<R[]>;
}

/** What entities are read through: the database itself, or a transaction. */
export interface EntityReader {
  readonly em: SqlEntityManager;
}

/** One transaction. Changes of its entities are written by `em.flush()`, at the latest before the commit. */
export interface Tx extends Queryable, EntityReader {
  /**
   * Sends a statement without waiting for what went before it: statements sent together cost one round trip. Its
   * failure fails the transaction, even when no code awaits the rows.
   */
  pipelined<R = Row>(statement: string, parameters?: readonly unknown[]): Promise<R[]>;
  /**
   * The last statement: the commit goes out with it, so that locks are held no longer than the server needs for it.
   * Entities and statements after it are refused.
   */
  last<R = Row>(statement: string, parameters?: readonly unknown[]): Promise<R[]>;
  /** Called once when the transaction is committed, and never for a try that rolled back. It must not throw. */
  onCommit(effect: () => void): void;
  /** Once the transaction is committed, `Database.onSessionChanged` gets the change. */
  announce(change: SessionChange): void;
  /** Marks code that needs a transaction: statements that belong together. */
  readonly isTransaction: true;
}
