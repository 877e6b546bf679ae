/** Offline tokens: made, listed and revoked, by the routes and by the platform in the same process. */
import { Problem } from '../domain/errors.ts';
import { audit, type Origin } from './audit.ts';
import { oncePerKey } from './idempotency.ts';
import type { AuthCaller, AuthServices } from './route.ts';
import { endOfflineToken, issueToken, readOfflineTokens } from './tokens.ts';

type Needed = Pick<AuthServices, 'database' | 'settings'>;

/** Throws `unauthorized` when the caller's account ended meanwhile. */
export async function createOfflineToken({ database, settings }: Needed, caller: AuthCaller, origin: Origin) {
  const { value, expiresAt } = await database.transaction(
    oncePerKey(async (tx) => {
      const issued = await issueToken(tx, settings.TOKEN_KEY, { kind: 'offline', userId: caller.user.id });
      if (issued === null) throw new Problem('unauthorized');
      await audit(tx, 'createOfflineToken', caller, { type: 'offlineToken', id: issued.id }, origin);
      return issued;
    }),
  );
  return { token: value, expiresAt: expiresAt.toISOString() };
}

/** All of all Administrators, oldest first. */
export async function listOfflineTokens({ database }: Pick<Needed, 'database'>) {
  const rows = await readOfflineTokens(database);
  return rows.map((row) => ({
    ...row,
    expiresAt: row.expiresAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  }));
}

/** Revoking a revoked one again is fine. Throws `tokenNotFound`. */
export async function revokeOfflineToken(
  { database }: Pick<Needed, 'database'>,
  caller: AuthCaller,
  secretId: string,
  origin: Origin,
): Promise<void> {
  await database.transaction(async (tx) => {
    if (!(await endOfflineToken(tx, secretId))) throw new Problem('tokenNotFound');
    await audit(tx, 'revokeOfflineToken', caller, { type: 'offlineToken', id: secretId }, origin);
  });
}
