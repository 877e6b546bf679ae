/** Variables of the API process itself. Store, workflows and authentication describe their own. */
import { z } from 'zod';
import { isConfigurationName } from '../domain/configuration.ts';
import { limits } from '../domain/limits.ts';
import { logLevels } from '../domain/settings.ts';

const wholeNumber = (min: number, max: number, initial: number) =>
  z.coerce
    .number(`must be a whole number from ${min} to ${max}`)
    .int(`must be a whole number from ${min} to ${max}`)
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)
    .default(initial);

export const apiSettings = z.object({
  /** Port of the platform interface, the authentication service and the console; 0 picks a free one. */
  PORT: wholeNumber(0, 65_535, 8080),
  /** Address to listen on; absent: every interface. */
  HOST: z.string().optional(),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, limits.shutdownDelayMaxSeconds, 0).meta({
    description:
      'How long the API goes on taking requests after SIGTERM while `/ready_check` says 503, so that balancers notice.',
  }),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  /** The address by which people reach the platform. With `https:` their browsers are bound to TLS for a year. */
  PUBLIC_URL: z.url({ protocol: /^https?$/i, error: 'must be an http:// or https:// address' }).optional(),
  /** Address of a separate authentication service; absent: it runs inside this process. */
  AUTH_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  /** Key of the one-way participant keys (`anon:...`). It must never change. */
  PARTICIPANT_KEY: z.string().min(32, 'must hold at least 32 characters').meta({ secret: true }),
  /** The platform's own credential at the authentication service, which has the same one. */
  AUTH_SERVICE_KEY: z.string().min(32, 'must hold at least 32 characters').meta({ secret: true }),
  /** With which hosts of deployed runners call, which have the same one. Absent: none may. */
  RUNNER_HOST_KEY: z.string().min(32, 'must hold at least 32 characters').optional().meta({ secret: true }),
  /** Proxies in front of this process whose X-Forwarded-For entries count, for the networks that the audit tells. */
  TRUSTED_PROXIES: wholeNumber(0, 10, 0),
  /** Bearer with which `/metrics` of the API may be read beside Administrators and Developers; absent: by them alone. */
  METRICS_TOKEN: z.string().min(16, 'must hold at least 16 characters').optional().meta({ secret: true }),
  /** Largest upload. */
  MAX_UPLOAD_BYTES: wholeNumber(1, Number.MAX_SAFE_INTEGER, limits.uploadBytesDefault),
  /** Inputs that one task of an incremental node gets at the most. */
  INCREMENTAL_MAX_INPUTS: wholeNumber(1, limits.inputsPageMax, limits.incrementalInputsPerTaskDefault),
  /**
   * What Trainees read. `all`: outputs, data, progress and events of every session whose ids they know, as the interface
   * lets every role. `own`: of sessions in which they take part; others are answered with 404.
   */
  TRAINEE_DATA: z.enum(['all', 'own'], { error: 'must be all or own' }).default('all'),
  /** Configuration entries that everybody with a token may read: names or their first segments, by commas. */
  CONFIG_PUBLIC_PREFIXES: z
    .string()
    .default('PublicApi')
    .transform((value) => value.split(',').map((prefix) => prefix.trim()))
    .refine((prefixes) => prefixes.every((prefix) => isConfigurationName(prefix.replace(/:$/, ''))), {
      error: 'must be configuration names, with commas between them',
    }),
  /** Address of the Temporal UI as browsers reach it, for links to workflows; absent: no links. */
  TEMPORAL_UI_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .optional(),
  /** Folder of the deployed runners' programs, which the runner host starts; absent: the host is off. */
  SDK_RUNNERS_DIR: z.string().optional(),
  /** `strict` turns a response that its route does not declare into a 500; for tests. */
  RESPONSE_CHECKS: z.enum(['strict', 'log']).default('log'),
});
export type ApiSettings = z.output<typeof apiSettings>;
