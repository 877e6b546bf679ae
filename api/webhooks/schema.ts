/** Wire forms of webhooks (additions, section 3). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import { isWebhookUrl, webhookEvents } from '../../domain/webhooks/webhook.ts';
import { bodyId, idParameter, integerParameter, timestampOut, uuid } from '../../http/schemas.ts';
import type { Webhook } from '../../store/entities/webhook.ts';
import type { DeliveryRow } from '../../store/webhooks/deliveries.ts';

const exampleId = '0197f3aa-7b1e-7c55-9d0e-5a6f1f2b3c4d';
const exampleDelivery = '5f0d8a4e-3b0e-4d59-8f57-0f4b7f3a1c2d';

export const webhookParams = z.object({
  id: uuid().meta({ description: 'The webhook.', example: exampleId }),
});
export const deliveryParams = webhookParams.extend({
  deliveryId: uuid().meta({ description: 'The delivery.', example: exampleDelivery }),
});

/** Named: generators for Java cannot write a set of values that have no name. */
const webhookEvent = z
  .enum(webhookEvents, { error: `An event is one of ${webhookEvents.join(', ')}.` })
  .meta({ id: 'WebhookEvent' });

const fields = {
  url: z
    .string({ error: 'url must be an http or https address.' })
    .max(limits.webhookUrlCharacters, {
      error: `url holds at most ${limits.webhookUrlCharacters} characters.`,
    })
    .refine(isWebhookUrl, {
      error: 'url must be an http or https address without user, password and fragment.',
    })
    .meta({ type: 'string', format: 'uri', description: 'Where events are sent, by POST.' }),
  events: z
    .array(webhookEvent, { error: 'events must be a list.' })
    .min(1, { error: 'events must name at least one event.' })
    .max(webhookEvents.length, { error: 'events must name each event once.' })
    .refine((events) => new Set(events).size === events.length, {
      error: 'events must name each event once.',
    })
    .meta({ description: 'The events that are sent.', uniqueItems: true }),
  projectId: bodyId('projectId must be an id or null.')
    .nullable()
    .meta({ description: 'Only events of this project; null: of every project, and of runners.' }),
  enabled: z
    .boolean({ error: 'enabled must be true or false.' })
    .meta({ description: 'False: nothing is recorded and nothing is sent. What is pending waits.' }),
};

const requestExample = {
  url: 'https://hooks.example.org/platform',
  events: ['session.settled', 'node.failed'],
  projectId: exampleValues.projectId,
  enabled: true,
} as const;

export const newWebhookSchema = z
  .object({
    ...fields,
    projectId: fields.projectId.default(null),
    enabled: fields.enabled.default(true),
  })
  .meta({ id: 'WebhookRequest', example: { ...requestExample, events: [...requestExample.events] } });

export const webhookChangeSchema = z
  .object({
    url: fields.url.optional(),
    events: fields.events.optional(),
    projectId: fields.projectId.optional(),
    enabled: fields.enabled.optional(),
  })
  .meta({ id: 'WebhookChangeRequest', example: { enabled: false } });

const webhookExample = {
  ...requestExample,
  id: exampleId,
  events: [...requestExample.events],
  disabledReason: null,
  previousSecretUntil: null,
  createdBy: '5d0c5c3e-4f6a-4b0e-9a52-0f2f7d2f7a11',
  createdAt: '2026-11-20T09:30:00.000Z',
  updatedAt: '2026-11-20T09:30:00.000Z',
};
const secretExample = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const webhookSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(webhookEvent),
    projectId: z.int().nullable(),
    enabled: z.boolean(),
    disabledReason: z
      .string()
      .nullable()
      .meta({ description: 'Why the platform disabled it: its receiver answered 410.' }),
    previousSecretUntil: timestampOut()
      .nullable()
      .meta({ description: 'Until then deliveries are signed with the secret before, too.' }),
    createdBy: z.string().meta({ description: 'Id of the account.' }),
    createdAt: timestampOut(),
    updatedAt: timestampOut(),
  })
  .meta({ id: 'Webhook', example: webhookExample });

export const webhookWithSecretSchema = webhookSchema
  .extend({ secret: z.string().meta({ description: 'Shown only now. `whsec_` and base64.' }) })
  .meta({ id: 'WebhookWithSecret', example: { ...webhookExample, secret: secretExample } });

export const rotatedSecretSchema = z
  .object({
    secret: z.string().meta({ description: 'Shown only now. `whsec_` and base64.' }),
    previousSecretUntil: timestampOut().nullable().meta({
      description:
        'Null where the secret before was stored under another `SECRETS_KEY`: it signs nothing any more.',
    }),
  })
  .meta({
    id: 'WebhookSecret',
    example: { secret: secretExample, previousSecretUntil: '2026-11-21T09:30:00.000Z' },
  });

const states = ['pending', 'delivered', 'failed'] as const;

export const deliveryQuerySchema = z.object({
  state: z
    .enum(states, { error: 'state must be pending, delivered or failed.' })
    .optional()
    .meta({ description: 'Only deliveries in this state.' }),
  before: idParameter().optional().meta({ description: '`next` of the page before.', example: 120 }),
  limit: integerParameter({ min: 1, max: limits.webhookPageMax, initial: limits.webhookPageDefault }).meta({
    description: 'Deliveries of a page.',
  }),
});

export const deliverySchema = z
  .object({
    id: z.string().meta({ description: 'The `webhook-id` of each attempt.' }),
    type: z.string().meta({ description: 'The event; `webhook.test` for a test.' }),
    data: z.record(z.string(), z.unknown()),
    sessionId: z.string().nullable(),
    state: z.enum(states),
    nextAttemptAt: timestampOut()
      .nullable()
      .meta({ description: 'Null when it has ended, or waits for an earlier delivery of its session.' }),
    attemptCount: z.int(),
    attempts: z
      .array(
        z.object({
          at: timestampOut(),
          durationMs: z.int(),
          status: z.int().nullable().meta({ description: 'Null when the receiver did not answer.' }),
          error: z.string().nullable().meta({ description: 'Null when the delivery arrived.' }),
          response: z.string().nullable().meta({ description: 'The beginning of the answer.' }),
        }),
      )
      .meta({ description: `The newest ${limits.webhookAttemptsListed}, oldest first.` }),
    createdAt: timestampOut(),
    endedAt: timestampOut().nullable(),
  })
  .meta({
    id: 'WebhookDelivery',
    example: {
      id: exampleDelivery,
      type: 'session.settled',
      data: {
        sessionId: exampleValues.sessionId,
        sessionName: 'Stint 2',
        projectId: exampleValues.projectId,
        state: 'done',
      },
      sessionId: exampleValues.sessionId,
      state: 'delivered',
      nextAttemptAt: null,
      attemptCount: 1,
      attempts: [
        { at: '2026-11-20T09:31:00.000Z', durationMs: 41, status: 200, error: null, response: 'ok' },
      ],
      createdAt: '2026-11-20T09:31:00.000Z',
      endedAt: '2026-11-20T09:31:00.041Z',
    },
  });

export const deliveryListSchema = z
  .object({
    deliveries: z.array(deliverySchema),
    next: z.int().nullable().meta({ description: '`before` of the next page; null on the last one.' }),
  })
  .meta({ id: 'WebhookDeliveryList' });

export function presentWebhook(row: Webhook): z.input<typeof webhookSchema> {
  const isOverlapping = row.previousUntil !== null && row.previousUntil > new Date();
  return {
    id: row.id,
    url: row.url,
    events: [...row.events],
    projectId: row.projectId,
    enabled: row.enabled,
    disabledReason: row.disabledReason,
    previousSecretUntil: isOverlapping ? formatTimestamp(row.previousUntil!) : null,
    createdBy: row.createdBy,
    createdAt: formatTimestamp(row.createdAt),
    updatedAt: formatTimestamp(row.updatedAt),
  };
}

export function presentDelivery(row: DeliveryRow): z.input<typeof deliverySchema> {
  return {
    id: row.id,
    type: row.type,
    data: row.data as Record<string, unknown>,
    sessionId: row.sessionId,
    state: row.state,
    nextAttemptAt: formatTimestampOrNull(row.dueAt),
    attemptCount: row.attempts,
    attempts: row.attemptLog.map((attempt) => ({ ...attempt })),
    createdAt: formatTimestamp(row.createdAt),
    endedAt: formatTimestampOrNull(row.endedAt),
  };
}
