/** The authentication service as one value: usable over a socket (main.ts) or in the platform's own process. */
import type { Logger } from 'pino';
import { Problem } from '../domain/errors.ts';
import { createDispatcher, type Dispatcher } from '../http/dispatcher.ts';
import { AuthDatabase } from './database.ts';
import { answeringOnce, authKeyKeeper, sweepKeys } from './idempotency.ts';
import type { AuthCaller, AuthRoute } from './route.ts';
import { listAuthAudit } from './routes/audit.ts';
import { authHealth } from './routes/health.ts';
import { offlineTokenRoutes } from './routes/offline-tokens.ts';
import { changePassword } from './routes/password.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { userRoutes } from './routes/users.ts';
import type { AuthSettings } from './settings.ts';
import { findValidToken, sweepExpired } from './tokens.ts';

const sweepEveryMs = 3_600_000;

/** All routes of the authentication service, under /api/authorization. */
export const authRoutes: readonly AuthRoute[] = [
  ...signInRoutes,
  ...offlineTokenRoutes,
  ...userRoutes,
  changePassword,
  listAuthAudit,
  authHealth,
];

export type AuthService = {
  readonly dispatcher: Dispatcher;
  close(): Promise<void>;
};

const staying = new AbortController().signal;

/**
 * Opens the service over its database; makes no connection yet.
 * @param leaving aborted when the process begins to stop; never, by default, where the platform holds the service
 */
export function openAuthService(
  settings: AuthSettings,
  log: Logger,
  responseChecks: 'strict' | 'log',
  leaving: AbortSignal = staying,
): AuthService {
  const database = new AuthDatabase(settings.DATABASE_URL);
  const sweep = setInterval(() => {
    sweepExpired(database).catch((error) => log.warn({ err: error }, 'expired tokens not removed'));
    sweepKeys(database).catch((error) => log.warn({ err: error }, 'old idempotency keys not removed'));
  }, sweepEveryMs).unref();
  const dispatcher = createDispatcher(authRoutes, {
    services: { log, database, settings, leaving },
    identify: (bearer) => identify(database, settings.TOKEN_KEY, bearer),
    around: answeringOnce(authKeyKeeper(database, settings.TOKEN_KEY)),
    responseChecks,
  });
  return {
    dispatcher,
    async close() {
      clearInterval(sweep);
      await database.close();
    },
  };
}

async function identify(database: AuthDatabase, key: string, bearer: string): Promise<AuthCaller | null> {
  try {
    const token = await findValidToken(database, key, bearer);
    if (token === null) return null;
    const { kind, role, tokenId, familyId } = token;
    return { kind, role, tokenId, familyId, mustChangePassword: token.forceChangePassword, user: token };
  } catch (cause) {
    throw new Problem('unavailable', { cause });
  }
}
