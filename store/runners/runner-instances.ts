/** Runner instances: made by their first claim, seen at every call, drained by operators (decisions 9). */
import { limits } from '../../domain/limits.ts';
import type { Queryable } from '../connection/database.ts';
import { builtinHolder, isAccountHolder, type RunnerIdentity, tokenIdOfHolder } from './holder.ts';
import { isOpen } from './lease.ts';

/** Notifications on this channel say that instances were drained or undrained. */
export const runnerChangedChannel = 'runner_changed';

interface HeldTaskView {
  readonly taskId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly claimedAt: Date;
  readonly phase: string | null;
}

/** The columns of the task that a claim `c` of a run `r` of a node `n` holds. */
const taskColumns = {
  taskId: 'c.task_id',
  runId: 'c.run_id',
  attempt: 'c.attempt',
  sessionId: 'r.session_id',
  nodeInstanceId: 'r.node_instance_id',
  nodeName: 'n.name',
  nodeTemplate: 'r.template_name',
  claimedAt: 'c.claimed_at',
  phase: 'c.phase',
} as const satisfies Record<keyof HeldTaskView, string>;
const taskFields = Object.keys(taskColumns) as (keyof HeldTaskView)[];

/**
 * `gone`: it signed off, or was not seen for {@link limits.runnerGoneSeconds}. A waiting claim or a held task keeps its
 * instance from being gone.
 */
export const runnerStates = ['waiting', 'busy', 'drained', 'gone'] as const;
export type RunnerState = (typeof runnerStates)[number];

/** The state of an instance `i` as an SQL expression. @param isBusy an SQL expression: whether it holds a task */
const runnerState = (isBusy: string) => `
  case when i.signed_off_at is not null then 'gone'
       when ${isBusy} then 'busy'
       when i.last_seen_at < clock_timestamp() - make_interval(secs => ${limits.runnerGoneSeconds}) then 'gone'
       when i.drained then 'drained' else 'waiting' end`;

/** Instances: what they ask for, what their token covers, whether their caller may still claim, and their state. */
export const seenInstances = `
  select i.last_seen_at, i.drained, i.templates, k.runner_types, ${isAccountHolder('i.holder')} as is_account, h.is_busy,
         (${isAccountHolder('i.holder')} or k.revoked_at is null and k.expires_at > clock_timestamp()) as may_claim,
         ${runnerState('h.is_busy')} as state
    from runner_instance i left join runner_token k on k.id = ${tokenIdOfHolder('i.holder')}
   cross join lateral (
     select exists (select from node_claim c where c.holder = i.holder and c.instance_id = i.instance_id
                                               and ${isOpen}) as is_busy) h`;

/** The {@link seenInstances} whose caller may still claim. */
export const claimingInstances = `select * from (${seenInstances}) s where s.may_claim`;

/**
 * Whether one of the {@link claimingInstances}, `p`, claims tasks of a node template. Accounts may claim those of all
 * external runner types.
 * @param of SQL expressions
 */
export const claimsTasksOf = (of: Readonly<Record<'template' | 'runnerType' | 'runtime', string>>) => `
  (p.templates is null or ${of.template} = any (p.templates))
    and (${of.runnerType} = any (p.runner_types) or p.is_account and ${of.runtime} = 'external')`;

export interface RunnerInstanceRow {
  readonly id: string;
  /** `token:<id>` or `user:<id>`. */
  readonly holder: string;
  readonly instanceId: string;
  readonly version: string | null;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly drained: boolean;
  readonly state: RunnerState;
  /** Null for accounts, and for tokens that are no longer listed. */
  readonly token: {
    readonly label: string;
    readonly hint: string;
    readonly runnerTypes: readonly string[];
    readonly isDeployed: boolean;
  } | null;
  readonly task: HeldTaskView | null;
}

/** @param instances a `select` of whole rows of `runner_instance` */
const select = (instances: string) => `
  select i.id, i.holder, i.instance_id, i.version, i.first_seen_at,
         i.last_seen_at, i.drained, ${runnerState('c.task_id is not null')} as state,
         case when k.id is not null then json_build_object(
           'label', k.label, 'hint', k.hint, 'runnerTypes', k.runner_types, 'isDeployed', k.created_by is null
         ) end as token,
         ${taskFields.map((field) => `${taskColumns[field]} as "${field}"`).join(', ')}
    from (${instances}) i
    left join runner_token k on k.id = ${tokenIdOfHolder('i.holder')}
    left join node_claim c on c.holder = i.holder and c.instance_id = i.instance_id and ${isOpen}
    left join node_run r on r.id = c.run_id
    left join node_instance n on n.id = r.node_instance_id`;

type FlatRow = Omit<RunnerInstanceRow, 'task'> & {
  readonly [Name in keyof HeldTaskView]: HeldTaskView[Name] | null;
};

function nested(row: FlatRow): RunnerInstanceRow {
  const own: Record<string, unknown> = { ...row };
  const task: Record<string, unknown> = {};
  for (const field of taskFields) {
    task[field] = row[field];
    delete own[field];
  }
  // The columns of a claim are present together.
  return { ...own, task: row.taskId === null ? null : task } as unknown as RunnerInstanceRow;
}

/** Outside instances, those seen last first. */
export async function listRunnerInstances(
  database: Queryable,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ readonly rows: RunnerInstanceRow[]; readonly totalCount: number }> {
  const [rows, [total]] = await Promise.all([
    database.query<FlatRow>(
      `${select(`select * from runner_instance where holder <> '${builtinHolder}'
                  order by last_seen_at desc, id limit $2 offset $1`)}
        order by i.last_seen_at desc, i.id`,
      [page.offset, page.limit],
    ),
    database.query<{ count: number }>(
      `select count(*) as count from runner_instance where holder <> '${builtinHolder}'`,
    ),
  ]);
  return { rows: rows.map(nested), totalCount: total!.count };
}

/** Marks an instance drained, or not; every process is notified. Undefined when there is no such instance. */
export async function setRunnerDrained(
  database: Queryable,
  id: string,
  drained: boolean,
): Promise<RunnerInstanceRow | undefined> {
  const known = await database.query(
    `with changed as (
       update runner_instance set drained = $2 where id = $1 and holder <> '${builtinHolder}' returning 1
     )
     select pg_notify('${runnerChangedChannel}', '') from changed`,
    [id, drained],
  );
  if (known.length === 0) return undefined;
  const [row] = await database.query<FlatRow>(select('select * from runner_instance where id = $1'), [id]);
  return row && nested(row);
}

/**
 * Records that an instance ends: it counts as gone at once, and its waiting claim is answered. Its task stays held
 * until the task or its lease ends. Does nothing for an instance that has never claimed.
 */
export async function signOffRunner(database: Queryable, identity: RunnerIdentity): Promise<void> {
  await database.query(
    `with gone as (
       update runner_instance set signed_off_at = clock_timestamp(), claim_seq = claim_seq + 1
        where holder = $1 and instance_id = $2 returning 1
     )
     select pg_notify('${runnerChangedChannel}', '') from gone`,
    [identity.holder, identity.instanceId],
  );
}

/** A sighting of an instance, with the version that it reported. */
export interface Sighting extends RunnerIdentity {
  readonly version: string | null;
  readonly agoSeconds: number;
}

/** A sighting is not written only to move the time by less than this. */
const worthSeconds = 5;
/** How often the sightings of a process are written. */
export const sightingsEverySeconds = 2;
/** How old an unrecorded sighting may be: one write may still be under way when the next is due. */
export const unrecordedSeconds = worthSeconds + 2 * sightingsEverySeconds;

/**
 * Records when instances were last seen, and their versions, where that is worth a write.
 * @returns the sightings to record again: of instances whose first claim has not committed, and of rows locked by a
 *   claim, which this skips
 */
export async function noteSightings<T extends Sighting>(
  database: Queryable,
  sightings: readonly T[],
): Promise<T[]> {
  const left = await database.query<{ number: number }>(
    `with sighting as materialized (
       select s.number::int, i.id, s.version, s.at,
              i.last_seen_at < s.at - make_interval(secs => ${worthSeconds})
                or s.version is distinct from i.version and s.version is not null as is_news
         from (select holder, instance_id, version, number, clock_timestamp() - make_interval(secs => ago) as at
                 from unnest($1::text[], $2::text[], $3::text[], $4::float8[]) with ordinality
                   as s (holder, instance_id, version, ago, number)) s
         left join runner_instance i on i.holder = s.holder and i.instance_id = s.instance_id
     ),
     free as materialized (
       select i.id from runner_instance i
        where i.id in (select id from sighting where is_news)
          for update skip locked
     ),
     noted as (
       update runner_instance i
          set last_seen_at = greatest(i.last_seen_at, s.at), version = coalesce(s.version, i.version)
         from sighting s join free on free.id = s.id where i.id = s.id
     )
     select number from sighting s
      where s.id is null or s.is_news and not exists (select from free where free.id = s.id)`,
    [
      sightings.map((sighting) => sighting.holder),
      sightings.map((sighting) => sighting.instanceId),
      sightings.map((sighting) => sighting.version),
      sightings.map((sighting) => sighting.agoSeconds),
    ],
  );
  return left.map(({ number }) => sightings[number - 1]!);
}

/**
 * Removes instances that hold nothing and were not seen for long; drained ones stay longer, so that none comes back
 * undrained after a longer pause.
 * @returns how many
 */
export async function sweepRunnerInstances(database: Queryable): Promise<number> {
  const rows = await database.query(
    `delete from runner_instance i
      where i.last_seen_at < clock_timestamp()
              - make_interval(days => case when i.drained then ${limits.runnerDrainedKeptDays}
                                           else ${limits.runnerInstanceKeptDays} end)
        and not exists (select from node_claim c
                         where c.holder = i.holder and c.instance_id = i.instance_id and ${isOpen})
      returning 1`,
  );
  return rows.length;
}
