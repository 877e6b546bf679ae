/** Wire forms of what a task reads (contract: Runner routes; decisions 9). */
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import { integerParameter, jsonObjectOut, timestampOut } from '../../http/schemas.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import { incrementalSchema } from './schema.ts';

export const inputSchema = z
  .object({
    outputId: z.int().meta({ description: 'Id of the input, also used as watermark.' }),
    nodeInstanceId: z.int().meta({ description: 'The node that wrote it.' }),
    nodeName: z.string(),
    outputIdentifier: z.string(),
    contentType: z.string().nullable(),
    contentEncoding: z.string().nullable().meta({ description: '`gzip` or null.' }),
    sizeBytes: z.int().meta({ description: 'Size as stored, before decoding.' }),
    sha256: z.string().nullable().meta({ description: 'Null for multi-part outputs.' }),
    metadata: jsonObjectOut().nullable(),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'RunnerInput',
    example: {
      outputId: runnerExampleValues.inputId,
      nodeInstanceId: runnerExampleValues.inputNodeId,
      nodeName: runnerExampleValues.inputNodeName,
      outputIdentifier: 'drive.csv',
      contentType: 'text/csv',
      contentEncoding: null,
      sizeBytes: 48_210,
      sha256: runnerExampleValues.sha256,
      metadata: { driver: 'A' },
    },
  });

const inputModes = ['since-watermark', 'latest', 'all'] as const;
const cursorForm = /^p[0-9a-z]{1,11}$/;

/** The place after an input in its list; opaque to callers. */
export function cursorAt(position: number): string {
  return `p${position.toString(36)}`;
}

export const inputsQuerySchema = z.object({
  mode: z
    .enum(inputModes)
    .default('since-watermark')
    .meta({
      description:
        '`since-watermark`: above the watermark at the claim, capped; `latest`: of each parent the outputs that it ' +
        'published last together; `all`: everything. Only an incremental node gets the inputs beyond the cap in a ' +
        'follow-up task: other nodes list `latest` or `all`.',
      example: 'since-watermark',
    }),
  cursor: z
    .string()
    .regex(cursorForm, 'must be a nextCursor')
    .transform((text) => Number.parseInt(text.slice(1), 36))
    .refine((position) => position <= limits.maxId, 'must be a nextCursor')
    .meta({ type: 'string' })
    .optional()
    .meta({ description: 'The nextCursor of the page before.', example: cursorAt(42) }),
  limit: integerParameter({
    min: 1,
    max: limits.inputsPageMax,
    initial: limits.inputsPageDefault,
  }).meta({ description: 'Inputs per page.' }),
});

export const inputsSchema = z
  .object({
    mode: z.enum(inputModes),
    inputs: z.array(inputSchema),
    nextCursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
    incremental: incrementalSchema,
  })
  .meta({ id: 'RunnerInputs' });

export const stateSchema = z
  .object({
    previousOutput: inputSchema.nullable().meta({ description: 'The newest output of the node itself.' }),
    state: jsonObjectOut().nullable().meta({ description: 'The state that the runner stored last.' }),
    incremental: incrementalSchema,
  })
  .meta({
    id: 'RunnerState',
    example: {
      state: { lastLap: 12 },
      incremental: { watermark: 490, pendingInputs: 1, maxInputsPerTask: 100 },
    },
  });
