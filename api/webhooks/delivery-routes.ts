/** Deliveries of webhooks: what was sent, with each attempt; test events and redelivery (additions, section 3). */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import {
  type DeliveryRow,
  listDeliveries,
  type QueueRefusal,
  queueTestDelivery,
  redeliver,
} from '../../store/webhooks/deliveries.ts';
import { findWebhook } from '../../store/webhooks/webhooks.ts';
import { defineRoute } from '../route.ts';
import {
  deliveryListSchema,
  deliveryParams,
  deliveryQuerySchema,
  deliverySchema,
  presentDelivery,
  webhookParams,
} from './schema.ts';

const tags = ['Webhooks'] as const;
const path = '/api/v2/admin/webhooks/{id}';

const list = defineRoute({
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: `${path}/deliveries`,
  summary: 'Lists the deliveries of a webhook, newest first, with their attempts',
  description: 'A delivery stays in the list for seven days after its end.',
  tags,
  access: access.admin,
  params: webhookParams,
  query: deliveryQuerySchema,
  responses: { 200: { description: 'One page.', schema: deliveryListSchema } },
  errors: ['webhookNotFound'],
  refusals: { params: 'webhookNotFound' },
  async handler({ services: { database }, params: { id }, query: { limit, ...filter } }) {
    if ((await findWebhook(database, id)) === undefined) throw new Problem('webhookNotFound');
    const rows = await listDeliveries(database, id, { ...filter, limit: limit + 1 });
    const page = rows.slice(0, limit);
    return {
      status: 200,
      body: {
        deliveries: page.map(presentDelivery),
        next: rows.length > limit ? page.at(-1)!.position : null,
      },
    };
  },
});

const sendTest = defineRoute({
  id: 'testWebhook',
  method: 'POST',
  path: `${path}/test`,
  summary: 'Sends a test event to a webhook',
  description: 'Its type is `webhook.test`. The list of deliveries shows what came of it.',
  tags,
  access: access.admin,
  audit: { object: 'webhook', from: 'id' },
  idempotent: 'plain',
  params: webhookParams,
  responses: { 202: { description: 'The queued delivery.', schema: deliverySchema } },
  errors: ['webhookNotFound', 'webhookDisabled'],
  refusals: { params: 'webhookNotFound' },
  async handler({ services, params }) {
    const delivery = queued(await queueTestDelivery(services.database, params.id));
    return { status: 202, body: presentDelivery(delivery) };
  },
});

const again = defineRoute({
  id: 'redeliverWebhook',
  method: 'POST',
  path: `${path}/deliveries/{deliveryId}/redeliver`,
  summary: 'Sends a delivery again',
  description:
    'At once, with the same `webhook-id`, and out of the order of its session. A pending one gets its next attempt at once.',
  tags,
  access: access.admin,
  audit: { object: 'webhook', from: 'id' },
  idempotent: 'plain',
  params: deliveryParams,
  responses: { 202: { description: 'The queued delivery.', schema: deliverySchema } },
  errors: ['webhookNotFound', 'webhookDeliveryNotFound', 'webhookDisabled'],
  refusals: { params: 'webhookDeliveryNotFound' },
  async handler({ services, params: { id, deliveryId } }) {
    const delivery = queued(await redeliver(services.database, id, deliveryId));
    return { status: 202, body: presentDelivery(delivery) };
  },
});

const refusals = {
  'webhook-missing': 'webhookNotFound',
  'webhook-disabled': 'webhookDisabled',
  'delivery-missing': 'webhookDeliveryNotFound',
} as const;

function queued(result: DeliveryRow | QueueRefusal): DeliveryRow {
  if (typeof result === 'string') throw new Problem(refusals[result]);
  return result;
}

export const deliveryRoutes = [list, sendTest, again];
