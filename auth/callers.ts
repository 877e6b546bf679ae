/** The callers behind tokens. */
import type { Logger } from 'pino';
import type { z } from 'zod';
import { Problem } from '../domain/errors.ts';
import type { AuthCaller, AuthServices } from './route.ts';
import { findValidToken, touchToken } from './tokens.ts';
import { presentUser, type validationSchema } from './user-view.ts';

type Needed = Pick<AuthServices, 'database' | 'settings'>;

/** The caller behind a token; null when it is unknown, expired or revoked. Throws `unavailable`. */
export async function identify({ database, settings }: Needed, bearer: string): Promise<AuthCaller | null> {
  try {
    const token = await findValidToken(database, settings.TOKEN_KEY, bearer);
    if (token === null) return null;
    const { kind, role, tokenId, familyId } = token;
    return { kind, role, tokenId, familyId, mustChangePassword: token.forceChangePassword, user: token };
  } catch (cause) {
    throw new Problem('unavailable', { cause });
  }
}

/** Routes without a token refuse devices too. @throws Problem for a valid offline token */
export async function refuseDevice(needed: Needed, bearer: string | null): Promise<void> {
  const caller = bearer === null ? null : await identify(needed, bearer);
  if (caller?.kind === 'offline') throw new Problem('offlineTokenRefused');
}

/** The public view of the user behind an access or offline token; null when it is not valid. */
export async function validateToken(
  { database, settings }: Needed,
  value: string,
  log: Logger,
): Promise<z.input<typeof validationSchema> | null> {
  const token = await findValidToken(database, settings.TOKEN_KEY, value);
  if (token === null) return null;
  const isOfflineToken = token.kind === 'offline';
  if (isOfflineToken && token.lastUsedIsOld) {
    // No call waits for the time of last use to be stored.
    touchToken(database, token.tokenId).catch((error) => log.warn({ err: error }, 'last use not written'));
  }
  return { ...presentUser(token), isOfflineToken };
}
