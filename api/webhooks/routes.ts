/** Webhooks: facts that are pushed to addresses of the operator's choice (additions, section 3). */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { webhookSecretPrefix } from '../../domain/webhooks/webhook.ts';
import {
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookWrite,
} from '../../store/webhooks/webhooks.ts';
import { webhookTarget } from '../../workflows/targets.ts';
import { defineRoute } from '../route.ts';
import { deliveryRoutes } from './delivery-routes.ts';
import {
  newWebhookSchema,
  presentWebhook,
  rotatedSecretSchema,
  webhookChangeSchema,
  webhookParams,
  webhookSchema,
  webhookWithSecretSchema,
} from './schema.ts';

const tags = ['Webhooks'] as const;
const path = '/api/v2/admin/webhooks';
const params = webhookParams;

const list = defineRoute({
  id: 'listWebhooks',
  method: 'GET',
  path,
  summary: 'Lists all webhooks, without their secrets',
  description: 'Oldest first.',
  tags,
  access: access.admin,
  responses: { 200: { description: 'The webhooks.', schema: z.array(webhookSchema) } },
  async handler({ services }) {
    return { status: 200, body: (await listWebhooks(services.database)).map(presentWebhook) };
  },
});

const one = defineRoute({
  id: 'getWebhook',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Returns a webhook',
  description: 'Without its secret, which is shown only when it is made.',
  tags,
  access: access.admin,
  params,
  responses: { 200: { description: 'The webhook.', schema: webhookSchema } },
  errors: ['webhookNotFound'],
  refusals: { params: 'webhookNotFound' },
  async handler({ services, params }) {
    const webhook = await findWebhook(services.database, params.id);
    if (webhook === undefined) throw new Problem('webhookNotFound');
    return { status: 200, body: presentWebhook(webhook) };
  },
});

const create = defineRoute({
  id: 'createWebhook',
  method: 'POST',
  path,
  summary: 'Creates a webhook; its secret is shown once',
  description:
    'Events are sent by POST as Standard Webhooks says: `{type, timestamp, data}`, signed in `webhook-signature`. Each is ' +
    'sent at least once, those of a session in order, and again for three days until a status from 200 to 299 answers ' +
    `within ${limits.webhookAttemptSeconds} seconds. 410 disables the webhook. Redirects are not followed. An address ` +
    'inside the network of the platform is refused when it is connected to, unless `WEBHOOK_ALLOWLIST` names it.',
  tags,
  access: access.admin,
  audit: { object: 'webhook' },
  idempotent: 'secret',
  body: newWebhookSchema,
  responses: { 201: { description: 'The webhook, with its secret.', schema: webhookWithSecretSchema } },
  errors: ['tooManyWebhooks'],
  async handler({ services, body, principal }) {
    const secret = newSecret();
    const { database, objects } = services;
    const write = await createWebhook(database, objects.secrets, body, secret, principal.userId);
    return {
      status: 201,
      body: { ...presentWebhook(saved(write)), secret },
      headers: { 'cache-control': 'no-store' },
    };
  },
});

const update = defineRoute({
  id: 'updateWebhook',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Updates a webhook',
  description: 'An absent field does not change. What is pending is sent to the new address.',
  tags,
  access: access.admin,
  audit: { object: 'webhook', from: 'id' },
  params,
  body: webhookChangeSchema,
  responses: { 200: { description: 'The webhook.', schema: webhookSchema } },
  errors: ['webhookNotFound'],
  refusals: { params: 'webhookNotFound' },
  async handler({ services, params, body }) {
    const webhook = saved(await updateWebhook(services.database, params.id, body));
    if (webhook.enabled) services.workflows.notify(webhookTarget(webhook.id));
    return { status: 200, body: presentWebhook(webhook) };
  },
});

const remove = defineRoute({
  id: 'deleteWebhook',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Deletes a webhook and its deliveries',
  description: 'What is pending is not sent.',
  tags,
  access: access.admin,
  audit: { object: 'webhook', from: 'id' },
  params,
  responses: { 204: { description: 'Removed.' } },
  errors: ['webhookNotFound'],
  refusals: { params: 'webhookNotFound' },
  async handler({ services, params }) {
    if (!(await deleteWebhook(services.database, params.id))) throw new Problem('webhookNotFound');
    return { status: 204 };
  },
});

const rotate = defineRoute({
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: `${path}/{id}/rotate-secret`,
  summary: 'Replaces the secret of a webhook; the new one is shown once',
  description:
    'For 24 hours deliveries carry a signature by each of both secrets; only by the new one where the old one was stored under ' +
    'another `SECRETS_KEY`.',
  tags,
  access: access.admin,
  audit: { object: 'webhook', from: 'id' },
  idempotent: 'secret',
  params,
  responses: { 200: { description: 'The new secret.', schema: rotatedSecretSchema } },
  errors: ['webhookNotFound'],
  refusals: { params: 'webhookNotFound' },
  async handler({ services, params }) {
    const secret = newSecret();
    const webhook = await rotateWebhookSecret(services.database, services.objects.secrets, params.id, secret);
    if (webhook === undefined) throw new Problem('webhookNotFound');
    const { previousSecretUntil } = presentWebhook(webhook);
    return {
      status: 200,
      body: { secret, previousSecretUntil },
      headers: { 'cache-control': 'no-store' },
    };
  },
});

const newSecret = () => webhookSecretPrefix + randomBytes(24).toString('base64');

function saved(write: WebhookWrite) {
  switch (write.outcome) {
    case 'saved':
      return write.webhook;
    case 'missing':
      throw new Problem('webhookNotFound');
    case 'too-many':
      throw new Problem('tooManyWebhooks');
    case 'project-unknown':
      throw new Problem('invalidRequest', { message: 'projectId: there is no such project.' });
  }
}

export const webhookRoutes = [list, one, create, update, remove, rotate, ...deliveryRoutes];
