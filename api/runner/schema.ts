/** Wire forms of the runner routes (contract: Runner routes; decisions 9). */
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import {
  bodyId,
  freeJson,
  integerParameter,
  jsonObjectOut,
  optionalText,
  timestampOut,
} from '../../http/schemas.ts';
import { instanceIdForm } from './identity.ts';

const nodeState = z.string().meta({ description: 'As in node progress.' });
/** Kept with the node for its next task. */
const runnerState = freeJson(limits.runnerStateBytes)
  .nullish()
  .transform((value) => value ?? undefined);
const statusText = optionalText()
  .nullish()
  .transform((value) => value ?? undefined);

export const incrementalSchema = z
  .object({
    watermark: z.int().nullable().meta({ description: 'Id of the last input that is fully consumed.' }),
    pendingInputs: z.int().meta({ description: 'Inputs of this task above the watermark.' }),
    maxInputsPerTask: z.int(),
  })
  .meta({ id: 'RunnerIncremental' });

export const claimRequestSchema = z
  .object({
    instanceId: z
      .string()
      .regex(
        instanceIdForm,
        `instanceId must hold 1 to ${limits.runnerInstanceCharacters} characters of A-Za-z0-9._:-`,
      ),
    templates: z
      .array(z.string().max(limits.nameCharacters))
      .max(limits.templateNodes)
      .nullish()
      .meta({ description: 'Names of node templates; absent or empty: all that the token may claim.' }),
    waitSeconds: z.number().int().min(0).max(limits.claimWaitMaxSeconds).default(0),
  })
  .meta({ id: 'RunnerClaimRequest' });

export const claimSchema = z
  .object({
    taskId: z.guid(),
    runId: z.guid(),
    attempt: z.int(),
    maxAttempts: z.int(),
    reason: z.enum(['input', 'reprocess', 'follow-up', 'retry']),
    projectId: z.int(),
    sessionId: z.guid(),
    sessionName: z.string(),
    nodeInstanceId: z.int(),
    nodeName: z.string(),
    nodeTemplate: z.string(),
    runnerType: z.string(),
    configuration: jsonObjectOut(),
    parents: z.array(z.object({ nodeInstanceId: z.int(), name: z.string() })),
    claimedAt: timestampOut(),
    leaseExpiresAt: timestampOut(),
    heartbeatIntervalSeconds: z.int(),
    incremental: incrementalSchema,
  })
  .meta({ id: 'RunnerTask' });

export const debugContextSchema = claimSchema
  .omit({
    taskId: true,
    runId: true,
    attempt: true,
    reason: true,
    claimedAt: true,
    leaseExpiresAt: true,
    heartbeatIntervalSeconds: true,
  })
  .extend({
    runId: z.guid().nullable().meta({ description: 'The run that is queued, held or waiting.' }),
    reason: claimSchema.shape.reason.nullable().meta({ description: 'Of the run that is open or due.' }),
    nodeState,
    wouldRun: z.boolean().meta({ description: 'A runner that claims now would get a task of the node.' }),
    why: z.string().meta({ description: 'A sentence that explains wouldRun.' }),
  })
  .meta({ id: 'RunnerDebugContext' });

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
  .meta({ id: 'RunnerHeartbeatRequest' });

export const heartbeatSchema = z
  .object({ taskId: z.guid(), leaseExpiresAt: timestampOut(), cancelRequested: z.boolean() })
  .meta({ id: 'RunnerHeartbeat' });

export const inputSchema = z
  .object({
    outputId: z.int(),
    nodeInstanceId: z.int(),
    nodeName: z.string(),
    outputIdentifier: z.string(),
    contentType: z.string().nullable(),
    contentEncoding: z.string().nullable(),
    sizeBytes: z.int(),
    sha256: z.string().nullable(),
    metadata: jsonObjectOut().nullable(),
    createdAt: timestampOut(),
  })
  .meta({ id: 'RunnerInput' });

export const inputModes = ['since-watermark', 'latest', 'all'] as const;
const cursorForm = /^p[0-9a-z]{1,11}$/;

/** The place after an input in its list; opaque to callers. */
export function cursorAt(position: number): string {
  return `p${position.toString(36)}`;
}

export const inputsQuerySchema = z.object({
  mode: z.enum(inputModes).default('since-watermark'),
  cursor: z
    .string()
    .regex(cursorForm, 'must be a nextCursor')
    .transform((text) => Number.parseInt(text.slice(1), 36))
    .refine((position) => position <= limits.largestId, 'must be a nextCursor')
    .meta({ type: 'string' })
    .optional(),
  limit: integerParameter({ min: 1, max: limits.inputsPageMax, initial: limits.inputsPageDefault }),
});

export const inputsSchema = z
  .object({
    mode: z.enum(inputModes),
    inputs: z.array(inputSchema),
    nextCursor: z.string().nullable(),
    incremental: incrementalSchema,
  })
  .meta({ id: 'RunnerInputs' });

export const stateSchema = z
  .object({
    previousOutput: inputSchema.nullable(),
    state: jsonObjectOut().nullable(),
    incremental: incrementalSchema,
  })
  .meta({ id: 'RunnerState' });

export const writtenOutputSchema = z
  .object({
    outputId: z.int(),
    outputIdentifier: z.string(),
    sizeBytes: z.int(),
    sha256: z.string().nullable(),
    createdAt: timestampOut(),
  })
  .meta({ id: 'RunnerOutput' });

export const uploadSchema = z
  .object({
    handle: z.guid(),
    minPartBytes: z.int().meta({ description: 'Every part but the last holds at least this much.' }),
    maxPartBytes: z.int(),
    maxParts: z.int(),
    expiresAt: timestampOut().meta({ description: 'It ends earlier with the task.' }),
  })
  .meta({ id: 'RunnerUpload' });

export const partSchema = z
  .object({ part: z.int(), sizeBytes: z.int(), sha256: z.string() })
  .meta({ id: 'RunnerUploadPart' });

export const watermarkRequestSchema = z
  .object({ inputId: bodyId(), state: runnerState })
  .meta({ id: 'RunnerWatermarkRequest' });
export const watermarkSchema = z
  .object({ watermark: z.int().nullable(), pendingInputs: z.int() })
  .meta({ id: 'RunnerWatermark' });

export const completeRequestSchema = z
  .object({
    outcome: z.enum(['completed', 'no-output', 'suspended']),
    hasMore: z.boolean().nullish(),
    statusDetails: statusText,
    state: runnerState,
  })
  .meta({ id: 'RunnerCompleteRequest' });
export const completeSchema = z
  .object({ taskId: z.guid(), outcome: z.string(), nodeState, followUp: z.boolean() })
  .meta({ id: 'RunnerComplete' });

export const failRequestSchema = z
  .object({ reason: optionalText(), category: z.enum(['error', 'validation', 'memory', 'timeout']) })
  .meta({ id: 'RunnerFailRequest' });
export const failSchema = z
  .object({
    taskId: z.guid(),
    nodeState,
    willRetry: z.boolean(),
    nextAttemptAt: timestampOut().nullable(),
  })
  .meta({ id: 'RunnerFail' });

export const releaseRequestSchema = z
  .object({ reason: statusText })
  .prefault({})
  .meta({ id: 'RunnerReleaseRequest' });
export const releaseSchema = z.object({ taskId: z.guid(), nodeState }).meta({ id: 'RunnerRelease' });

export const whoamiSchema = z
  .object({
    kind: z.enum(['runner', 'account']),
    tokenId: z.guid().nullable(),
    label: z.string().nullable(),
    runnerTypes: z.array(z.string()),
    scopes: z.array(z.enum(['tasks', 'debug:read'])),
    expiresAt: timestampOut().nullable(),
    templates: z.array(z.object({ name: z.string(), runnerType: z.string(), type: z.string() })),
    limits: z.object({
      maxOutputBytes: z.int(),
      maxOutputMetadataBytes: z.int(),
      maxOutputIdentifierLength: z.int(),
      maxWaitSeconds: z.int(),
      leaseSeconds: z.int(),
      heartbeatIntervalSeconds: z.int(),
      upload: z.object({ minPartBytes: z.int(), maxPartBytes: z.int(), maxParts: z.int() }),
      incremental: z.object({ maxInputsPerTask: z.int() }),
    }),
  })
  .meta({ id: 'RunnerWhoami' });
