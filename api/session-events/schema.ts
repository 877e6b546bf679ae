/** The `data` of live events. `node` carries an item of the session's progress. */
import { z } from 'zod';
import { timestampOut } from '../../http/schemas.ts';

export const outputEventSchema = z
  .object({
    id: z.int(),
    nodeInstanceId: z.int(),
    outputIdentifier: z.string(),
    contentType: z.string().nullable(),
    contentEncoding: z.string().nullable(),
    sizeBytes: z.int(),
    createdAt: timestampOut(),
  })
  .meta({ id: 'SessionOutputEvent' });

export const attemptEventSchema = z
  .object({
    nodeInstanceId: z.int(),
    runId: z.guid(),
    attempt: z.int(),
    maxAttempts: z.int(),
    startedAt: timestampOut().nullable(),
    endedAt: timestampOut().nullable().meta({ description: 'Null while the attempt goes on.' }),
    outcome: z.string().nullable(),
    details: z.string(),
  })
  .meta({ id: 'SessionAttemptEvent' });

export const windowEventSchema = z
  .object({
    frozen: z.boolean(),
    status: z.enum(['open', 'closed']),
    startTimeUtc: timestampOut().nullable().meta({ description: 'Null on sessions that are not shared.' }),
    endTimeUtc: timestampOut().nullable(),
    closedAt: timestampOut().nullable(),
    closeReason: z.string().nullable(),
    participantCount: z.int(),
  })
  .meta({ id: 'SessionWindowEvent' });
