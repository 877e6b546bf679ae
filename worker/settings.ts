/** Variables of the worker's process besides the database's, storage's and Temporal's parts. */
import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { isAllowlistEntry } from '../domain/network/endpoint.ts';
import { isAddress } from '../domain/network/inner-address.ts';
import { logLevel, wholeNumber } from '../domain/settings.ts';

const megabytes = (bytes: number) => wholeNumber(1, 1_000_000_000).default(bytes / 1024 ** 2);

function isNetwork(entry: string): boolean {
  const [, address = '', bits] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(entry) ?? [];
  return isAddress(address) && Number(bits) <= (address.includes(':') ? 128 : 32);
}

export const workerSettings = z.object({
  LOG_LEVEL: logLevel().describe('Least severe level that is logged.'),
  READY_FILE: z
    .string()
    .optional()
    .describe('File that the worker writes when it is ready for tasks, and every ten seconds from then on.'),
  REGISTER_DEFAULT_DATA_SOURCE: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((value) => value === 'true')
    .describe("Whether to register the data source `default` at the platform's own store."),
  RETENTION_EVERY_HOURS: z.coerce
    .number('must be a whole number from 0 to 720')
    .int('must be a whole number from 0 to 720')
    .min(0, 'must be at least 0')
    .max(720, 'must be at most 720')
    .default(24)
    .describe('Hours between retention runs; 0: only when an Administrator starts one.'),
  DELETED_OBJECTS_KEPT_HOURS: z.coerce
    .number('must be a whole number from 0 to 720')
    .int('must be a whole number from 0 to 720')
    .min(0, 'must be at least 0')
    .max(720, 'must be at most 720')
    .default(0)
    .describe('How long deleted bytes are kept. Set it to the duration of a backup of database and bucket.'),
  RUN_LOG_DAYS: wholeNumber(1, 3_650)
    .default(30)
    .describe(
      'How long logs of runs are kept, in days, or until their session is deleted, if that is earlier.',
    ),
  RETENTION_REMOVES_ORPHANS: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((value) => value === 'true')
    .describe(
      'Whether retention deletes objects without a row. Use it only if bucket and prefix belong to this platform ' +
        'and this database only.',
    ),
  BUILTIN_TEMP_MB: megabytes(limits.builtinTempBytes).describe(
    'Disk space of `TEMP_DIR` that built-in runs may use for downloads, unpacking and data that does not fit into memory, ' +
      'in megabytes, for all runs together. A single file that needs more is refused.',
  ),
  BUILTIN_TEMP_RESERVE_MB: megabytes(limits.builtinTempReserveBytes).describe(
    'Disk space that stays free, in megabytes. Below it, the run that uses most is released until there ' +
      'is space.',
  ),
  BUILTIN_UNPACK_RATIO: wholeNumber(1, 1_100)
    .default(limits.builtinUnpackRatio)
    .describe(
      'Maximum ratio of unpacked to packed size, above 64 MB. Recordings with many silent channels reach about 300.',
    ),
  WEBHOOK_ALLOWLIST: z
    .string()
    .default('')
    .transform((value) => value.split(',').flatMap((entry) => entry.trim() || []))
    .refine((entries) => entries.every((entry) => isAllowlistEntry(entry) || isNetwork(entry)), {
      error: 'must hold hosts such as hooks.example.org or networks such as 10.1.0.0/16, separated by commas',
    })
    .describe(
      'Hosts and networks inside your own network that webhooks may be sent to, separated by commas. Every public address ' +
        'is allowed; link-local addresses never are.',
    ),
  WORKFLOW_CACHE_DIR: z.string().optional().describe('Cache folder for the workflow bundle.'),
});

export type WorkerSettings = z.output<typeof workerSettings>;
