/** Connections of a pool of pg that break, or whose server is gone. */
import type { Socket } from 'node:net';

/** PostgreSQL has ended a statement before, so a connection on which this passes has lost its server. */
const answerLimitMs = (maxStatementMs: number) => maxStatementMs + 5_000;

/** What pg's types of a client leave out. */
interface Connected {
  readonly connection: { readonly stream: Socket };
  /** False while a statement waits for its answer. */
  readonly readyForQuery: boolean;
}

interface Failing {
  on(event: 'error', listener: () => void): unknown;
}

interface Pool {
  on(event: 'error', listener: () => void): unknown;
  on(event: 'connect', listener: (client: Failing) => void): unknown;
}

/**
 * Keeps broken connections from ending the process, and gives up those that leave a statement without an answer; the
 * kernel would keep them for a quarter of an hour. The pool makes new ones.
 *
 * The time is that of the socket. pg's own `query_timeout` makes a timer for each statement; with it, garbage collections
 * took a third of the processor time of a report.
 * @param maxStatementMs after which PostgreSQL ends a statement
 */
export function guardConnections(pool: Pool, maxStatementMs: number): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    // While a connection is in use the pool does not listen for its errors: its statement fails, and the caller gets
    // that error.
    client.on('error', () => undefined);
    const connected = client as unknown as Connected;
    const { stream } = connected.connection;
    stream.setTimeout(answerLimitMs(maxStatementMs), () => {
      if (!connected.readyForQuery) stream.destroy(new Error('Query read timeout'));
    });
  });
}
