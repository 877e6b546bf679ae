/** Keys of PostgreSQL's advisory locks, all in one place so that no two uses share one. Any numbers will do. */
export const advisoryLocks = {
  migration: 7_306_291,
  alive: 7_306_292,
  healer: 7_306_293,
  shipped: 7_306_294,
  registry: 7_306_295,
  /** With a second key: the limit. */
  concurrency: 7_306_298,
  /** Of the authentication service, which may have the same database. */
  authMigration: 7_306_296,
  retention: 7_306_297,
  projectStorage: 7_306_299,
} as const;
