/**
 * The holder of a task: `token:<id>`, `user:<id>` or the platform itself, each with the instance name that its program
 * chose.
 */
export interface RunnerIdentity {
  readonly holder: string;
  readonly instanceId: string;
}

/** The holder of built-in runs; its leases are renewed by workers, not through an API process. */
export const builtinHolder = 'system';

/**
 * The id of the token in a holder, as an SQL expression; null for an account's holder.
 * @param holder an SQL expression
 */
export function tokenIdOfHolder(holder: string): string {
  return `case when ${holder} like 'token:%' then substr(${holder}, 7)::uuid end`;
}
