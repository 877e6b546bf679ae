/**
 * The holder of a task: `token:<id>`, `user:<id>` or the platform itself, each with the instance name that its program
 * chose.
 */
export interface RunnerIdentity {
  readonly holder: string;
  readonly instanceId: string;
}

/** A task, and the caller who says that it holds it: the fence of every write for the task compares both. */
export interface TaskHolder extends RunnerIdentity {
  readonly taskId: string;
}

const tokenPrefix = 'token:';
const accountPrefix = 'user:';

/** A runner token as holder. */
export const tokenHolder = (tokenId: string) => `${tokenPrefix}${tokenId}`;
/** An account as holder, the same for all of its access tokens, so that a new sign-in keeps its tasks. */
export const accountHolder = (userId: string) => `${accountPrefix}${userId}`;

/** The holder of built-in runs; its leases are renewed by workers, not through an API process. */
export const builtinHolder = 'system';

/**
 * The id of the token in a holder, as an SQL expression; null for an account's holder.
 * @param holder an SQL expression
 */
export function tokenIdOfHolder(holder: string): string {
  return `case when ${isTokenHolder(holder)} then substr(${holder}, ${tokenPrefix.length + 1})::uuid end`;
}

/** {@link tokenHolder} of a token's id, as SQL. @param tokenId an SQL expression */
export const holderOfToken = (tokenId: string) => `'${tokenPrefix}' || ${tokenId}::text`;

/** Whether a holder is a runner token, as SQL. @param holder an SQL expression */
export const isTokenHolder = (holder: string) => `${holder} like '${tokenPrefix}%'`;

/** Whether a holder is an account, as SQL. @param holder an SQL expression */
export const isAccountHolder = (holder: string) => `${holder} like '${accountPrefix}%'`;

/** The holder of a claim `c`, as a JSON object of SQL: see RunHolder in domain/runs/run-log.ts. */
export const holderOfClaim = `
  json_build_object(
    'instanceId', c.instance_id,
    'name', case when c.holder = '${builtinHolder}' then 'built-in'
                 else (select nullif(k.label, '') from runner_token k where k.id = ${tokenIdOfHolder('c.holder')}) end,
    'version', coalesce(c.runner_version, (select i.version from runner_instance i
                                            where i.holder = c.holder and i.instance_id = c.instance_id)))`;
