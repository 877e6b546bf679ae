/** The `data` of live events. `node` carries an item of the session's progress. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { timestampOut } from '../../http/schemas.ts';

const outputEventSchema = z
  .object({
    id: z.int(),
    nodeInstanceId: z.int(),
    outputIdentifier: z.string(),
    contentType: z.string().nullable(),
    contentEncoding: z.string().nullable(),
    sizeBytes: z.int(),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'SessionOutputEvent',
    example: {
      id: exampleValues.outputId,
      nodeInstanceId: exampleValues.inputNodeId,
      outputIdentifier: 'lap-12',
      contentType: 'text/csv',
      contentEncoding: null,
      sizeBytes: 39,
      createdAt: exampleValues.processedAt,
    },
  });

const attemptEventSchema = z
  .object({
    nodeInstanceId: z.int(),
    runId: z.guid(),
    attempt: z.int(),
    maxAttempts: z.int(),
    startedAt: timestampOut().nullable(),
    endedAt: timestampOut().nullable().meta({ description: 'Null while the attempt is open.' }),
    outcome: z.string().nullable(),
    details: z.string(),
  })
  .meta({
    id: 'SessionAttemptEvent',
    example: {
      nodeInstanceId: exampleValues.nodeId,
      runId: '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97',
      attempt: 1,
      maxAttempts: 3,
      startedAt: exampleValues.processedAt,
      endedAt: null,
      outcome: null,
      details: '',
    },
  });

const windowEventSchema = z
  .object({
    frozen: z.boolean(),
    status: z.enum(['open', 'closed']),
    startTimeUtc: timestampOut().nullable().meta({ description: 'Null on sessions that are not shared.' }),
    endTimeUtc: timestampOut().nullable(),
    closedAt: timestampOut().nullable(),
    closeReason: z.string().nullable(),
    participantCount: z.int(),
  })
  .meta({
    id: 'SessionWindowEvent',
    example: {
      frozen: false,
      status: 'open',
      startTimeUtc: exampleValues.startedAt,
      endTimeUtc: '2026-03-01T10:05:00.000Z',
      closedAt: null,
      closeReason: null,
      participantCount: 2,
    },
  });

/** Every kind of event with the form of its data, but `node`, whose data is an item of the session's progress. */
export const eventSchemas = {
  output: outputEventSchema,
  attempt: attemptEventSchema,
  window: windowEventSchema,
} as const;
