/** Variables of the authentication service. */
import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { logLevel, secretText, wholeNumber } from '../domain/settings.ts';
import { databaseAddress } from '../settings/database-address.ts';

const secret = secretText(32);

const authDatabaseSettings = z.object({
  DATABASE_URL: databaseAddress('The database whose schema `auth` holds the tables of this service'),
});

export const authSettings = authDatabaseSettings.extend({
  /** Key of the digests under which tokens are stored. Changing it ends every access, refresh and offline token. */
  TOKEN_KEY: secret,
  /** The platform's credential for requests about active users. Absent: such requests are refused. */
  AUTH_SERVICE_KEY: secret.optional().meta({ secret: true }),
  /** Number of proxies in front of this process whose X-Forwarded-For entries are trusted, for rate limits. */
  TRUSTED_PROXIES: wholeNumber(0, 10).default(0),
});
export type AuthSettings = z.output<typeof authSettings>;

export const authMigrateSettings = authDatabaseSettings.extend({
  /** Needed by the service itself; checked here to find a wrong one before the first start. */
  TOKEN_KEY: secret,
  /** Password of the first Administrator; absent: a random one, printed once. */
  ADMIN_PASSWORD: z
    .string()
    .min(12, 'must hold 12 to 256 characters')
    .max(256, 'must hold 12 to 256 characters')
    .optional()
    .meta({ secret: true }),
});

export const authServerSettings = z.object({
  PORT: wholeNumber(0, 65_535).default(8081),
  HOST: z.string().optional(),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, limits.shutdownDelayMaxSeconds)
    .default(0)
    .meta({
      description:
        'How long a separate service still accepts requests after SIGTERM while its health check answers 503, so that ' +
        'load balancers notice.',
    }),
  LOG_LEVEL: logLevel(),
  RESPONSE_CHECKS: z.enum(['strict', 'log']).default('log'),
});
