/** What a failed statement says about the database, by PostgreSQL's codes and the driver's messages without a code. */

/** The SQLSTATEs that the product distinguishes, by PostgreSQL's names for them. */
export const sqlStates = {
  invalidParameterValue: '22023',
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  exclusionViolation: '23P01',
  readOnlyTransaction: '25006',
  inFailedTransaction: '25P02',
  idleInTransactionTimeout: '25P03',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  duplicateObject: '42710',
  undefinedTable: '42P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  /** Among others, for an update of the system's catalogues that another one overtook. */
  internalError: 'XX000',
} as const;

export type SqlState = (typeof sqlStates)[keyof typeof sqlStates];

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
const conflictStates = [
  sqlStates.serializationFailure,
  sqlStates.deadlockDetected,
  sqlStates.lockNotAvailable,
] as const;

type Fault = { readonly code?: unknown; readonly constraint?: unknown; readonly message?: unknown };

const partsOf = (error: unknown) => {
  const { code, message } = (error ?? {}) as Fault;
  return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '' };
};

/**
 * Whether the database refused a statement with this SQLSTATE.
 * @param constraint the one that was violated; without it, any
 */
export function isRefusal(error: unknown, state: SqlState, constraint?: string): boolean {
  const fault = (error ?? {}) as Fault;
  return fault.code === state && (constraint === undefined || fault.constraint === constraint);
}

/** Whether a query's error means that the database was unavailable, and not that it refused something. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message } = partsOf(error);
  // Class 08: connection exceptions. 57P01 to 57P03: shut down, crashed, starting. 25P03, 57P05: ended while idle.
  return networkCodes.has(code) || /^(08...|57P0[1235]|25P03)$/.test(code) || connectionFaults.test(message);
}

/** Whether the server takes no writes: a replica, or one that protects itself. A connection to it is of no use. */
export function isReadOnly(error: unknown): boolean {
  return isRefusal(error, sqlStates.readOnlyTransaction);
}

/** Whether a transaction is to be run again at once. */
export function isConflict(error: unknown): boolean {
  return conflictStates.some((state) => isRefusal(error, state));
}

/**
 * Whether the database could not do its work just now and may soon: it is unavailable, busy (a lock or a statement took
 * too long), out of something (class 53: connections, memory, disk), has a broken disk (class 58) or takes no writes.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const { code } = partsOf(error);
  const isTooSlow = isRefusal(error, sqlStates.queryCanceled);
  return (
    isDatabaseAway(error) || isConflict(error) || isTooSlow || isReadOnly(error) || /^5[38]...$/.test(code)
  );
}
