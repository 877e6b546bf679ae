/** Wire forms of a task's writes and its end (contract: Runner routes; decisions 9). */
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import { completeOutcomes, failureCategories } from '../../domain/runs/run-plan.ts';
import { bodyId, freeJson, optionalText, timestampOut } from '../../http/schemas.ts';
import { runnerStory } from './examples.ts';
import { nodeState } from './schema.ts';

const { taskId } = runnerStory;
/** Saved with the node for its next task. */
const runnerState = freeJson(limits.runnerStateBytes)
  .nullish()
  .transform((value) => value ?? undefined)
  .meta({
    type: 'object',
    additionalProperties: true,
    description: 'Kept with the node for its next task; absent leaves what is stored.',
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
    example: { taskId, leaseExpiresAt: runnerStory.leaseExpiresAt, cancelRequested: false },
  });

export const writtenOutputSchema = z
  .object({
    outputId: z.int(),
    outputIdentifier: z.string(),
    sizeBytes: z.int(),
    sha256: z.string().nullable().meta({ description: 'Null for outputs that came in parts.' }),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'RunnerOutput',
    example: {
      outputId: runnerStory.outputId,
      outputIdentifier: runnerStory.outputIdentifier,
      sizeBytes: 9_120,
      sha256: runnerStory.sha256,
      createdAt: runnerStory.writtenAt,
    },
  });

export const uploadSchema = z
  .object({
    handle: z.guid().meta({ description: 'Names the upload in the calls that follow.' }),
    minPartBytes: z.int().meta({ description: 'Every part but the last holds at least this much.' }),
    maxPartBytes: z.int(),
    maxParts: z.int(),
    expiresAt: timestampOut().meta({ description: 'It ends earlier with the task.' }),
  })
  .meta({
    id: 'RunnerUpload',
    example: {
      handle: runnerStory.handle,
      minPartBytes: limits.uploadPartMinBytes,
      maxPartBytes: limits.uploadPartMaxBytes,
      maxParts: limits.uploadParts,
      expiresAt: '2026-03-08T10:04:12.345Z',
    },
  });

export const partSchema = z.object({ part: z.int(), sizeBytes: z.int(), sha256: z.string() }).meta({
  id: 'RunnerUploadPart',
  example: { part: 1, sizeBytes: limits.uploadPartMinBytes, sha256: runnerStory.sha256 },
});

export const watermarkRequestSchema = z
  .object({
    inputId: bodyId().meta({ description: 'Id of the last input that is fully consumed.' }),
    state: runnerState,
  })
  .meta({
    id: 'RunnerWatermarkRequest',
    example: { inputId: runnerStory.inputId, state: { lastLap: 12 } },
  });
export const watermarkSchema = z
  .object({ watermark: z.int().nullable(), pendingInputs: z.int() })
  .meta({ id: 'RunnerWatermark', example: { watermark: runnerStory.inputId, pendingInputs: 0 } });

export const completeRequestSchema = z
  .object({
    outcome: z.enum(completeOutcomes),
    hasMore: z.boolean().nullish().meta({
      description: 'Of an incremental node that stopped at the cap: asks for a follow-up task.',
    }),
    statusDetails: statusText('Shown with the state of the node.'),
    state: runnerState,
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
    followUp: z.boolean().meta({ description: 'A follow-up task was made.' }),
  })
  .meta({
    id: 'RunnerComplete',
    example: { taskId, outcome: 'completed', nodeState: 'Succeeded', followUp: false },
  });

export const failRequestSchema = z
  .object({
    reason: optionalText().meta({ description: 'For people, shown with the state of the node.' }),
    category: z.enum(failureCategories).meta({ description: '`validation` is never tried again.' }),
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
    nextAttemptAt: timestampOut().nullable().meta({ description: 'Null when it is not tried again.' }),
  })
  .meta({
    id: 'RunnerFail',
    example: { taskId, nodeState: 'Failed', willRetry: false, nextAttemptAt: null },
  });

export const releaseRequestSchema = z
  .object({ reason: statusText('For people.') })
  .prefault({})
  .meta({ id: 'RunnerReleaseRequest', example: { reason: 'shutdown' } });
export const releaseSchema = z
  .object({ taskId: z.guid(), nodeState })
  .meta({ id: 'RunnerRelease', example: { taskId, nodeState: 'Pending' } });
