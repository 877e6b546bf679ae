/** What a failed statement says about the database, by PostgreSQL's codes and the driver's messages without a code. */

/** The driver's messages, without a code, for a connection that broke or could not be made. */
const connectionFaults =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/;
const networkCodes = new Set([
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
  ],
  // No connection can be made for want of descriptors, ports or buffers of our own.
  ...['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS'],
]);

/** The same transaction may succeed when it is run again: serialisation failures, deadlocks, lock time-outs. */
const conflictCodes = new Set(['40001', '40P01', '55P03']);

type Fault = { readonly code?: unknown; readonly message?: unknown };

const partsOf = (error: unknown) => {
  const { code, message } = (error ?? {}) as Fault;
  return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '' };
};

/** Whether a query's error means that the database was unavailable, and not that it refused something. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message } = partsOf(error);
  // Class 08: connection exceptions. 57P01 to 57P03: shut down, crashed, starting. 25P03, 57P05: ended while idle.
  return networkCodes.has(code) || /^(08...|57P0[1235]|25P03)$/.test(code) || connectionFaults.test(message);
}

/** Whether a transaction is to be run again at once. */
export function isConflict(error: unknown): boolean {
  return conflictCodes.has(partsOf(error).code);
}

/**
 * Whether the database could not do its work just now and may soon: it is unavailable, busy (a lock or a statement took
 * too long) or out of something (class 53: connections, memory, disk).
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const { code } = partsOf(error);
  return isDatabaseAway(error) || isConflict(error) || code === '57014' || /^53...$/.test(code);
}
