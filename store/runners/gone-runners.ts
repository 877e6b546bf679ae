/** Runners that are gone, as webhooks report them. */
import { limits } from '../../domain/limits.ts';
import type { Queryable } from '../connection/database.ts';
import { builtinHolder } from './holder.ts';
import { isOpen } from './lease.ts';

/**
 * Writes `runner.gone` once for each silence or sign-off of a runner: not of those that went before a webhook for it
 * was made.
 */
export async function reportGoneRunners(database: Queryable): Promise<void> {
  await database.query(
    `with gone as (
       select i.id, i.last_seen_at from runner_instance i
        where i.holder <> '${builtinHolder}' and i.gone_reported_for is distinct from i.last_seen_at
          and (i.signed_off_at is not null
               or i.last_seen_at < clock_timestamp() - make_interval(secs => $1)
                  and not exists (select from node_claim c where c.holder = i.holder and c.instance_id = i.instance_id and ${isOpen}))
          and exists (select from webhook w where w.enabled and 'runner.gone' = any (w.events)
                       and w.created_at < coalesce(i.signed_off_at, i.last_seen_at + make_interval(secs => $1)))
        limit 500 for no key update skip locked
     ), reported as (
       update runner_instance i set gone_reported_for = gone.last_seen_at from gone where i.id = gone.id returning i.*
     )
     select webhook_emit('runner.gone', null, null, jsonb_build_object('runnerId', r.id, 'instanceId', r.instance_id,
       'version', r.version, 'lastSeenAt', to_char(r.last_seen_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
       from reported r`,
    [limits.runnerGoneSeconds],
  );
}
