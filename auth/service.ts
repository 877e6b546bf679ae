/** The authentication service as one value: usable over a socket (main.ts) or in the platform's own process. */
import type { Logger } from 'pino';
import { routeSet } from '../http/app.ts';
import type { RouteSet } from '../http/routing.ts';
import { identify } from './callers.ts';
import { AuthDatabase } from './database.ts';
import { type AuthFunctions, authFunctions } from './functions.ts';
import { answeringOnce, authKeyKeeper, sweepKeys } from './idempotency.ts';
import type { AuthRoute } from './route.ts';
import { listAuthAudit } from './routes/audit.ts';
import { authHealth } from './routes/health.ts';
import { offlineTokenRoutes } from './routes/offline-tokens.ts';
import { changePassword } from './routes/password.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { userRoutes } from './routes/users.ts';
import type { AuthSettings } from './settings.ts';
import { sweepExpired } from './tokens.ts';

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
  readonly routeSet: RouteSet;
  /** For the platform in the same process. */
  readonly functions: AuthFunctions;
  close(): Promise<void>;
};

const staying = new AbortController().signal;

/**
 * Opens the service over its database; makes no connection yet.
 * @param leaving aborted when the process begins to stop; by default never, when the service runs inside the platform
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
  const services = { log, database, settings, leaving };
  const keys = authKeyKeeper(database, settings.TOKEN_KEY);
  return {
    routeSet: routeSet(authRoutes, {
      services,
      identify: (bearer) => identify(services, bearer),
      middlewares: [answeringOnce(keys)],
      responseChecks,
    }),
    functions: authFunctions(services, keys),
    async close() {
      clearInterval(sweep);
      await database.close();
    },
  };
}
