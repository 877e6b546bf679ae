/** Wire forms of runs, as operators see them. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { visibleNodeStates } from '../../domain/runs/node-state.ts';
import { completeOutcomes, failureCategories, openRunStates } from '../../domain/runs/run-plan.ts';
import { jsonObjectOut, timestampOut, uuid } from '../../http/schemas.ts';
import type { ShownRunState } from '../../store/runs/node-runs.ts';

const failedStates = ['failed', 'cancelled'] as const;
export const runStates = [
  ...openRunStates,
  ...failedStates,
  ...completeOutcomes,
] as const satisfies readonly ShownRunState[];

const instant = (description: string) => timestampOut().meta({ description });

export const runAttemptSchema = z
  .object({
    number: z.int().meta({ description: 'Number of the attempt in the run, from 1.' }),
    startedAt: instant('Time of its claim.').nullable(),
    endedAt: timestampOut().nullable(),
    outcome: z
      .enum([...completeOutcomes, 'failed', 'lost', 'cancelled'])
      .nullable()
      .meta({ description: '`lost`: its lease ended. Null while it is open.' }),
    category: z
      .enum(failureCategories)
      .nullable()
      .meta({ description: 'Category of a failed or lost attempt.' }),
    reason: z.string().meta({ description: 'Reason of the failure, or the message of its runner.' }),
    nextAttemptAt: instant('Time from which the next attempt may be claimed.').nullable(),
    runner: z
      .object({
        instanceId: z.string(),
        name: z.string().nullable().meta({ description: 'Label of its token; null for accounts.' }),
        version: z.string().nullable().meta({ description: 'As the runner reports it.' }),
      })
      .nullable()
      .meta({ description: 'Who held it last; null until its first claim.' }),
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
      runner: { instanceId: 'pit-wall-3', name: 'laps', version: '1.4.0' },
    },
  });

const nodeRunExample = {
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
};

export const runProgressSchema = z
  .object({ done: z.number(), total: z.number().nullable(), unit: z.string().nullable() })
  .nullable();

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
      .meta({ description: 'Why the run was created; `follow-up`: after a task that ended with `hasMore`.' }),
    state: z.enum(runStates).meta({
      description:
        '`queued`: may be claimed. `held`: a runner works on it. `waiting`: until `nextAttemptAt`. Else its final outcome.',
    }),
    nodeState: z.enum(visibleNodeStates).meta({ description: 'State of the node instance.' }),
    statusDetails: z.string(),
    attempt: z.int().meta({ description: 'Number of the current or last attempt.' }),
    maxAttempts: z.int().meta({ description: 'Increases when an operator retries the run.' }),
    cancelRequested: z.boolean(),
    retryable: z.boolean().meta({
      description:
        'It failed or was cancelled, no later run of the node has replaced it, and the session is not frozen.',
    }),
    createdAt: timestampOut(),
    endedAt: timestampOut().nullable(),
    nextAttemptAt: instant(
      'While it waits for its next attempt, or after it was released too often.',
    ).nullable(),
    heldBy: z
      .object({
        instanceId: z.string(),
        leaseExpiresAt: timestampOut(),
        phase: z.string().nullable(),
        message: z.string().nullable(),
        progress: runProgressSchema.meta({
          description: 'As its last heartbeat reported it, like `phase` and `message`.',
        }),
      })
      .nullable()
      .meta({ description: 'The runner instance that works on it.' }),
    attempts: z.array(runAttemptSchema).meta({ description: 'Oldest first.' }),
  })
  .meta({
    id: 'NodeRun',
    example: nodeRunExample,
  });

export const nodeRunParams = z.object({
  id: uuid().meta({
    description: 'The run, as in claims.',
    example: '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97',
  }),
});

/** The parameters of the routes below /api/v2/node-runs. */
export const runParams = z.object({ runId: nodeRunParams.shape.id });

export const fileNameOut = () =>
  z
    .string()
    .nullable()
    .meta({ description: 'The file of that name, or what was made of it; null: unknown.' });

export const inputsRemovedOut = () =>
  z.int().meta({
    description:
      'How many of the inputs that were new to it are no longer there: retention has removed them, or newer bytes have ' +
      'replaced them.',
  });

const pinnedInputSchema = z
  .object({
    outputId: z.int(),
    version: z.int().meta({ description: 'Rises when the bytes of the output are replaced.' }),
    nodeInstanceId: z.int(),
    nodeName: z.string(),
    outputIdentifier: z.string(),
    fileName: fileNameOut(),
    contentType: z.string().nullable(),
    sizeBytes: z.int(),
    sha256: z.string().nullable(),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'NodeRunInput',
    example: {
      outputId: exampleValues.outputId,
      version: 42,
      nodeInstanceId: exampleValues.nodeId,
      nodeName: 'input',
      outputIdentifier: 'drive.csv',
      fileName: 'drive.csv',
      contentType: 'text/csv',
      sizeBytes: 48_210,
      sha256: null,
    },
  });

export const runDetailsSchema = nodeRunSchema
  .extend({
    configuration: jsonObjectOut().meta({ description: 'The configuration of the node, as the run has it.' }),
    configurationRevision: z.int(),
    inputs: z.array(pinnedInputSchema).meta({
      description:
        'What the run was given, oldest first, to 1,000: as those outputs stood at its first claim. Empty before it.',
    }),
    inputsRemoved: inputsRemovedOut(),
    outputs: z
      .array(
        z.object({
          outputId: z.int(),
          outputIdentifier: z.string(),
          fileName: fileNameOut(),
          contentType: z.string().nullable(),
          sizeBytes: z.int(),
          sha256: z.string().nullable(),
          published: z.boolean().meta({ description: 'False while it is staged.' }),
          createdAt: timestampOut(),
        }),
      )
      .meta({ description: 'What the run has written, to 1,000.' }),
    actions: z
      .array(
        z.object({
          at: timestampOut(),
          attempt: z.int(),
          action: z.enum(['cancel', 'retry']),
          userId: z.guid(),
          name: z
            .string()
            .nullable()
            .meta({ description: 'Name of the person; null when the caller may not see them.' }),
        }),
      )
      .meta({ description: 'Who cancelled or retried it, oldest first.' }),
  })
  .meta({
    id: 'NodeRunDetails',
    example: {
      ...nodeRunExample,
      configuration: {},
      configurationRevision: 1,
      inputs: [],
      inputsRemoved: 0,
      outputs: [],
      actions: [],
    },
  });

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
  .object({ sessionId: z.guid(), retried: z.int().meta({ description: 'Number of retried runs.' }) })
  .meta({
    id: 'FailedRunsRetried',
    example: { sessionId: '0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10', retried: 2 },
  });
