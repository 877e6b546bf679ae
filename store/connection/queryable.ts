/** What statements are sent through: the database itself, a connection that only reads, a transaction. */
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { SessionChange } from '../../domain/sessions/session-change.ts';

export type Row = Record<string, unknown>;

/** What both a transaction and the database itself offer. */
export interface Queryable {
  /** Runs one statement with `$1`-style parameters. Statements are constant texts: nothing of a caller's stands in them. */
  query<R = Row>(statement: string, parameters?: readonly unknown[]): Promise<R[]>;
}

/** What whoever only reads works with: the database itself, or a connection that can do no more. */
export interface Reader extends Queryable {
  /**
   * Runs a statement whose text depends on what is asked for, or whose best plan depends on the values: it is planned
   * for these values and not kept.
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
   * Sends a statement without waiting for what went before it: what is sent together costs one way there and back.
   * Its failure fails the transaction, also when nobody waits for the rows.
   */
  pipelined<R = Row>(statement: string, parameters?: readonly unknown[]): Promise<R[]>;
  /** Called once when the transaction is committed, and never for a try of it that was not. It must not throw. */
  onCommit(effect: () => void): void;
  /** Once the transaction is committed, `Database.onSessionChanged` hears of the change. */
  announce(change: SessionChange): void;
  /** Marks what needs a transaction: statements that belong together. */
  readonly isTransaction: true;
}
