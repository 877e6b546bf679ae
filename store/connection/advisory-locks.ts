/**
 * The numbers of PostgreSQL's advisory locks, all in one place so that no two uses share one. Any numbers will do. Locks of
 * texts ({@link lockOfText}) and of match keys are numbers of 64 bits: two that are equal by chance only wait for each other.
 */
export const advisoryLocks = {
  migration: 7_306_291,
  alive: 7_306_292,
  healer: 7_306_293,
  shipped: 7_306_294,
  registry: 7_306_295,
  /** With a second key: the limit. */
  concurrency: 7_306_298,
  /** Used by the authentication service, which may have the same database. */
  authMigration: 7_306_296,
  retention: 7_306_297,
  projectStorage: 7_306_299,
} as const;

/** Acquires the lock of a text until the transaction ends. @param text an SQL expression that begins with its use */
export const lockOfText = (text: string) => `select pg_advisory_xact_lock(hashtextextended(${text}, 0))`;
