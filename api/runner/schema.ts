/** Wire forms of claims, of claiming instances, and of debug contexts (contract: Runner routes; decisions 9). */
import { z } from 'zod';
import { runnerScopes } from '../../domain/access/access.ts';
import { holdsToken } from '../../domain/access/token-format.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { runReasons } from '../../domain/runs/run-plan.ts';
import { jsonObjectOut, timestampOut } from '../../http/schemas.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import { instanceIdForm } from './identity.ts';

export const nodeState = z
  .string()
  .meta({ description: 'State code, as in node progress.', example: 'Succeeded' });

export const incrementalSchema = z
  .object({
    watermark: z.int().nullable().meta({ description: 'Id of the last fully consumed input.' }),
    pendingInputs: z.int().meta({ description: 'Inputs of this task above the watermark.' }),
    maxInputsPerTask: z
      .int()
      .meta({ description: 'Maximum number of inputs that `since-watermark` lists for one task.' }),
  })
  .meta({ id: 'RunnerIncremental', example: { watermark: null, pendingInputs: 1, maxInputsPerTask: 100 } });

export const claimRequestSchema = z
  .object({
    instanceId: z
      .string()
      .regex(
        instanceIdForm,
        `instanceId must hold 1 to ${limits.runnerInstanceCharacters} characters of A-Za-z0-9._:-.`,
      )
      .refine((instanceId) => !holdsToken(instanceId), 'instanceId must not hold a token.')
      .meta({ description: 'Id of the runner instance. An instance holds one task at a time.' }),
    templates: z
      .array(z.string().max(limits.nameCharacters))
      .max(limits.templateNodes)
      .nullish()
      .meta({ description: 'Names of node templates. Absent or empty: all that the token may claim.' }),
    waitSeconds: z
      .number()
      .int()
      .min(0)
      .max(limits.claimWaitMaxSeconds)
      .default(0)
      .meta({ description: 'Seconds to wait for a task when none is ready.' }),
  })
  .meta({
    id: 'RunnerClaimRequest',
    example: {
      instanceId: runnerExampleValues.instanceId,
      templates: [runnerExampleValues.template],
      waitSeconds: 30,
    },
  });

const commonExample = {
  runId: runnerExampleValues.runId,
  maxAttempts: 3,
  reason: 'input',
  projectId: exampleValues.projectId,
  sessionId: exampleValues.sessionId,
  sessionName: exampleValues.sessionName,
  nodeInstanceId: runnerExampleValues.nodeId,
  nodeName: 'laps',
  nodeTemplate: runnerExampleValues.template,
  runnerType: runnerExampleValues.runnerType,
  configuration: { minLapSeconds: 40 },
  parents: [{ nodeInstanceId: runnerExampleValues.inputNodeId, name: runnerExampleValues.inputNodeName }],
};

export const claimSchema = z
  .object({
    taskId: z.guid().meta({ description: 'New at every claim.' }),
    runId: z.guid().meta({ description: 'The same for all attempts of a run.' }),
    attempt: z.int(),
    maxAttempts: z.int(),
    reason: z
      .enum([...runReasons, 'retry'])
      .meta({ description: '`follow-up` after `hasMore`; `retry` for every attempt above the first.' }),
    projectId: z.int(),
    sessionId: z.guid(),
    sessionName: z.string(),
    nodeInstanceId: z.int(),
    nodeName: z.string(),
    nodeTemplate: z.string(),
    runnerType: z.string(),
    configuration: jsonObjectOut().meta({ description: 'The configuration of the node in its session.' }),
    parents: z.array(z.object({ nodeInstanceId: z.int(), name: z.string() })),
    claimedAt: timestampOut(),
    leaseExpiresAt: timestampOut().meta({
      description: 'The task is lost at this time. Every call for it renews the lease.',
    }),
    heartbeatIntervalSeconds: z.int().meta({ description: 'Interval of heartbeats.' }),
    incremental: incrementalSchema,
    traceparent: z
      .string()
      .nullable()
      .meta({
        description:
          'W3C trace context of the run; null without tracing. Send it as header `traceparent` in every call for ' +
          'the task, so that the calls join one trace.',
      }),
  })
  .meta({
    id: 'RunnerTask',
    example: {
      ...commonExample,
      taskId: runnerExampleValues.taskId,
      attempt: 1,
      claimedAt: runnerExampleValues.claimedAt,
      leaseExpiresAt: runnerExampleValues.leaseExpiresAt,
      heartbeatIntervalSeconds: 10,
      traceparent: null,
    },
  });

export const debugContextSchema = claimSchema
  .omit({
    taskId: true,
    runId: true,
    attempt: true,
    reason: true,
    claimedAt: true,
    leaseExpiresAt: true,
    heartbeatIntervalSeconds: true,
    traceparent: true,
  })
  .extend({
    runId: z.guid().nullable().meta({ description: 'The queued, held or waiting run.' }),
    reason: claimSchema.shape.reason.nullable().meta({ description: 'Reason of the open or due run.' }),
    nodeState,
    wouldRun: z.boolean().meta({ description: 'True: a runner that claims now gets a task of the node.' }),
    why: z.string().meta({ description: 'Explains wouldRun.' }),
  })
  .meta({
    id: 'RunnerDebugContext',
    example: { ...commonExample, nodeState: 'Pending', wouldRun: true, why: 'A task is queued.' },
  });

export const whoamiSchema = z
  .object({
    kind: z.enum(['runner', 'account']),
    tokenId: z.guid().nullable().meta({ description: 'Null for accounts.' }),
    label: z.string().nullable().meta({ description: 'Label of the token; username of an account.' }),
    runnerTypes: z.array(z.string()),
    scopes: z.array(z.enum(runnerScopes)),
    expiresAt: timestampOut().nullable().meta({ description: 'Null for accounts.' }),
    templates: z
      .array(z.object({ name: z.string(), runnerType: z.string(), type: z.string() }))
      .meta({ description: 'Node templates whose tasks the caller may claim.' }),
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
  .meta({
    id: 'RunnerWhoami',
    example: {
      kind: 'runner',
      tokenId: runnerExampleValues.tokenId,
      label: 'lap runners, building 4',
      runnerTypes: [runnerExampleValues.runnerType],
      scopes: ['tasks', 'debug:read'],
      expiresAt: '2026-03-31T10:00:00.000Z',
      templates: [
        {
          name: runnerExampleValues.template,
          runnerType: runnerExampleValues.runnerType,
          type: 'Processing',
        },
      ],
      limits: {
        maxOutputBytes: limits.runnerOutputBytes,
        maxOutputMetadataBytes: limits.outputMetadataBytes,
        maxOutputIdentifierLength: limits.outputIdentifierCharacters,
        maxWaitSeconds: limits.claimWaitMaxSeconds,
        leaseSeconds: limits.leaseSeconds,
        heartbeatIntervalSeconds: 10,
        upload: {
          minPartBytes: limits.uploadPartMinBytes,
          maxPartBytes: limits.uploadPartMaxBytes,
          maxParts: limits.uploadParts,
        },
        incremental: { maxInputsPerTask: 100 },
      },
    },
  });
