/** Variables of the API process itself. Store, workflows and authentication describe their own. */
import { z } from 'zod';
import { isConfigurationName } from '../domain/configuration.ts';
import { limits } from '../domain/limits.ts';
import { logLevel, publicAddress, secretText, webAddress, wholeNumber } from '../domain/settings.ts';

export const apiSettings = z.object({
  /** Port of the platform interface, the authentication service and the console; 0 picks a free one. */
  PORT: wholeNumber(0, 65_535).default(8080),
  /** Address to listen on; absent: every interface. */
  HOST: z.string().optional(),
  SHUTDOWN_DELAY_SECONDS: wholeNumber(0, limits.shutdownDelayMaxSeconds).default(0).meta({
    description:
      'How long the API still accepts requests after SIGTERM while `/ready_check` answers 503, so that load balancers notice.',
  }),
  LOG_LEVEL: logLevel(),
  /** Public address of the platform, without a path. With `https:`, browsers require TLS for a year (HSTS). */
  PUBLIC_URL: publicAddress().optional(),
  /** Address of a separate authentication service; absent: it runs inside this process. */
  AUTH_URL: webAddress().optional(),
  /** Key of the one-way participant keys (`anon:...`). It must never change. */
  PARTICIPANT_KEY: secretText(32),
  /** The platform's credential at the authentication service; both need the same value. */
  AUTH_SERVICE_KEY: secretText(32),
  /** Credential of the hosts of deployed runners; both need the same value. Absent: no host may call. */
  RUNNER_HOST_KEY: secretText(32).optional().meta({ secret: true }),
  /** Number of proxies in front of this process whose X-Forwarded-For entries are trusted, for limits per address and the audit log. */
  TRUSTED_PROXIES: wholeNumber(0, 10).default(0),
  /** Bearer token that may read `/metrics` of the API. Absent: only Administrators and Developers may. */
  METRICS_TOKEN: secretText(16).optional().meta({ secret: true }),
  /**
   * Address at which clients reach the store of `S3_ENDPOINT`. With it, downloads that accept it (`redirect=true`) are sent
   * there, and large bytes do not pass through the API. Absent: all downloads pass through the API.
   */
  S3_DOWNLOAD_ENDPOINT: webAddress().optional(),
  /** Maximum size of an upload. */
  MAX_UPLOAD_BYTES: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(limits.uploadBytesDefault),
  /** Maximum number of inputs of one task of an incremental node. */
  INCREMENTAL_MAX_INPUTS: wholeNumber(1, limits.inputsPageMax).default(
    limits.incrementalInputsPerTaskDefault,
  ),
  /**
   * What Trainees may read. `all`: outputs, data, progress and events of every session whose ids they know, as the interface
   * allows every role. `own`: only of sessions in which they participate; others are 404.
   */
  TRAINEE_DATA: z.enum(['all', 'own'], { error: 'must be all or own' }).default('all'),
  /** Configuration entries that every caller with a token may read: names or their first segments, separated by commas. */
  CONFIG_PUBLIC_PREFIXES: z
    .string()
    .default('PublicApi')
    .transform((value) => value.split(',').map((prefix) => prefix.trim()))
    .refine((prefixes) => prefixes.every((prefix) => isConfigurationName(prefix.replace(/:$/, ''))), {
      error: 'must be configuration names, separated by commas',
    }),
  /** Address of the Temporal UI for browsers, for links to workflows; absent: no links. */
  TEMPORAL_UI_URL: webAddress().optional(),
  /**
   * Folder of the deployed runners' modules, to check entrypoints of manifests; absent: they are not checked. The host has a
   * setting of its own.
   */
  SDK_RUNNERS_DIR: z.string().optional(),
  /** `strict` turns an undeclared response into a 500; for tests. */
  RESPONSE_CHECKS: z.enum(['strict', 'log']).default('log'),
});
export type ApiSettings = z.output<typeof apiSettings>;
