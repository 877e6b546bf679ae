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
  WORKFLOW_CACHE_DIR: z.string().optional().describe('Folder that keeps the workflow bundle between starts.'),
});

export type WorkerSettings = z.output<typeof workerSettings>;
