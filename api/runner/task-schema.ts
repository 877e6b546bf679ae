/** Wire forms of a task's writes and its end (contract: Runner routes; decisions 9). */
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import { completeOutcomes, failureCategories } from '../../domain/runs/run-plan.ts';
import { utf8Bytes } from '../../domain/text.ts';
import { bodyId, freeJson, optionalText, timestampOut } from '../../http/schemas.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import { claimRequestSchema, claimSchema, nodeState } from './schema.ts';

const { taskId } = runnerExampleValues;
/** Saved with the node for its next task. */
const runnerState = freeJson(limits.runnerStateBytes)
  .nullish()
  .transform((value) => value ?? undefined)
  .meta({
    type: 'object',
    additionalProperties: true,
    description: 'Stored with the node for its next task. Absent: the stored state does not change.',
  });
const statusText = (description: string) =>
  optionalText()
    .nullish()
    .transform((value) => value ?? undefined)
    .meta({ type: 'string', maxLength: limits.descriptionCharacters, description });

const progressNumber = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
export const heartbeatRequestSchema = z
  .object({
    phase: optionalText(limits.nameCharacters).nullish(),
    message: optionalText().nullish(),
    progress: z
      .object({
        done: progressNumber,
        total: progressNumber.nullish(),
        unit: optionalText(limits.nameCharacters).nullish(),
      })
      .nullish(),
  })
  .prefault({})
  .meta({
    id: 'RunnerHeartbeatRequest',
    example: { phase: 'splitting', message: 'lap 3', progress: { done: 3, total: 12, unit: 'laps' } },
  });

export const heartbeatSchema = z
  .object({
    taskId: z.guid(),
    leaseExpiresAt: timestampOut(),
    cancelRequested: z.boolean().meta({ description: 'An operator cancelled the run: end the task.' }),
  })
  .meta({
    id: 'RunnerHeartbeat',
    example: { taskId, leaseExpiresAt: runnerExampleValues.leaseExpiresAt, cancelRequested: false },
  });

export const writtenOutputSchema = z
  .object({
    outputId: z.int(),
    outputIdentifier: z.string(),
    sizeBytes: z.int(),
    sha256: z.string().nullable().meta({ description: 'Null for multi-part outputs.' }),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'RunnerOutput',
    example: {
      outputId: runnerExampleValues.outputId,
      outputIdentifier: runnerExampleValues.outputIdentifier,
      sizeBytes: 9_120,
      sha256: runnerExampleValues.sha256,
      createdAt: runnerExampleValues.writtenAt,
    },
  });

export const uploadSchema = z
  .object({
    handle: z.guid().meta({ description: 'Handle of the upload for the following calls.' }),
    minPartBytes: z.int().meta({ description: 'Minimum size of every part but the last.' }),
    maxPartBytes: z.int(),
    maxParts: z.int(),
    expiresAt: timestampOut().meta({
      description: 'Expiry of the upload. It ends earlier if the task ends.',
    }),
  })
  .meta({
    id: 'RunnerUpload',
    example: {
      handle: runnerExampleValues.handle,
      minPartBytes: limits.uploadPartMinBytes,
      maxPartBytes: limits.uploadPartMaxBytes,
      maxParts: limits.uploadParts,
      expiresAt: '2026-03-08T10:04:12.345Z',
    },
  });

export const partSchema = z.object({ part: z.int(), sizeBytes: z.int(), sha256: z.string() }).meta({
  id: 'RunnerUploadPart',
  example: { part: 1, sizeBytes: limits.uploadPartMinBytes, sha256: runnerExampleValues.sha256 },
});

export const watermarkRequestSchema = z
  .object({
    inputId: bodyId().meta({ description: 'Id of the last fully consumed input.' }),
    state: runnerState,
  })
  .meta({
    id: 'RunnerWatermarkRequest',
    example: { inputId: runnerExampleValues.inputId, state: { lastLap: 12 } },
  });
export const watermarkSchema = z
  .object({ watermark: z.int().nullable(), pendingInputs: z.int() })
  .meta({ id: 'RunnerWatermark', example: { watermark: runnerExampleValues.inputId, pendingInputs: 0 } });

export const rejectionRequestSchema = z
  .object({
    category: z.enum(failureCategories),
    reason: optionalText().meta({ description: 'For people, shown in the list of rejected inputs.' }),
  })
  .meta({
    id: 'RunnerRejectionRequest',
    example: { category: 'validation', reason: 'drive.csv, line 3: no time' },
  });
export const rejectionSchema = z
  .object({
    inputId: z.int(),
    watermark: z
      .int()
      .nullable()
      .meta({ description: 'The watermark of the task: in an incremental node the input itself.' }),
    pendingInputs: z.int(),
  })
  .meta({
    id: 'RunnerRejection',
    example: {
      inputId: runnerExampleValues.inputId,
      watermark: runnerExampleValues.inputId,
      pendingInputs: 0,
    },
  });

const next = z
  .object({
    waitSeconds: z
      .number()
      .int()
      .min(0)
      .max(limits.nextWaitMaxSeconds)
      .default(0)
      .meta({ description: 'How long to wait for a task when none is ready.' }),
    templates: claimRequestSchema.shape.templates,
  })
  .meta({
    id: 'RunnerNextRequest',
    example: { waitSeconds: 20, templates: [runnerExampleValues.template] },
  })
  .nullish()
  .meta({ description: 'Claims the next task with the same call.' });
export type NextRequest = z.output<typeof next>;
const nextTask = claimSchema.nullable().optional().meta({
  description: 'Only when it was asked for: the next task, or null when none was ready within the wait.',
});

export const completeRequestSchema = z
  .object({
    outcome: z.enum(completeOutcomes),
    hasMore: z.boolean().nullish().meta({
      description: 'For an incremental node that stopped at the cap: requests a follow-up task.',
    }),
    statusDetails: statusText('Shown with the state of the node.'),
    state: runnerState,
    next,
  })
  .meta({
    id: 'RunnerCompleteRequest',
    example: { outcome: 'completed', hasMore: false, statusDetails: '12 laps', state: { lastLap: 12 } },
  });
export const completeSchema = z
  .object({
    taskId: z.guid(),
    outcome: z.string(),
    nodeState,
    followUp: z.boolean().meta({ description: 'True: a follow-up task was created.' }),
    next: nextTask,
  })
  .meta({
    id: 'RunnerComplete',
    example: { taskId, outcome: 'completed', nodeState: 'Succeeded', followUp: false },
  });

const logTail = z
  .string()
  .refine((text) => utf8Bytes(text) <= limits.logTailBytes, {
    error: `must hold at most ${limits.logTailBytes} bytes`,
  })
  .nullish()
  .transform((value) => value ?? undefined)
  .meta({ type: 'string', description: 'A last word for the log of the attempt, to 64 KB.' });

export const failRequestSchema = z
  .object({
    reason: optionalText().meta({ description: 'Free text, shown with the state of the node.' }),
    category: z.enum(failureCategories).meta({ description: '`validation` is never retried.' }),
    logTail,
    next,
  })
  .meta({
    id: 'RunnerFailRequest',
    example: { reason: 'drive.csv, line 3: no time', category: 'validation' },
  });
export const failSchema = z
  .object({
    taskId: z.guid(),
    nodeState,
    willRetry: z.boolean(),
    nextAttemptAt: timestampOut().nullable().meta({ description: 'Null when it is not retried.' }),
    next: nextTask,
  })
  .meta({
    id: 'RunnerFail',
    example: { taskId, nodeState: 'Failed', willRetry: false, nextAttemptAt: null },
  });

export const releaseRequestSchema = z
  .object({ reason: statusText('Free text.'), logTail, next })
  .prefault({})
  .meta({ id: 'RunnerReleaseRequest', example: { reason: 'shutdown' } });
export const releaseSchema = z
  .object({ taskId: z.guid(), nodeState, next: nextTask })
  .meta({ id: 'RunnerRelease', example: { taskId, nodeState: 'Pending' } });
