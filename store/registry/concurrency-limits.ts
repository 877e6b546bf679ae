/** How many tasks are held at once: limits that manifests declare, and those that operators set instead. */

import type { Concurrency, ConcurrencyKind } from '../../domain/runners/concurrency.ts';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { heldUnderLimit } from '../runs/concurrency.ts';
import { notifyTemplates } from '../runs/queue.ts';

export interface ConcurrencyLimit extends Concurrency {
  readonly kind: ConcurrencyKind;
  readonly name: string;
  readonly declared: Concurrency | null;
  readonly chosen: Concurrency | null;
  /** Tasks that are held now. */
  readonly held: number;
  /** Null: the manifest. */
  readonly changedBy: string | null;
  readonly changedAt: Date;
}

const columns = `
  l.kind, l.name, l.max, l.per_project, l.per_session, l.declared, l.chosen, l.changed_by, l.changed_at,
  (select count(*) from (select l.kind, l.name) l ${heldUnderLimit}) as held`;

/** All limits, by name. */
export async function listConcurrencyLimits(database: Queryable): Promise<ConcurrencyLimit[]> {
  return database.query<ConcurrencyLimit>(
    `select ${columns} from concurrency_limit l order by l.name, l.kind limit 10000`,
  );
}

export type ConcurrencyChange =
  | { readonly outcome: 'changed'; readonly limit: ConcurrencyLimit }
  /** No node template or runner type has the name; both have it; the platform's own workers run it. */
  | { readonly outcome: 'missing' | 'ambiguous' | 'built-in' };

/**
 * Puts an operator's limit in the place of the manifest's, or takes it away.
 * @param chosen null: what the manifest says, from now on
 */
export async function changeConcurrencyLimit(
  database: Database,
  of: { readonly name: string; readonly kind: ConcurrencyKind | undefined },
  chosen: Concurrency | null,
  changedBy: string,
): Promise<ConcurrencyChange> {
  const change = await database.transaction(async (tx) => {
    const found = await tx.query<{ kind: ConcurrencyKind; isBuiltin: boolean }>(
      `select 'nodeTemplate' as kind, y.runtime = 'system' or t.type = 'Input' as is_builtin
         from node_template t join runner_type y on y.name = t.runner_type where t.name = $1
       union all
       select 'runnerType', runtime = 'system' from runner_type where name = $1`,
      [of.name],
    );
    const [one, another] = found.filter(({ kind }) => of.kind === undefined || kind === of.kind);
    if (one === undefined) return { outcome: 'missing' } as const;
    if (another !== undefined) return { outcome: 'ambiguous' } as const;
    if (one.isBuiltin) return { outcome: 'built-in' } as const;
    noteAudited(of.name);
    await excludeClaims(tx);
    await tx.query(
      `insert into concurrency_limit (kind, name, chosen, changed_by) values ($1, $2, $3::jsonb, $4)
       on conflict (kind, name) do update
          set chosen = excluded.chosen, changed_by = excluded.changed_by, changed_at = clock_timestamp()`,
      [one.kind, of.name, jsonOrNull(chosen), changedBy],
    );
    // Before the commit: after it another call may remove the limit.
    const [limit] = await tx.query<ConcurrencyLimit>(
      `select ${columns} from concurrency_limit l where l.kind = $1 and l.name = $2`,
      [one.kind, of.name],
    );
    return { outcome: 'changed', limit: limit! } as const;
  });
  if (change.outcome === 'changed') await settleLimits(database, [of.name]);
  return change;
}

/**
 * What a manifest says of the names that it lists, as the last statements of a transaction.
 * @returns the names whose limit has changed, for {@link settleLimits}
 */
export async function declareConcurrencyLimits(
  tx: Tx,
  kind: ConcurrencyKind,
  items: ReadonlyArray<{ readonly name: string; readonly concurrency?: Concurrency | undefined }>,
): Promise<string[]> {
  const names = items.map(({ name }) => name);
  const declared = items.map(({ concurrency }) => jsonOrNull(concurrency));
  const changed = await tx.query<{ name: string }>(
    `select w.name from unnest($2::text[], $3::jsonb[]) as w (name, declared)
       left join concurrency_limit l on l.kind = $1 and l.name = w.name
      where w.declared is distinct from l.declared`,
    [kind, names, declared],
  );
  if (changed.length === 0) return [];
  await excludeClaims(tx);
  await tx.query(
    `insert into concurrency_limit (kind, name, declared)
     select $1, w.name, w.declared from unnest($2::text[], $3::jsonb[]) as w (name, declared)
      where w.name = any ($4::text[])
     on conflict (kind, name) do update set declared = excluded.declared, changed_at = clock_timestamp()`,
    [kind, names, declared, changed.map(({ name }) => name)],
  );
  return changed.map(({ name }) => name);
}

/**
 * Waits until no claim is under way that does not know of the limits, briefly: claims behind this lock wait as well.
 * When it does not get the lock in that time the transaction is tried again.
 */
async function excludeClaims(tx: Tx): Promise<void> {
  await tx.query('set local lock_timeout = 300');
  await tx.query('lock table concurrency_limit in access exclusive mode');
  await tx.query('set local lock_timeout = 2000');
}

/**
 * After the commit of a change: held runs notify when they end, waiting claims try again, and limits without a number are
 * removed. Waiting claims try again each second in any case.
 */
export async function settleLimits(database: Database, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await database.query(
    `update node_run r set limited = true
       from template_limit l
      where l.name = any ($1::text[]) and r.state = 'held' and not r.limited
        and r.template_name = l.template_name`,
    [names],
  );
  await database.query(notifyTemplates('t.name = any ($1::text[]) or t.runner_type = any ($1::text[])'), [
    names,
  ]);
  await database.query(
    'delete from concurrency_limit where name = any ($1::text[]) and declared is null and chosen is null',
    [names],
  );
}
