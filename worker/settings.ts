/** What the worker's process reads of its environment beside the database's, storage's and Temporal's parts. */
import { z } from 'zod';

export const workerSettings = z.object({
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least severe line that is logged.'),
  READY_FILE: z.string().optional().describe('File that the worker writes when it takes tasks.'),
  WORKFLOW_CACHE_DIR: z.string().optional().describe('Folder that keeps the workflow bundle between starts.'),
});

export type WorkerSettings = z.output<typeof workerSettings>;
