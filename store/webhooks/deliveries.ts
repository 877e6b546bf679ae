/**
 * The outbox of webhooks. Triggers write deliveries (migration 0036); the webhook's workflow sends them.
 *
 * Of a session's pending deliveries of one webhook, the first alone has a `due_at`: the end of each makes the next one due.
 */
import { limits } from '../../domain/limits.ts';
import { type WebhookAttempt, webhookTestEvent } from '../../domain/webhooks/webhook.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import type { Webhook } from '../entities/webhook.ts';

/** The channel on which a new delivery is announced; the payload is the id of its webhook. */
export const webhookDueChannel = 'webhook_due';

export interface DueDelivery {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly createdAt: Date;
  /** When this attempt began, by the clock of the database. */
  readonly attemptedAt: Date;
  /** The attempts so far, this one included. */
  readonly attempts: number;
  /** Whether a failed attempt is the last one. */
  readonly isLast: boolean;
}

/**
 * Acquires the delivery that is due longest. Its lease is `due_at`: when the process dies, it is due again after that.
 * @returns undefined when none is due, and for a webhook that is disabled or gone
 */
export async function acquireDelivery(
  database: Queryable,
  webhookId: string,
): Promise<DueDelivery | undefined> {
  const [row] = await database.query<DueDelivery>(
    `update webhook_delivery d
        set due_at = clock_timestamp() + make_interval(secs => $2), attempts = attempts + 1,
            sent_until = clock_timestamp() + make_interval(secs => $2)
       from (select d.id from webhook_delivery d join webhook w on w.id = d.webhook_id
              where d.webhook_id = $1 and w.enabled and d.state = 'pending' and d.due_at <= clock_timestamp()
              order by d.due_at limit 1 for update of d skip locked) due
      where d.id = due.id
     returning d.id, d.type, d.data, d.created_at, clock_timestamp() as attempted_at, d.attempts,
               d.expires_at <= clock_timestamp() as is_last`,
    [webhookId, limits.webhookLeaseSeconds],
  );
  return row;
}

/**
 * Records an attempt, unless the delivery was acquired again meanwhile.
 * @param retrySeconds until the next attempt; null ends the delivery
 */
export async function recordAttempt(
  database: Database,
  delivery: DueDelivery,
  attempt: WebhookAttempt,
  retrySeconds: number | null,
): Promise<void> {
  await database.transaction(async (tx) => {
    const [ended] = await tx.query<{ webhookId: string; sessionId: string | null; isEnded: boolean }>(
      `update webhook_delivery
          set state = case when $4::float8 is not null then 'pending' when $3::jsonb ->> 'error' is null then 'delivered' else 'failed' end,
              due_at = clock_timestamp() + make_interval(secs => $4::float8), sent_until = null,
              ended_at = case when $4::float8 is null then clock_timestamp() end,
              attempt_log = (select coalesce(jsonb_agg(e.value order by e.ordinality), '[]')
                               from jsonb_array_elements(attempt_log || $3::jsonb) with ordinality e
                              where e.ordinality > jsonb_array_length(attempt_log) + 1 - ${limits.webhookAttemptsListed})
        where id = $1 and attempts = $2 and state = 'pending'
       returning webhook_id, session_id, state <> 'pending' as is_ended`,
      [delivery.id, delivery.attempts, JSON.stringify(attempt), retrySeconds],
    );
    if (ended?.isEnded !== true || ended.sessionId === null) return;
    await tx.query(
      `update webhook_delivery set due_at = clock_timestamp()
        where id = (select d.id from webhook_delivery d
                     where d.webhook_id = $1 and d.session_id = $2 and d.state = 'pending'
                     order by d.position limit 1) and due_at is null`,
      [ended.webhookId, ended.sessionId],
    );
  });
}

/** Seconds until the next pending delivery is due; null when none is pending, or the webhook is disabled or gone. */
export async function secondsUntilDue(database: Queryable, webhookId: string): Promise<number | null> {
  const [row] = await database.query<{ seconds: number | null }>(
    `select (select greatest(extract(epoch from d.due_at - clock_timestamp())::float8, 0)
               from webhook_delivery d
              where d.webhook_id = w.id and d.state = 'pending' and d.due_at is not null
              order by d.due_at limit 1) as seconds
       from webhook w where w.id = $1 and w.enabled`,
    [webhookId],
  );
  return row?.seconds ?? null;
}

/** Webhooks with deliveries that were due a while ago, for the healer: each once in `againSeconds`. */
export async function acquireForgottenWebhooks(
  database: Queryable,
  waits: { readonly dueSeconds: number; readonly againSeconds: number },
  limit: number,
): Promise<Array<{ webhookId: string; lateForSeconds: number }>> {
  return database.query(
    `with late as (
       select w.id, due.due_at from webhook w cross join lateral (
         select d.due_at from webhook_delivery d
          where d.webhook_id = w.id and d.state = 'pending' and d.due_at is not null order by d.due_at limit 1) due
        where w.enabled and due.due_at < clock_timestamp() - make_interval(secs => $1)
          and w.healed_at < clock_timestamp() - make_interval(secs => $2)
        limit $3 for no key update of w skip locked)
     update webhook w set healed_at = clock_timestamp() from late where w.id = late.id
     returning w.id as webhook_id, extract(epoch from clock_timestamp() - late.due_at)::float8 as late_for_seconds`,
    [waits.dueSeconds, waits.againSeconds, limit],
  );
}

/**
 * The receiver answered 410: it wants no more. What is pending stays, for the case that it is enabled again. A webhook that
 * got another address meanwhile stays enabled.
 */
export async function disableWebhook(
  database: Queryable,
  { id, url }: Pick<Webhook, 'id' | 'url'>,
  reason: string,
): Promise<void> {
  await database.query(
    `update webhook set enabled = false, disabled_reason = $3, updated_at = clock_timestamp()
      where id = $1 and url = $2 and enabled`,
    [id, url, reason],
  );
}

export type QueueRefusal = 'webhook-missing' | 'webhook-disabled' | 'delivery-missing';

/** Queues the test event. */
export async function queueTestDelivery(
  database: Database,
  webhookId: string,
): Promise<DeliveryRow | QueueRefusal> {
  return queueOnce(database, webhookId, async (tx) => {
    const [row] = await tx.query<DeliveryRow>(
      `with made as (
         insert into webhook_delivery as d (webhook_id, type, data, due_at)
         values ($1, $2, '{}', clock_timestamp()) returning ${columns}, d.webhook_id)
       select made.*, pg_notify('${webhookDueChannel}', made.webhook_id::text) from made`,
      [webhookId, webhookTestEvent],
    );
    return row;
  });
}

/** Queues a delivery of a webhook that is enabled; under an idempotency key once. */
async function queueOnce(
  database: Database,
  webhookId: string,
  queue: (tx: Tx) => Promise<DeliveryRow | undefined>,
): Promise<DeliveryRow | QueueRefusal> {
  const work = async (tx: Tx): Promise<DeliveryRow | QueueRefusal> => {
    const [webhook] = await tx.query<{ enabled: boolean }>(
      'select enabled from webhook where id = $1 for key share',
      [webhookId],
    );
    if (webhook === undefined) return 'webhook-missing';
    if (!webhook.enabled) return 'webhook-disabled';
    return (await queue(tx)) ?? 'delivery-missing';
  };
  return database.transaction(oncePerKey(work, (result) => typeof result === 'object'));
}

export interface DeliveryRow {
  readonly id: string;
  readonly position: number;
  readonly type: string;
  readonly data: unknown;
  readonly sessionId: string | null;
  readonly state: 'pending' | 'delivered' | 'failed';
  /** Null while it waits for an earlier delivery of its session, and when it has ended. */
  readonly dueAt: Date | null;
  readonly endedAt: Date | null;
  readonly attempts: number;
  readonly attemptLog: readonly WebhookAttempt[];
  readonly createdAt: Date;
}

/** In SQL. The table's default of `expires_at` is the same. */
export const deliveryLifetime = "interval '3 days'";

/** A delivery that is sent out of order has left its session's order, and still names the session. */
const columns = `d.id, d.position, d.type, d.data, coalesce(d.session_id::text, d.data ->> 'sessionId') as session_id,
  d.state, case when d.state = 'pending' then d.due_at end as due_at, d.ended_at, d.attempts, d.attempt_log, d.created_at`;

/** The newest deliveries of a webhook first. */
export async function listDeliveries(
  database: Queryable,
  webhookId: string,
  { state, before, limit }: { state?: string | undefined; before?: number | undefined; limit: number },
): Promise<DeliveryRow[]> {
  return database.query(
    `select ${columns} from webhook_delivery d
      where d.webhook_id = $1 and ($2::text is null or d.state = $2) and ($3::bigint is null or d.position < $3)
      order by d.position desc limit $4`,
    [webhookId, state ?? null, before ?? null, limit],
  );
}

/**
 * Sends a delivery again, at once and out of order; one that is pending gets its next attempt at once, in its order, and
 * one that is being sent is sent once.
 */
export async function redeliver(
  database: Database,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRow | QueueRefusal> {
  return queueOnce(database, webhookId, async (tx) => {
    const [row] = await tx.query<DeliveryRow>(
      `with again as (
         update webhook_delivery d
            set session_id = case when d.state = 'pending' then d.session_id end,
                due_at = case when d.state = 'pending' and (d.due_at is null or d.sent_until > clock_timestamp())
                              then d.due_at else clock_timestamp() end,
                state = 'pending', ended_at = null, expires_at = clock_timestamp() + ${deliveryLifetime}
          where d.webhook_id = $1 and d.id = $2 returning ${columns}, d.webhook_id)
       select again.*, pg_notify('${webhookDueChannel}', again.webhook_id::text) from again`,
      [webhookId, deliveryId],
    );
    return row;
  });
}

/** Removes deliveries that ended long ago. */
export async function sweepDeliveries(database: Queryable): Promise<number> {
  const gone = await database.query(
    `delete from webhook_delivery d using (
       select id from webhook_delivery
        where ended_at < statement_timestamp() - make_interval(days => $1) order by ended_at limit 5000) old
      where d.id = old.id returning 1`,
    [limits.webhookDeliveryKeptDays],
  );
  return gone.length;
}
