/** The driver as the platform uses it: what it reads as numbers, how it prepares statements and names columns. */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import pg from 'pg';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// Arrays of int8 (OID 1016).
pg.types.setTypeParser(1016 as Parameters<typeof pg.types.setTypeParser>[0], (text: string) =>
  text === '{}' ? [] : text.slice(1, -1).split(',').map(Number),
);

/** Their types are missing from those of pg. */
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;

/** A statement of the platform. Its rows have the names of the columns in camelCase; those of entities stay as they are. */
export class Statement {
  readonly text: string;
  readonly values: unknown[];
  readonly isPrepared: boolean;

  /**
   * @param isPrepared whether PostgreSQL parses it once a connection; statements without values never are
   * @throws when a value has no text for PostgreSQL: the driver would find out after it has sent a commit ahead
   */
  constructor(text: string, values: readonly unknown[], isPrepared = true) {
    this.text = text;
    this.values = values.map(prepareValue);
    this.isPrepared = isPrepared && values.length > 0;
  }
}

/**
 * So many statements after its start, a connection plans its statements again: those that were planned while the tables
 * were empty read them from end to end, and the tables have grown since. Later, autovacuum sees to it.
 */
const planAgainAt: ReadonlySet<number> = new Set([1_000, 10_000]);

/** Prepares each statement with parameters under a name made from its text. */
export class PreparingClient extends pg.Client {
  #sent = 0;

  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads cannot be written otherwise; the values pass through.
  override query(config: any, values?: any, callback?: any): any {
    if (config instanceof Statement) return this.#run(config, callback);
    if (typeof config === 'string' && Array.isArray(values) && values.length > 0) {
      return super.query({ name: statementName(config), text: config, values }, callback);
    }
    return super.query(config, values, callback);
  }

  #run(statement: Statement, callback?: QueryCallback): unknown {
    this.#sent += 1;
    // Refused in a transaction that has failed, and then without effect.
    if (planAgainAt.has(this.#sent)) super.query('discard plans').catch(() => undefined);
    if (callback !== undefined) return super.query(queryOf(statement, callback));
    return new Promise<pg.QueryResult>((resolve, reject) => {
      super.query(queryOf(statement, (error, result) => (error ? reject(error) : resolve(result))));
    }).catch((error: Error) => {
      // Otherwise the stack leads to the socket instead of to the caller.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  /** Statements sent from now to the end of this turn of the event loop go out in one write. */
  gather(): void {
    const { stream } = (this as unknown as { readonly connection: { readonly stream: Socket } }).connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
}

type QueryCallback = (error: Error | undefined, result: pg.QueryResult) => void;

function queryOf({ text, values, isPrepared }: Statement, callback: QueryCallback): StatementQuery {
  const name = isPrepared ? statementName(text) : undefined;
  // The types of pg's constructor have no callback.
  const config = { name, text, values: values.length > 0 ? values : undefined, callback } as pg.QueryConfig;
  return new StatementQuery(config);
}

interface RowDescription {
  readonly fields: { name: string }[];
}

class StatementQuery extends pg.Query {
  handleRowDescription(description: RowDescription): void {
    for (const field of description.fields) field.name = camelCased(field.name);
    (pg.Query.prototype as unknown as StatementQuery).handleRowDescription.call(this, description);
  }
}

const camelCaseNames = new Map<string, string>();

function camelCased(column: string): string {
  let name = camelCaseNames.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    camelCaseNames.set(column, name);
  }
  return name;
}

const statementNames = new Map<string, string>();
/** Texts beyond this many are not prepared: entity queries have varying texts. */
const maxPreparedStatements = 500;

function statementName(text: string): string | undefined {
  let name = statementNames.get(text);
  if (name === undefined && statementNames.size < maxPreparedStatements) {
    name = createHash('sha1').update(text).digest('base64url');
    statementNames.set(text, name);
  }
  return name;
}
