/** Signing in, staying signed in, signing out. */
import { randomUUID } from 'node:crypto';
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { asUser, audit, type Origin } from './audit.ts';
import type { AuthDatabase, Runner, Statement } from './database.ts';
import { dummyHash, matchesHash } from './passwords.ts';
import { checkGuess, failureKeysOf } from './sign-in-failures.ts';
import { endToken, type IssuedToken, issueToken, lockRefreshToken, markReplaced } from './tokens.ts';
import { usernameKey } from './user-keys.ts';
import { type UserRow, userColumns } from './user-view.ts';

export type SignedIn = {
  readonly user: UserRow;
  readonly access: IssuedToken;
  readonly refresh: IssuedToken | null;
};

const byUsernameStatement: Statement = {
  name: 'user_by_username',
  text: `select ${userColumns}, u.password_hash as "passwordHash" from auth.users u where u.username_key = $1`,
};
const byIdStatement: Statement = {
  name: 'user_by_id',
  text: `select ${userColumns}, u.password_hash as "passwordHash" from auth.users u where u.id = $1`,
};
type UserWithHash = UserRow & { readonly passwordHash: string };

export async function findUserWithHash(runner: Runner, userId: string): Promise<UserWithHash | null> {
  const [row] = await runner.query<UserWithHash>(byIdStatement, [userId]);
  return row ?? null;
}

/**
 * Tokens for a username and password. An unknown user, a wrong password and an inactive account all throw
 * `invalidCredentials`, after the same work. Throws `tooManyRequests` when the address has guessed too often.
 */
export async function signIn(
  database: AuthDatabase,
  key: string,
  attempt: {
    readonly username: string;
    readonly password: string;
    readonly rememberMe: boolean;
    readonly address: string;
    readonly origin: Origin;
  },
): Promise<SignedIn> {
  const guesser = failureKeysOf(key, attempt.username, attempt.address);
  let found: UserWithHash | undefined;
  const isRight = await checkGuess(database, guesser, async () => {
    [found] = await database.query<UserWithHash>(byUsernameStatement, [usernameKey(attempt.username)]);
    const matches = await checkPassword(attempt.password, found?.passwordHash ?? dummyHash);
    return matches && found?.isActive === true;
  });
  const user = found;
  if (!isRight || user === undefined) {
    // The limit of failures also bounds the number of these entries.
    await audit(database, 'signInRefused', null, { type: 'user', id: user?.id ?? null }, attempt.origin);
    throw new Problem('invalidCredentials');
  }
  return await database.transaction(async (tx) => {
    const familyId = attempt.rememberMe ? randomUUID() : null;
    const issued = await issueBoth(tx, key, user.id, familyId, user.passwordHash);
    if (issued === null) throw new Problem('invalidCredentials');
    await audit(tx, 'signIn', asUser(user.id, user.role), { type: 'user', id: user.id }, attempt.origin);
    return { user, ...issued };
  });
}

/** A password longer than the maximum is compared too, but not hashed as a whole. */
async function checkPassword(password: string, hash: string): Promise<boolean> {
  const isTooLong = password.length > limits.passwordMaxCharacters * 4;
  const matches = await matchesHash(isTooLong ? password.slice(0, 8) : password, hash);
  return matches && !isTooLong;
}

/** New tokens for a refresh token, which is then used up. Throws `unauthorized`; a used one ends its family. */
export async function refresh(
  database: AuthDatabase,
  key: string,
  value: string,
  origin: Origin,
): Promise<SignedIn> {
  const result = await database.transaction(async (tx) => {
    const token = await lockRefreshToken(tx, key, value);
    if (token === null) return null;
    if (token.replaced) {
      // Two clients have this refresh token, so one of them stole it.
      await endToken(tx, null, token.familyId);
      const reuser = asUser(token.userId, null);
      await audit(tx, 'refreshTokenReused', reuser, { type: 'user', id: token.userId }, origin);
      return null;
    }
    await markReplaced(tx, token.tokenId);
    const issued = await issueBoth(tx, key, token.userId, token.familyId, null);
    const user = issued === null ? null : await findUserWithHash(tx, token.userId);
    if (issued === null || user === null) return null;
    await audit(tx, 'refreshToken', asUser(user.id, user.role), { type: 'user', id: user.id }, origin);
    return { user, ...issued };
  });
  if (result === null) throw new Problem('unauthorized', { message: 'The refresh token is not valid.' });
  return result;
}

async function issueBoth(
  tx: Runner,
  key: string,
  userId: string,
  familyId: string | null,
  passwordHash: string | null,
) {
  const access = await issueToken(tx, key, { kind: 'access', userId, familyId, passwordHash });
  if (access === null) return null;
  const refreshToken =
    familyId === null ? null : await issueToken(tx, key, { kind: 'refresh', userId, familyId });
  return { access, refresh: refreshToken };
}
