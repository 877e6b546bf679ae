/** Wire forms of runs, as operators see them. */
import { z } from 'zod';
import { story } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { visibleNodeStates } from '../../domain/runs/node-state.ts';
import { completeOutcomes, failureCategories, openRunStates } from '../../domain/runs/run-plan.ts';
import { idParameter, integerParameter, optionalText, timestampOut, uuid } from '../../http/schemas.ts';
import type { ShownRunState } from '../../store/runs/node-runs.ts';

const failedStates = ['failed', 'cancelled'] as const;
const runStates = [
  ...openRunStates,
  ...failedStates,
  ...completeOutcomes,
] as const satisfies readonly ShownRunState[];

const instant = (description: string) => timestampOut().meta({ description });

export const runAttemptSchema = z
  .object({
    number: z.int().meta({ description: 'From 1, over all attempts of the run.' }),
    startedAt: instant('Its first claim.').nullable(),
    endedAt: timestampOut().nullable(),
    outcome: z
      .enum([...completeOutcomes, 'failed', 'lost', 'cancelled'])
      .nullable()
      .meta({ description: '`lost`: its lease ended. Null while it is open.' }),
    category: z.enum(failureCategories).nullable().meta({ description: 'Of a failed or lost attempt.' }),
    reason: z.string().meta({ description: 'Why it failed, or what its runner said of it.' }),
    nextAttemptAt: instant('From when on the attempt after it may be claimed.').nullable(),
  })
  .meta({
    id: 'NodeRunAttempt',
    example: {
      number: 1,
      startedAt: '2026-03-01T10:04:00.120Z',
      endedAt: '2026-03-01T10:04:12.345Z',
      outcome: 'failed',
      category: 'error',
      reason: 'The licence server did not answer.',
      nextAttemptAt: '2026-03-01T10:04:16.902Z',
    },
  });

export const nodeRunSchema = z
  .object({
    id: z.guid(),
    projectId: z.int(),
    sessionId: z.guid(),
    sessionName: z.string(),
    nodeInstanceId: z.int(),
    nodeName: z.string(),
    nodeTemplate: z.string(),
    runnerType: z.string(),
    reason: z
      .enum(['input', 'reprocess', 'follow-up'])
      .meta({ description: 'Why the run was made; `follow-up`: after a task that had more to do.' }),
    state: z.enum(runStates).meta({
      description:
        '`queued`: may be claimed. `held`: a runner works on it. `waiting`: until `nextAttemptAt`. Else how it ended for good.',
    }),
    nodeState: z
      .enum(visibleNodeStates)
      .meta({ description: 'State of the node instance, whichever of its runs it comes from.' }),
    statusDetails: z.string(),
    attempt: z.int().meta({ description: 'The present or last one.' }),
    maxAttempts: z.int().meta({ description: 'Rises when an operator has the run tried again.' }),
    cancelRequested: z.boolean(),
    retryable: z.boolean().meta({
      description:
        'It failed or was cancelled, no later run of the node has taken its place, and the session is not frozen.',
    }),
    createdAt: timestampOut(),
    endedAt: timestampOut().nullable(),
    nextAttemptAt: instant('While it waits for its next attempt, or was given back too often.').nullable(),
    heldBy: z
      .object({ instanceId: z.string(), leaseExpiresAt: timestampOut() })
      .nullable()
      .meta({ description: 'The runner instance that works on it.' }),
    attempts: z.array(runAttemptSchema).meta({ description: 'Oldest first.' }),
  })
  .meta({
    id: 'NodeRun',
    example: {
      id: '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97',
      projectId: 7,
      sessionId: '0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10',
      sessionName: 'Formation flight 7',
      nodeInstanceId: 102,
      nodeName: 'lap-times',
      nodeTemplate: 'lap-times',
      runnerType: 'lap-runner',
      reason: 'input',
      state: 'failed',
      nodeState: 'Failed',
      statusDetails: 'error: The licence server did not answer.',
      attempt: 3,
      maxAttempts: 3,
      cancelRequested: false,
      retryable: true,
      createdAt: '2026-03-01T10:04:00.000Z',
      endedAt: '2026-03-01T10:05:02.118Z',
      nextAttemptAt: null,
      heldBy: null,
    },
  });

export const nodeRunParams = z.object({
  id: uuid().meta({
    description: 'The run, as claims name it.',
    example: '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97',
  }),
});

const stateList = z
  .string()
  .transform((value, context) => {
    const states = value.split(',').map((state) => state.trim());
    const known = states.filter((state): state is ShownRunState =>
      (runStates as readonly string[]).includes(state),
    );
    if (known.length === states.length) return [...new Set(known)];
    context.addIssue({
      code: 'custom',
      message: `state must be some of ${runStates.join(', ')}, with commas between them.`,
      input: value,
    });
    return z.NEVER;
  })
  .meta({ type: 'string', example: 'failed,cancelled' });

export const nodeRunListQuerySchema = z
  .object({
    sessionId: uuid()
      .optional()
      .meta({ description: 'Only runs of this session.', example: story.sessionId }),
    nodeInstanceId: idParameter().meta({
      description: 'Only runs of this node instance.',
      example: story.nodeId,
    }),
    nodeTemplate: optionalText(limits.nameCharacters)
      .optional()
      .meta({ description: 'Only runs of nodes of this node template.', example: 'lap-splitter' }),
    state: stateList.optional().meta({
      description:
        'States, with commas between them. Without it: all runs of the session or node instance; without those, all that are open or failed.',
      example: 'failed,cancelled',
    }),
    page: integerParameter({ min: 1, initial: 1 }).meta({ description: 'Number of the page, from 1.' }),
    pageSize: integerParameter({
      min: 1,
      max: limits.nodeRunPageSizeMax,
      initial: limits.nodeRunPageSizeDefault,
    }).meta({ description: 'Runs on a page.' }),
  })
  .refine(
    ({ sessionId, nodeInstanceId, state = [] }) =>
      sessionId !== undefined ||
      nodeInstanceId !== undefined ||
      !state.some((one) => (completeOutcomes as readonly string[]).includes(one)),
    { error: `The states ${completeOutcomes.join(', ')} need sessionId or nodeInstanceId.` },
  );

export const nodeRunListSchema = z
  .object({
    nodeRuns: z.array(nodeRunSchema),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int(),
  })
  .meta({ id: 'NodeRunList', example: { page: 1, pageSize: 25, totalCount: 1, totalPages: 1 } });

export const retriedSchema = z
  .object({ sessionId: z.guid(), retried: z.int().meta({ description: 'Runs that were queued again.' }) })
  .meta({
    id: 'FailedRunsRetried',
    example: { sessionId: '0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10', retried: 2 },
  });
