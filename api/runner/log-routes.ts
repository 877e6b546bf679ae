/** The log of a task, as its holder writes it. */
import { z } from 'zod';
import { bodyTooLarge, Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { loggedBytes, logLevels } from '../../domain/runs/run-log.ts';
import { utf8Bytes } from '../../domain/text.ts';
import { freeJson, timestamp } from '../../http/schemas.ts';
import { defineRoute } from '../route.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import { callerOf, taskRoute } from './identity.ts';

const logEntrySchema = z.object({
  at: timestamp().meta({ description: 'By the clock of the runner.' }),
  level: z.enum(logLevels),
  message: z
    .string()
    .refine((text) => utf8Bytes(text) <= limits.logMessageBytes, {
      error: `must hold at most ${limits.logMessageBytes} bytes`,
    })
    .meta({ description: 'One line or more, to 8 KB.' }),
  fields: freeJson(limits.logFieldsBytes).nullish().meta({
    type: 'object',
    additionalProperties: true,
    description: 'Further facts for programs, to 4 KB.',
  }),
});

const logRequestSchema = z
  .object({
    // The reply has the next one.
    sequence: z
      .int()
      .min(1)
      .max(limits.maxId - 1)
      .meta({ description: 'Rises with every call for the task. A repeated call sends the same again.' }),
    entries: z.array(logEntrySchema).min(1).max(limits.logEntriesPerCall),
  })
  .meta({
    id: 'RunnerLogRequest',
    example: {
      sequence: 1,
      entries: [
        {
          at: runnerExampleValues.writtenAt,
          level: 'warning',
          message: 'Lap 3 has no sector times.',
          fields: { lap: 3 },
        },
      ],
    },
  });

const logReplySchema = z
  .object({
    nextSequence: z.int().meta({ description: 'The least that the next call may send.' }),
    truncated: z
      .boolean()
      .meta({ description: 'The attempt has logged more than 16 MB: what goes beyond is only counted.' }),
  })
  .meta({ id: 'RunnerLogReply', example: { nextSequence: 2, truncated: false } });

const writeLog = defineRoute({
  ...taskRoute,
  id: 'writeTaskLog',
  method: 'POST',
  path: '/api/v2/runner/tasks/{taskId}/logs',
  traced: false,
  yields: true,
  summary: 'Adds lines to the log of the attempt',
  description:
    `Up to ${limits.logEntriesPerCall} entries and 256 KB a call. Collect lines for about a second and send them together. ` +
    'A call whose `sequence` is not above the last one of the task is answered 200 and changes nothing, so a call can be ' +
    'repeated safely. The lines are stored when the call is answered. Like every call for a task it renews the lease, here ' +
    'at most once a second. While the platform is busy, calls of other routes go first.',
  body: logRequestSchema,
  responses: { 200: { description: 'Stored.', schema: logReplySchema } },
  errors: ['bodyTooLarge', 'unavailable'],
  async handler(context) {
    const { body, services } = context;
    const entries = body.entries.map(({ fields, ...entry }) => ({ ...entry, fields: fields ?? null }));
    const bytes = entries.reduce((sum, entry) => sum + loggedBytes(entry), 0);
    if (bytes > limits.logCallBytes) throw bodyTooLarge(limits.logCallBytes);
    const call = { ...callerOf(context), sequence: body.sequence, entries, bytes };
    const reply = await services.runners.logs.write(call);
    if (reply === undefined) throw new Problem('taskNotFound');
    return { status: 200, body: reply };
  },
});

export const logRoutes = [writeLog];
