import { defineEntity, p } from '@mikro-orm/core';
import type { WebhookEvent } from '../../domain/webhooks/webhook.ts';
import { times } from './times.ts';

/** An address that the platform notifies of facts. */
const WebhookSchema = defineEntity({
  name: 'Webhook',
  tableName: 'webhook',
  properties: {
    id: p.uuid().primary(),
    url: p.text(),
    events: p.array().columnType('text[]').$type<WebhookEvent[]>(),
    /** Null: of every project. */
    projectId: p.bigint('number').strictNullable(),
    enabled: p.boolean(),
    /** Texts of `SecretBox`. */
    secret: p.text(),
    previousSecret: p.text().strictNullable(),
    previousUntil: p.datetime().strictNullable(),
    /** Why the platform disabled it. */
    disabledReason: p.text().strictNullable(),
    createdBy: p.uuid(),
    ...times,
  },
});
export class Webhook extends WebhookSchema.class {}
WebhookSchema.setClass(Webhook);
