/** Variables of the worker's process besides the database's, storage's and Temporal's parts. */
import { z } from 'zod';
import { limits } from '../domain/limits.ts';

const wholeNumber = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(error).int(error).min(min, error).max(max, error);
};
const megabytes = (bytes: number) => wholeNumber(1, 1_000_000_000).default(bytes / 1024 ** 2);

export const workerSettings = z.object({
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least severe line that is logged.'),
  READY_FILE: z
    .string()
    .optional()
    .describe('File that the worker writes when it takes tasks, and every ten seconds from then on.'),
  REGISTER_DEFAULT_DATA_SOURCE: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((value) => value === 'true')
    .describe("Whether the data source `default` is registered at the platform's own store."),
  RETENTION_EVERY_HOURS: z.coerce
    .number('must be a whole number from 0 to 720')
    .int('must be a whole number from 0 to 720')
    .min(0, 'must be at least 0')
    .max(720, 'must be at most 720')
    .default(24)
    .describe(
      "How often what projects' `retentionDays` lets go is removed; 0: only when an Administrator asks.",
    ),
  DELETED_OBJECTS_KEPT_HOURS: z.coerce
    .number('must be a whole number from 0 to 720')
    .int('must be a whole number from 0 to 720')
    .min(0, 'must be at least 0')
    .max(720, 'must be at most 720')
    .default(0)
    .describe(
      'How long the bytes of what was deleted stay: as long as a backup of database and bucket takes.',
    ),
  RETENTION_REMOVES_ORPHANS: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((value) => value === 'true')
    .describe(
      'Whether retention removes objects that no row tells of. Only where bucket and prefix belong to this platform ' +
        'and this database alone.',
    ),
  BUILTIN_TEMP_MB: megabytes(limits.builtinTempBytes).describe(
    'What built-in runs may take of the disk of `TEMP_DIR` for downloads, unpacking and what does not fit into memory, ' +
      'in megabytes: all runs below that folder together. A file that takes more alone is refused.',
  ),
  BUILTIN_TEMP_RESERVE_MB: megabytes(limits.builtinTempReserveBytes).describe(
    'What stays free on that disk, in megabytes: when it is reached, the run that takes most is given back until there ' +
      'is room.',
  ),
  BUILTIN_UNPACK_RATIO: wholeNumber(1, 1_100)
    .default(limits.builtinUnpackRatio)
    .describe(
      'How many times its own size a packed file may unpack to, above 64 MB; recordings with many silent channels reach some 300.',
    ),
  WORKFLOW_CACHE_DIR: z.string().optional().describe('Folder that keeps the workflow bundle between starts.'),
});

export type WorkerSettings = z.output<typeof workerSettings>;
