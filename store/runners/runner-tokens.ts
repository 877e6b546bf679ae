/** Runner tokens: the platform's own rows, read at every call, and what is known of their creators. */
import type { Role, RunnerScope } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import type { Runtime } from '../../domain/runners/manifest-runner-types.ts';
import type { TokenFacts } from '../../domain/runners/runner-token.ts';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { newId } from '../connection/ids.ts';

/** A token, as its calls need it. */
export interface RunnerTokenRow extends TokenFacts {
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly RunnerScope[];
  /** Its runner types that are registered and not the platform's own, by name. */
  readonly runnerTypes: readonly string[];
  /** The `runnerTypes` with the runtime `external`. */
  readonly externalTypes: readonly string[];
  readonly lastUsedIsOld: boolean;
}

const typesWhere = (condition: string) =>
  `array(select r.name from runner_type r where r.name = any (k.runner_types) and ${condition} order by r.name)`;
const selectToken = `
  select k.id, k.label, k.scopes, k.revoked_at, k.expires_at, k.created_by,
         c.role as creator_role, c.checked_at as creator_checked_at, clock_timestamp() as now,
         ${typesWhere("r.runtime <> 'system'")} as runner_types,
         ${typesWhere("r.runtime = 'external'")} as external_types,
         k.last_used_at is null
           or k.last_used_at < clock_timestamp() - interval '${limits.lastUsedWriteSeconds} seconds' as last_used_is_old
    from runner_token k left join runner_token_creator c on c.user_id = k.created_by`;

/** The token with this digest, ended or not. */
export async function findRunnerToken(
  database: Queryable,
  digest: Buffer,
): Promise<RunnerTokenRow | undefined> {
  const [row] = await database.query<RunnerTokenRow>(`${selectToken} where k.digest = $1`, [digest]);
  return row;
}

/** The ones of these tokens that still have a row, ended or not. */
export async function readRunnerTokens(
  database: Queryable,
  ids: readonly string[],
): Promise<RunnerTokenRow[]> {
  return database.query<RunnerTokenRow>(`${selectToken} where k.id = any ($1::uuid[])`, [ids]);
}

/** Writes when the token was last used, at most once a minute. */
export async function touchRunnerToken(database: Queryable, id: string): Promise<void> {
  await database.query(
    `update runner_token set last_used_at = clock_timestamp()
      where id = $1 and (last_used_at is null
        or last_used_at < clock_timestamp() - interval '${limits.lastUsedWriteSeconds} seconds')`,
    [id],
  );
}

export interface RunnerTokenItem {
  readonly id: string;
  readonly label: string;
  readonly runnerTypes: readonly string[];
  readonly scopes: readonly RunnerScope[];
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
  readonly revoked: boolean;
  readonly hint: string;
}

const tokensAtOnce = 100;

/** Oldest first, page by page: a script may have made any number. @param createdBy their tokens alone; null: all */
export async function* runnerTokenPages(
  database: Queryable,
  createdBy: string | null,
): AsyncGenerator<RunnerTokenItem[]> {
  const ofCreator = createdBy === null ? '$3::uuid is null' : 'created_by = $3';
  let [createdAt, id] = ['-infinity', '00000000-0000-0000-0000-000000000000'];
  for (;;) {
    const page = await database.query<RunnerTokenItem & { readonly exactly: string }>(
      `select id, label, runner_types, scopes, created_by, created_at, created_at::text as exactly,
              expires_at, last_used_at, revoked_at is not null as revoked, hint
         from runner_token where (created_at, id) > ($1::timestamptz, $2::uuid) and ${ofCreator}
        order by created_at, id limit ${tokensAtOnce}`,
      [createdAt, id, createdBy],
    );
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < tokensAtOnce) return;
    [createdAt, id] = [last.exactly, last.id];
  }
}

/**
 * Ends a token at once; ending an ended one again is fine.
 * @param createdBy only if they made it; null: any creator
 * @returns false when there is no such token
 */
export async function revokeRunnerToken(
  database: Queryable,
  id: string,
  createdBy: string | null,
): Promise<boolean> {
  const rows = await database.query(
    `update runner_token set revoked_at = coalesce(revoked_at, clock_timestamp())
      where id = $1 and ($2::uuid is null or created_by = $2) returning 1`,
    [id, createdBy],
  );
  return rows.length > 0;
}

/** The database's clock, and the runtimes of those of these runner types that are registered. */
export async function readRuntimes(
  database: Queryable,
  runnerTypes: readonly string[],
): Promise<{ readonly now: Date; readonly runtimes: ReadonlyMap<string, Runtime> }> {
  const [row] = await database.query<{ now: Date; types: { name: string; runtime: Runtime }[] }>(
    `select clock_timestamp() as now, coalesce((
              select json_agg(json_build_object('name', name, 'runtime', runtime))
                from runner_type where name = any ($1::text[])), '[]') as types`,
    [runnerTypes],
  );
  return { now: row!.now, runtimes: new Map(row!.types.map(({ name, runtime }) => [name, runtime])) };
}

/** What the authentication service says of a creator of tokens. */
export interface CreatorState {
  readonly userId: string;
  /** Null: inactive or deleted. */
  readonly role: Role | null;
  /** When all of their tokens were last revoked together, by the service's clock. */
  readonly tokensRevokedAt: Date | null;
}

export interface NewRunnerToken {
  readonly digest: Buffer;
  readonly hint: string;
  readonly label: string;
  readonly runnerTypes: readonly string[];
  readonly scopes: readonly RunnerScope[];
  readonly ttlHours: number;
}

/** @param creator the service's fresh answer to a request made at `askedAt` of the database's clock */
export async function createRunnerToken(
  database: Database,
  token: NewRunnerToken,
  creator: CreatorState,
  askedAt: Date,
): Promise<{ readonly id: string; readonly expiresAt: Date }> {
  return database.transaction(
    oncePerKey(async (tx) => {
      await writeCreators(tx, [creator], askedAt);
      const [row] = await tx.query<{ id: string; expiresAt: Date }>(
        `insert into runner_token
              (id, digest, hint, label, runner_types, scopes, created_by, creator_revoked_at, created_at, expires_at)
       select $1, $2, $3, $4, $5, $6, $7, $8, now, now + make_interval(hours => $9) from clock_timestamp() as now
       returning id, expires_at`,
        [
          newId(),
          token.digest,
          token.hint,
          token.label,
          token.runnerTypes,
          token.scopes,
          creator.userId,
          creator.tokensRevokedAt,
          token.ttlHours,
        ],
      );
      noteAudited(row!.id);
      return row!;
    }),
  );
}

/**
 * Acquires creators of live tokens that were not checked for this long, so that only one of several processes asks.
 * @returns their ids, with the database's clock before the request
 */
export async function acquireCreatorsToAsk(
  database: Queryable,
  afterSeconds: number,
): Promise<{ readonly userIds: string[]; readonly askedAt: Date } | undefined> {
  const rows = await database.query<{ userId: string; askedAt: Date }>(
    `update runner_token_creator c set asked_at = clock_timestamp()
      where user_id in (
        select d.user_id from runner_token_creator d
         where d.asked_at < clock_timestamp() - make_interval(secs => $1)
           and exists (select from runner_token k
                        where k.created_by = d.user_id and k.revoked_at is null and k.expires_at > clock_timestamp())
         order by d.asked_at limit ${limits.usersLookup} for update skip locked)
      returning user_id, asked_at`,
    [afterSeconds],
  );
  if (rows.length === 0) return undefined;
  const askedAt = new Date(Math.min(...rows.map((row) => row.askedAt.getTime())));
  return { userIds: rows.map((row) => row.userId), askedAt };
}

/** After a request without an answer: the next process to check asks again. */
export async function releaseCreatorsToAsk(database: Queryable, userIds: readonly string[]): Promise<void> {
  await database.query(
    'update runner_token_creator set asked_at = checked_at where user_id = any ($1::uuid[])',
    [userIds],
  );
}

/** Saves what the authentication service said of creators; tokens that this ends are ended at once and for good. */
export async function noteCreators(
  database: Database,
  creators: readonly CreatorState[],
  askedAt: Date,
): Promise<{ readonly ended: number }> {
  return database.transaction((tx) => writeCreators(tx, creators, askedAt));
}

async function writeCreators(
  tx: Tx,
  creators: readonly CreatorState[],
  askedAt: Date,
): Promise<{ readonly ended: number }> {
  const sorted = [...creators].sort((one, other) => (one.userId < other.userId ? -1 : 1));
  const userIds = sorted.map((creator) => creator.userId);
  const roles = sorted.map((creator) => creator.role);
  // A late older answer does not replace a newer one.
  await tx.query(
    `insert into runner_token_creator as c (user_id, role, checked_at)
     select a.user_id, a.role, $3 from unnest($1::uuid[], $2::text[]) as a (user_id, role)
     on conflict (user_id) do update
        set role = excluded.role, checked_at = excluded.checked_at,
            narrowed_at = case when excluded.role is distinct from c.role and excluded.role is distinct from 'Administrator'
                               then clock_timestamp() else c.narrowed_at end
      where c.checked_at < excluded.checked_at`,
    [userIds, roles, askedAt],
  );
  // A token made by an Administrator outlives its creator's fall to Developer no longer than a Developer's own.
  await tx.query(
    `update runner_token k set expires_at = k.created_at + interval '${limits.runnerTokenDeveloperMaxHours} hours'
       from runner_token_creator c
      where c.user_id = any ($1::uuid[]) and c.role = 'Developer' and k.created_by = c.user_id and k.revoked_at is null
        and k.expires_at > k.created_at + interval '${limits.runnerTokenDeveloperMaxHours} hours'`,
    [userIds],
  );
  const ended = await tx.query(
    `update runner_token k set revoked_at = clock_timestamp()
       from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as a (user_id, role, tokens_revoked_at)
      where k.created_by = a.user_id and k.revoked_at is null and k.created_at <= $4
        and (a.role is null or a.tokens_revoked_at > coalesce(k.creator_revoked_at, '-infinity'))
      returning 1`,
    [userIds, roles, sorted.map((creator) => creator.tokensRevokedAt), askedAt],
  );
  return { ended: ended.length };
}
