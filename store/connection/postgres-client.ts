/** The driver as the platform uses it: what it reads as numbers, how it prepares statements. */
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import pg from 'pg';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// Arrays of int8 (OID 1016).
pg.types.setTypeParser(1016 as Parameters<typeof pg.types.setTypeParser>[0], (text: string) =>
  text === '{}' ? [] : text.slice(1, -1).split(',').map(Number),
);

/** Names every parameterised statement by its text, so that PostgreSQL parses it once a connection. */
export class PreparingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads cannot be written otherwise; the values pass through.
  override query(config: any, values?: any, callback?: any): any {
    const parameters = values as unknown[] | undefined;
    if (typeof config === 'string' && Array.isArray(parameters) && parameters.length > 0) {
      return super.query({ name: statementName(config), text: config, values: parameters }, callback);
    }
    return super.query(config, values, callback);
  }

  /** What is sent from now to the end of this turn of the event loop goes out in one write. */
  gather(): void {
    const { stream } = (this as unknown as { readonly connection: { readonly stream: Socket } }).connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
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
