/** How to reach Temporal: one address, a namespace, a queue. */
import { z } from 'zod';
import { defaultTaskQueue } from './contract.ts';

export const temporalSettings = z.object({
  TEMPORAL_ADDRESS: z.string().min(1).describe('host:port of the Temporal frontend.'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default').describe('Namespace of the platform’s workflows.'),
  TEMPORAL_TASK_QUEUE: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be 1 to 100 letters, digits, dots, underscores or hyphens')
    .default(defaultTaskQueue)
    .describe('Task queue of the platform’s workflows; built-in nodes use the same name with “-builtin”.'),
});

export type TemporalSettings = z.output<typeof temporalSettings>;
