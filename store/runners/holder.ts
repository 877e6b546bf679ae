/**
 * The id of the token in a holder, as an SQL expression; null for an account's holder. A holder is who holds a task:
 * `token:<id>`, `user:<id>` or the platform itself.
 * @param holder an SQL expression
 */
export function tokenIdOfHolder(holder: string): string {
  return `case when ${holder} like 'token:%' then substr(${holder}, 7)::uuid end`;
}
