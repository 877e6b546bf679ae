/** What waits for runners, and who is there for it (additions 5). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { concurrencyKinds } from '../../domain/runners/concurrency.ts';
import { runtimes } from '../../domain/runners/manifest-runner-types.ts';
import { listQueues, type QueueRow } from '../../store/run-views/queues.ts';
import { defineRoute } from '../route.ts';
import { runnerExampleValues } from '../runner-examples.ts';

/** Node templates in one reply. */
const maxQueues = 1_000;

const runnerCountsSchema = z
  .object({ waiting: z.int(), busy: z.int(), drained: z.int(), gone: z.int() })
  .meta({
    id: 'QueueRunners',
    description:
      'Instances that may claim its tasks, by state. Empty for built-in nodes, which the platform runs itself.',
    example: { waiting: 2, busy: 1, drained: 0, gone: 0 },
  });

const queueSchema = z
  .object({
    runnerType: z.string(),
    runtime: z.enum(runtimes).meta({
      description:
        '`system`: built-in nodes; `sdk`: runners that the platform starts; `external`: runners elsewhere.',
    }),
    nodeTemplate: z.string(),
    waiting: z.int().meta({ description: 'Tasks that could be claimed now.' }),
    oldestWaitSeconds: z
      .number()
      .nullable()
      .meta({ description: 'How long the next of them has been claimable; null when none waits.' }),
    held: z.int().meta({ description: 'Tasks that runners hold.' }),
    limits: z
      .array(
        z.object({
          kind: z.enum(concurrencyKinds),
          max: z.int().nullable(),
          perProject: z.int().nullable(),
          perSession: z.int().nullable(),
          held: z.int().meta({ description: 'Held under the limit, of all its node templates.' }),
        }),
      )
      .meta({ description: 'How many of its tasks are held at once at most.' }),
    runners: runnerCountsSchema,
    lastHour: z
      .object({
        completed: z.int(),
        failed: z.int().meta({ description: 'Attempts that failed or were lost.' }),
        completedPerHour: z.number(),
        seconds: z.number().meta({
          description:
            'The time that the counts cover: an hour, or less when very many attempts ended within it.',
        }),
      })
      .meta({ id: 'QueueRate' }),
  })
  .meta({
    id: 'Queue',
    example: {
      runnerType: runnerExampleValues.runnerType,
      runtime: 'external',
      nodeTemplate: runnerExampleValues.template,
      waiting: 12,
      oldestWaitSeconds: 41.5,
      held: 1,
      limits: [],
      lastHour: { completed: 240, failed: 2, completedPerHour: 240, seconds: 3_600 },
    },
  });

const list = defineRoute({
  id: 'listQueues',
  method: 'GET',
  path: '/api/v2/admin/queues',
  summary: 'Lists the tasks that wait for runners, by node template',
  description:
    'Queues with waiting tasks come first, the longest wait first. A queue with `waiting` above 0 and neither waiting nor ' +
    `busy runners needs a runner of its type. At most ${maxQueues} node templates are listed.`,
  tags: ['Runner administration'],
  access: access.admin,
  responses: {
    200: {
      description: 'The queues.',
      schema: z.object({ queues: z.array(queueSchema) }).meta({ id: 'QueueList' }),
    },
  },
  async handler({ services }) {
    const rows = await listQueues(services.database, maxQueues);
    return { status: 200, body: { queues: rows.map(present) } };
  },
});

function present(row: QueueRow): z.input<typeof queueSchema> {
  const { recentCompleted: completed, recentFailed: failed, recentSeconds: seconds, ...queue } = row;
  const completedPerHour = Math.round((completed * 3_600 * 10) / seconds) / 10;
  return { ...queue, limits: [...queue.limits], lastHour: { completed, failed, completedPerHour, seconds } };
}

export const queueRoutes = [list];
