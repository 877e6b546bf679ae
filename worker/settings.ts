/** What the worker's process reads of its environment beside the database's, storage's and Temporal's parts. */
import { z } from 'zod';

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
  WORKFLOW_CACHE_DIR: z.string().optional().describe('Folder that keeps the workflow bundle between starts.'),
});

export type WorkerSettings = z.output<typeof workerSettings>;
