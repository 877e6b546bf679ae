/** Tokens of people and devices: made, looked up, ended. Values leave this file once; only digests are stored. */
import { tokenFamily, tokenHint } from '../domain/access/token-format.ts';
import { limits } from '../domain/limits.ts';
import { keyedDigest } from '../http/token-secret.ts';
import { mintToken, newId } from '../store/connection/ids.ts';
import type { Runner, Statement } from './database.ts';
import { type UserRow, userColumns } from './user-view.ts';

type StoredKind = 'access' | 'offline' | 'refresh';
export type IssuedToken = { readonly id: string; readonly value: string; readonly expiresAt: Date };
export type ValidToken = UserRow & {
  readonly tokenId: string;
  readonly kind: 'access' | 'offline';
  readonly familyId: string | null;
  readonly lastUsedIsOld: boolean;
};
export type OfflineTokenRow = {
  readonly secretId: string;
  readonly userId: string;
  readonly username: string;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revoked: boolean;
  readonly tokenHint: string;
};

/** Months are counted in the calendar, in UTC: 29 February gives 28 February. */
const lifetimes: Readonly<Record<StoredKind, string>> = {
  access: `${limits.accessTokenHours} hours`,
  refresh: `${limits.refreshTokenDays * 24} hours`,
  offline: `${limits.offlineTokenMonths} months`,
};

const issueStatement: Statement = {
  name: 'token_issue',
  text: `insert into auth.tokens (digest, id, user_id, kind, family_id, hint, expires_at)
    select $1, $2, u.id, $4, $5, $6, (clock_timestamp() at time zone 'UTC' + $7::interval) at time zone 'UTC'
    from auth.users u where u.id = $3 and u.is_active and ($8::text is null or u.password_hash = $8)
    for share of u returning expires_at as "expiresAt"`,
};

export type NewToken = {
  readonly kind: StoredKind;
  readonly userId: string;
  /** Shared by all tokens that come from one sign-in; absent for a token of no such family. */
  readonly familyId?: string | null;
  /** Absent: whatever the user's password is. */
  readonly passwordHash?: string | null;
};

/**
 * Makes a token; null when the user is gone or inactive by now, or has another password than `passwordHash`. Waits for
 * a transaction that is ending the user's tokens, so that the new one does not escape it.
 */
export async function issueToken(
  runner: Runner,
  key: string,
  { kind, userId, familyId = null, passwordHash = null }: NewToken,
): Promise<IssuedToken | null> {
  const value = mintToken(kind);
  const id = newId();
  const rows = await runner.query<{ expiresAt: Date }>(issueStatement, [
    keyedDigest(key, value),
    id,
    userId,
    kind,
    familyId,
    tokenHint(value),
    lifetimes[kind],
    passwordHash,
  ]);
  return rows[0] === undefined ? null : { id, value, expiresAt: rows[0].expiresAt };
}

const validStatement: Statement = {
  name: 'token_valid',
  text: `select t.id as "tokenId", t.kind, t.family_id as "familyId", ${userColumns},
      t.last_used_at is null or t.last_used_at < clock_timestamp() - interval '${limits.lastUsedWriteSeconds} seconds'
        as "lastUsedIsOld"
    from auth.tokens t join auth.users u on u.id = t.user_id
    where t.digest = $1 and t.kind in ('access', 'offline') and t.revoked_at is null
      and t.expires_at > clock_timestamp() and u.is_active`,
};

/** One indexed read; no read for a value of the wrong form, checksum or kind. */
export async function findValidToken(runner: Runner, key: string, value: string): Promise<ValidToken | null> {
  const family = tokenFamily(value);
  if (family !== 'access' && family !== 'offline') return null;
  const [row] = await runner.query<ValidToken>(validStatement, [keyedDigest(key, value)]);
  return row ?? null;
}

const touchStatement: Statement = {
  name: 'token_touch',
  text: `update auth.tokens set last_used_at = clock_timestamp() where id = $1 and (last_used_at is null
    or last_used_at < clock_timestamp() - interval '${limits.lastUsedWriteSeconds} seconds')`,
};

/** Writes when the token was last used, at most once a minute. */
export async function touchToken(runner: Runner, tokenId: string): Promise<void> {
  await runner.query(touchStatement, [tokenId]);
}

const holdStatement: Statement = {
  name: 'user_hold',
  text: 'select 1 from auth.users where id = $1 for no key update',
};
const holdByTokenStatement: Statement = {
  name: 'user_hold_by_token',
  text: `select 1 from auth.users where id = (select user_id from auth.tokens where digest = $1)
    for no key update`,
};

/**
 * Call it first in a transaction that changes several tokens of a user: this serializes such changes, and always locks
 * the user before the tokens.
 */
export async function holdUser(tx: Runner, userId: string): Promise<void> {
  await tx.query(holdStatement, [userId]);
}

export type RefreshToken = {
  readonly tokenId: string;
  readonly userId: string;
  readonly familyId: string;
  readonly replaced: boolean;
};
const refreshStatement: Statement = {
  name: 'token_refresh',
  text: `select t.id as "tokenId", t.user_id as "userId", t.family_id as "familyId",
      t.replaced_at is not null as replaced
    from auth.tokens t where t.digest = $1 and t.kind = 'refresh' and t.revoked_at is null
      and t.expires_at > clock_timestamp() for update of t`,
};
const replaceStatement: Statement = {
  name: 'token_replace',
  text: 'update auth.tokens set replaced_at = clock_timestamp() where id = $1',
};

/** The refresh token behind a value, locked with its user; also a replaced one, whose use shows a theft. */
export async function lockRefreshToken(
  runner: Runner,
  key: string,
  value: string,
): Promise<RefreshToken | null> {
  if (tokenFamily(value) !== 'refresh') return null;
  const digest = keyedDigest(key, value);
  await runner.query(holdByTokenStatement, [digest]);
  const [row] = await runner.query<RefreshToken>(refreshStatement, [digest]);
  return row ?? null;
}

export async function markReplaced(runner: Runner, tokenId: string): Promise<void> {
  await runner.query(replaceStatement, [tokenId]);
}

const endOneStatement: Statement = {
  name: 'token_end',
  text: `update auth.tokens set revoked_at = clock_timestamp()
    where revoked_at is null and (id = $1 or family_id = $2)`,
};

/** Ends a token, and all that came from the same sign-in when it has a family. Call `holdUser` before. */
export async function endToken(
  runner: Runner,
  tokenId: string | null,
  familyId: string | null,
): Promise<void> {
  await runner.query(endOneStatement, [tokenId, familyId]);
}

const noteRevocationStatement: Statement = {
  name: 'user_revoked',
  text: 'update auth.users set tokens_revoked_at = clock_timestamp() where id = $1',
};
const endAllStatement: Statement = {
  name: 'token_end_all',
  text: `with ended as (
      update auth.tokens set revoked_at = clock_timestamp()
      where user_id = $1 and revoked_at is null and expires_at > clock_timestamp() returning replaced_at
    )
    select count(*) filter (where replaced_at is null)::int as count from ended`,
};

/**
 * Ends every token of a user in a transaction; the number of those that still worked. The user's row is locked first,
 * by a separate statement: the second statement then sees the tokens of a concurrent refresh.
 */
export async function endAllTokens(tx: Runner, userId: string): Promise<number> {
  await tx.query(noteRevocationStatement, [userId]);
  const [row] = await tx.query<{ count: number }>(endAllStatement, [userId]);
  return row?.count ?? 0;
}

const endSignInsStatement: Statement = {
  name: 'token_end_sign_ins',
  text: `update auth.tokens set revoked_at = clock_timestamp()
    where user_id = $1 and kind <> 'offline' and revoked_at is null and id <> $2`,
};

/** Ends a user's other sign-ins after a change of password; devices and the calling token stay. */
export async function endOtherSignIns(runner: Runner, userId: string, keptTokenId: string): Promise<void> {
  await runner.query(endSignInsStatement, [userId, keptTokenId]);
}

const offlineListStatement: Statement = {
  name: 'token_offline_list',
  text: `select t.id as "secretId", t.user_id as "userId", u.username, t.expires_at as "expiresAt",
      t.last_used_at as "lastUsedAt", t.revoked_at is not null as revoked, t.hint as "tokenHint"
    from auth.tokens t join auth.users u on u.id = t.user_id
    where t.kind = 'offline' order by t.created_at, t.id`,
};
const offlineEndStatement: Statement = {
  name: 'token_offline_end',
  text: `update auth.tokens set revoked_at = coalesce(revoked_at, clock_timestamp())
    where id = $1 and kind = 'offline' returning id`,
};

/** All offline tokens of all administrators, oldest first. */
export async function readOfflineTokens(runner: Runner): Promise<OfflineTokenRow[]> {
  return await runner.query<OfflineTokenRow>(offlineListStatement, []);
}

/** False when there is no offline token with this id; ending an ended one again is fine. */
export async function endOfflineToken(runner: Runner, secretId: string): Promise<boolean> {
  return (await runner.query(offlineEndStatement, [secretId])).length > 0;
}

const sweepTokensStatement: Statement = {
  name: 'token_sweep',
  text: `delete from auth.tokens where kind <> 'offline' and expires_at < clock_timestamp() - interval '1 day'`,
};
const sweepFailuresStatement: Statement = {
  name: 'failure_sweep',
  text: 'delete from auth.sign_in_failures where window_ends_at < clock_timestamp()',
};

/** Removes expired rows that are no longer needed. */
export async function sweepExpired(runner: Runner): Promise<void> {
  await runner.query(sweepTokensStatement, []);
  await runner.query(sweepFailuresStatement, []);
}
