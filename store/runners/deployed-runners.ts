/**
 * Deployed runners (decisions 10): which processes are wanted, which host holds which of them, and the tokens of their
 * calls. Of several hosts one holds a process; when it falls silent another acquires the process, and the token of the
 * first host's process is revoked in the same transaction.
 */
import type {
  DeployableRunner,
  DeployedState,
  HeldProcess,
  ProcessKey,
  ProcessStanding,
} from '../../domain/runners/runner-host.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { newId } from '../connection/ids.ts';
import { holderOfToken, tokenHolder } from './holder.ts';
import { endLeases, isOpen } from './lease.ts';
import { unrecordedSeconds } from './runner-instances.ts';
import type { NewTokenValue } from './runner-token-value.ts';

/** A host without a heartbeat for this long has lost its processes. */
const heldSeconds = 15;
/** No token of a host that is gone lives longer. */
const tokenSeconds = 3_600;
const tokenRenewSeconds = 1_800;

const isDeployable = `r.runtime = 'sdk' and not r.retired and r.entrypoint is not null`;

/** All runners that must run, by name. */
export async function listDeployable(database: Queryable): Promise<DeployableRunner[]> {
  return database.query<DeployableRunner>(
    `select r.name as runner_type, r.entrypoint, coalesce(f.version, '') as version
       from runner_type r left join feature f on f.name = r.feature_name where ${isDeployable} order by r.name`,
  );
}

/** Processes that some host holds. */
export async function listProcesses(database: Queryable): Promise<ProcessKey[]> {
  return database.query<ProcessKey>(
    `select runner_type, number from deployed_runner where held_until >= clock_timestamp()`,
  );
}

/**
 * Acquires those of the processes that no host holds; their tokens under other hosts are revoked. All at once: a host
 * that waits too long for the answer would not know what it holds.
 */
export async function acquireProcesses(
  database: Database,
  hostId: string,
  plans: readonly (DeployableRunner & ProcessKey)[],
): Promise<ProcessKey[]> {
  if (plans.length === 0) return [];
  return database.transaction(async (tx) => {
    const acquired = await tx.query<ProcessKey>(
      `insert into deployed_runner as d (runner_type, number, host_id, held_until, entrypoint, version, state)
       select r.name, p.number, $1, clock_timestamp() + make_interval(secs => ${heldSeconds}), p.entrypoint, p.version,
              'starting'
         from unnest($2::text[], $3::int[], $4::text[], $5::text[]) as p (runner_type, number, entrypoint, version)
         join runner_type r on r.name = p.runner_type and r.entrypoint = p.entrypoint and ${isDeployable}
        order by r.name, p.number
       on conflict (runner_type, number) do update
          set host_id = excluded.host_id, held_until = excluded.held_until, entrypoint = excluded.entrypoint,
              version = excluded.version, state = 'starting', message = '', starts = 0, token_id = null,
              changed_at = clock_timestamp()
        where d.held_until < clock_timestamp()
       returning d.runner_type, d.number`,
      [
        hostId,
        plans.map(({ runnerType }) => runnerType),
        plans.map(({ number }) => number),
        plans.map(({ entrypoint }) => entrypoint),
        plans.map(({ version }) => version),
      ],
    );
    await endTokens(tx, acquired);
    return acquired;
  });
}

/**
 * Saves the state of a host's processes, renews its hold on them, and prolongs their tokens.
 * @returns those that it still holds
 */
export async function saveProcesses(
  database: Queryable,
  hostId: string,
  standings: readonly ProcessStanding[],
): Promise<ProcessKey[]> {
  return database.query<ProcessKey>(
    `with standing as (
       select * from unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::int[])
                  as s (runner_type, number, state, message, starts)
     ), mine as (
       update deployed_runner d
          set held_until = clock_timestamp() + make_interval(secs => ${heldSeconds}),
              state = s.state, message = s.message, starts = s.starts,
              changed_at = case when (d.state, d.message, d.starts) is distinct from (s.state, s.message, s.starts)
                                then clock_timestamp() else d.changed_at end
         from standing s where d.runner_type = s.runner_type and d.number = s.number and d.host_id = $1
       returning d.runner_type, d.number, d.token_id
     ), renewed as (
       update runner_token k set expires_at = clock_timestamp() + make_interval(secs => ${tokenSeconds})
         from mine
        where k.id = mine.token_id and k.revoked_at is null and k.expires_at > clock_timestamp()
          and k.expires_at < clock_timestamp() + make_interval(secs => ${tokenRenewSeconds})
     )
     select runner_type, number from mine`,
    [
      hostId,
      standings.map((standing) => standing.runnerType),
      standings.map((standing) => standing.number),
      standings.map((standing) => standing.state),
      standings.map((standing) => standing.message),
      standings.map((standing) => standing.starts),
    ],
  );
}

/** Gives a process a new token in place of its old one. Undefined: the host no longer holds it. */
export async function assignToken(
  database: Database,
  hostId: string,
  { runnerType, number }: ProcessKey,
  { digest, hint }: NewTokenValue,
): Promise<string | undefined> {
  const id = newId();
  return database.transaction(async (tx) => {
    const kept = await tx.query(
      'update deployed_runner set token_id = $4 where runner_type = $1 and number = $2 and host_id = $3 returning 1',
      [runnerType, number, hostId, id],
    );
    if (kept.length === 0) return undefined;
    await endTokens(tx, [{ runnerType, number }]);
    await tx.query(
      `insert into runner_token (id, digest, hint, label, runner_types, scopes, created_at, expires_at)
       select $1, $2, $3, $4, array[$5], array['tasks'], now, now + make_interval(secs => ${tokenSeconds})
         from clock_timestamp() as now`,
      [id, digest, hint, labelOf(runnerType, number), runnerType],
    );
    return id;
  });
}

/** Whether a token stays valid for a minute at least. */
export async function isTokenGood(database: Queryable, tokenId: string): Promise<boolean> {
  const rows = await database.query(
    `select 1 from runner_token where id = $1 and revoked_at is null
        and expires_at > clock_timestamp() + interval '1 minute'`,
    [tokenId],
  );
  return rows.length > 0;
}

/** Removes the processes that the host holds, and their tokens. All at once: a host that stops has no time to wait. */
export async function releaseProcesses(
  database: Database,
  hostId: string,
  keys: readonly ProcessKey[],
): Promise<void> {
  if (keys.length === 0) return;
  await database.transaction(async (tx) => {
    const released = await tx.query<ProcessKey>(
      `with held as (
         select d.runner_type, d.number
           from deployed_runner d join unnest($2::text[], $3::int[]) as k (runner_type, number) using (runner_type, number)
          where d.host_id = $1
          order by d.runner_type, d.number
            for update of d
       )
       delete from deployed_runner d using held
        where d.runner_type = held.runner_type and d.number = held.number and d.host_id = $1
        returning d.runner_type, d.number`,
      [hostId, keys.map(({ runnerType }) => runnerType), keys.map(({ number }) => number)],
    );
    await endTokens(tx, released);
  });
}

/** Removes processes of silent hosts that no host is to run again: too many of their runner, or of a runner that is gone. */
export async function removeAbandoned(database: Database, processesPerType: number): Promise<void> {
  await database.transaction(async (tx) => {
    const gone = await tx.query<ProcessKey>(
      `delete from deployed_runner d
        where d.held_until < clock_timestamp()
          and (d.number > $1 or not exists (select from runner_type r where r.name = d.runner_type and ${isDeployable}))
        returning d.runner_type, d.number`,
      [processesPerType],
    );
    await endTokens(tx, gone);
  });
}

/**
 * The token's process has died: its leases are lost at once, and count as lost even without any call for the task, so
 * that a task that kills its runners fails in the end.
 */
export async function loseTasks(
  database: Queryable,
  tokenId: string,
  how: string | undefined,
): Promise<void> {
  const reason = how === undefined ? null : `The process of the runner is gone: ${how}.`;
  await endLeases(database, tokenHolder(tokenId), reason);
}

/** The named processes that the host holds, with what each is doing. */
export async function describeHeld(
  database: Queryable,
  hostId: string,
  keys: readonly ProcessKey[],
  silentSeconds: number,
): Promise<HeldProcess[]> {
  return database.query<HeldProcess>(
    `select d.runner_type, d.number, d.entrypoint, d.version,
            exists (
              select from runner_type r left join feature f on f.name = r.feature_name
               where r.name = d.runner_type and ${isDeployable} and r.entrypoint = d.entrypoint
                 and coalesce(f.version, '') = d.version
            ) as is_wanted,
            not exists (select from node_claim c where c.holder = ${holderOfToken('d.token_id')} and ${isOpen})
              and not exists (
                select from runner_instance i
                 where i.holder = ${holderOfToken('d.token_id')}
                   and i.last_seen_at > clock_timestamp() - make_interval(secs => $4 + ${unrecordedSeconds})
              ) as is_silent,
            (select r.id from node_claim c join node_run r on r.id = c.run_id
              where c.holder = ${holderOfToken('d.token_id')} and ${isOpen} and r.cancel_requested limit 1
            ) as cancelled_run_id
       from deployed_runner d
       join unnest($2::text[], $3::int[]) as k (runner_type, number) using (runner_type, number)
      where d.host_id = $1`,
    [hostId, keys.map(({ runnerType }) => runnerType), keys.map(({ number }) => number), silentSeconds],
  );
}

/** The token of a process. Null: it has none yet. Undefined: the host does not hold the process. */
export async function findToken(
  database: Queryable,
  hostId: string,
  { runnerType, number }: ProcessKey,
): Promise<string | null | undefined> {
  const [row] = await database.query<{ tokenId: string | null }>(
    `select token_id from deployed_runner where runner_type = $1 and number = $2 and host_id = $3`,
    [runnerType, number, hostId],
  );
  return row?.tokenId;
}

export interface DeployedRunnerView {
  readonly runnerType: string;
  readonly entrypoint: string | null;
  /** Null: no host holds a process of it. */
  readonly number: number | null;
  readonly state: DeployedState;
  readonly message: string;
  readonly starts: number;
  readonly changedAt: Date;
  readonly tokenId: string | null;
  /** Its host has sent no heartbeat for too long. */
  readonly isSilent: boolean;
}

/** Runner types with runtime `sdk` and their processes, as operators see them: those of retired ones while they stop. */
export async function listDeployed(database: Queryable, limit: number): Promise<DeployedRunnerView[]> {
  return database.query<DeployedRunnerView>(
    `select r.name as runner_type, r.entrypoint, d.number, d.state, d.message, d.starts,
            d.changed_at, d.token_id, d.held_until < clock_timestamp() as is_silent
       from runner_type r left join deployed_runner d on d.runner_type = r.name
      where r.runtime = 'sdk' and (not r.retired or d.number is not null)
      order by r.name, d.number limit $1`,
    [limit],
  );
}

function labelOf(runnerType: string, number: number): string {
  return `deployed: ${runnerType}${number === 1 ? '' : ` ${number}`}`;
}

/** Also a token that a host made but did not record. */
async function endTokens(tx: Tx, keys: readonly ProcessKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.query(
    `update runner_token set revoked_at = clock_timestamp()
      where created_by is null and label = any($1::text[]) and revoked_at is null and expires_at > clock_timestamp()`,
    [keys.map(({ runnerType, number }) => labelOf(runnerType, number))],
  );
}
