/** Accounts: found, listed, made, changed, removed. The last active Administrator always stays. */
import { randomUUID } from 'node:crypto';
import { Problem } from '../domain/errors.ts';
import { isRefusal, sqlStates } from '../domain/network/database-fault.ts';
import type { AuthDatabase, Runner, Statement } from './database.ts';
import { endAllTokens } from './tokens.ts';
import { emailKey, usernameKey } from './user-keys.ts';
import { type UserRow, userColumns } from './user-view.ts';

const byNameStatement: Statement = {
  name: 'user_find_by_name',
  text: `select ${userColumns} from auth.users u where u.username_key = $1`,
};
const byEmailStatement: Statement = {
  name: 'user_find_by_email',
  text: `select ${userColumns} from auth.users u where u.email_key = $1 and u.email_key <> ''`,
};
const byIdsStatement: Statement = {
  name: 'user_find_by_ids',
  text: `select ${userColumns} from auth.users u where u.id = any($1) order by u.id`,
};
const activeStatement: Statement = {
  name: 'user_active',
  text: `select u.id as "userId", u.role, u.tokens_revoked_at as "tokensRevokedAt"
    from auth.users u where u.id = any($1) and u.is_active order by u.id`,
};

export async function findUserByName(runner: Runner, username: string): Promise<UserRow | null> {
  return (await runner.query<UserRow>(byNameStatement, [usernameKey(username)]))[0] ?? null;
}

export async function findUserByEmail(runner: Runner, email: string): Promise<UserRow | null> {
  return (await runner.query<UserRow>(byEmailStatement, [emailKey(email)]))[0] ?? null;
}

export async function findUser(runner: Runner, userId: string): Promise<UserRow | null> {
  return (await runner.query<UserRow>(byIdsStatement, [[userId]]))[0] ?? null;
}

/** The existing ones of these users. */
export async function findUsers(runner: Runner, userIds: readonly string[]): Promise<UserRow[]> {
  return await runner.query<UserRow>(byIdsStatement, [userIds]);
}

export type ActiveUser = {
  readonly userId: string;
  readonly role: UserRow['role'];
  readonly tokensRevokedAt: Date | null;
};

/** Which of these users are active, with their role and when all their tokens were last revoked. */
export async function findActive(runner: Runner, userIds: readonly string[]): Promise<ActiveUser[]> {
  return await runner.query<ActiveUser>(activeStatement, [userIds]);
}

const searched = `$1 = '%%' or u.username ilike $1 or u.email ilike $1 or u.first_name ilike $1
    or u.last_name ilike $1 or u.company ilike $1`;
const pageStatement: Statement = {
  name: 'user_page',
  text: `select ${userColumns} from auth.users u where ${searched} order by u.created_at, u.id limit $2 offset $3`,
};
const countStatement: Statement = {
  name: 'user_count',
  text: `select count(*)::int as count from auth.users u where ${searched}`,
};

/** One page of users, oldest first; `search` matches names, address and company, case-insensitively. */
export async function listUsers(
  runner: Runner,
  search: string,
  page: number,
  pageSize: number,
): Promise<{ readonly rows: readonly UserRow[]; readonly totalCount: number }> {
  const pattern = `%${search.trim().replaceAll(/[\\%_]/g, '\\$&')}%`;
  const rows = await runner.query<UserRow>(pageStatement, [pattern, pageSize, (page - 1) * pageSize]);
  const [counted] = await runner.query<{ count: number }>(countStatement, [pattern]);
  return { rows, totalCount: counted?.count ?? 0 };
}

export type NewUser = Omit<UserRow, 'id' | 'createdAt' | 'updatedAt'>;

const createStatement: Statement = {
  name: 'user_create',
  text: `insert into auth.users as u (id, username, username_key, email, email_key, first_name, last_name, title, company,
      role, is_active, is_registration_complete, has_accepted_data_privacy, force_change_password, password_hash)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    on conflict do nothing returning ${userColumns}`,
};

/** Throws `usernameTaken` when another user has the username or email. */
export async function createUser(runner: Runner, user: NewUser, passwordHash: string): Promise<UserRow> {
  const values = [randomUUID(), ...columnsOf(user), passwordHash];
  const [row] = await runner.query<UserRow>(createStatement, values);
  if (row === undefined) throw new Problem('usernameTaken');
  return row;
}

/** The fields that callers may set, in the order of the statements that write them. */
function columnsOf(user: NewUser): unknown[] {
  return [
    user.username,
    usernameKey(user.username),
    user.email,
    emailKey(user.email),
    user.firstName,
    user.lastName,
    user.title,
    user.company,
    user.role,
    user.isActive,
    user.isRegistrationComplete,
    user.hasAcceptedDataPrivacy,
    user.forceChangePassword,
  ];
}

export type UserChange = { readonly [Key in keyof NewUser]?: NewUser[Key] | undefined };

const lockUserStatement: Statement = {
  name: 'user_lock',
  text: `select ${userColumns} from auth.users u where u.id = $1 for update`,
};
/** Serializes every change that could remove the last Administrator or take another user's name. */
const administratorsLock: Statement = {
  name: 'administrators_lock',
  text: "select pg_advisory_xact_lock(hashtext('auth.administrators'))",
};
const otherAdministratorsStatement: Statement = {
  name: 'administrators_other',
  text: `select count(*)::int as count from auth.users
    where role = 'Administrator' and is_active and id <> $1`,
};
const updateStatement: Statement = {
  name: 'user_update',
  text: `update auth.users u set username = $2, username_key = $3, email = $4, email_key = $5, first_name = $6,
      last_name = $7, title = $8, company = $9, role = $10, is_active = $11, is_registration_complete = $12,
      has_accepted_data_privacy = $13, force_change_password = $14, updated_at = clock_timestamp()
    where u.id = $1 returning ${userColumns}`,
};
/** Runs before the write: a database logs the values of a row that it refuses. */
const takenStatement: Statement = {
  name: 'user_name_taken',
  text: `select 1 from auth.users
    where id <> $1 and (username_key = $2 or (email_key = $3 and email_key <> '')) limit 1`,
};
const deleteStatement: Statement = { name: 'user_delete', text: 'delete from auth.users where id = $1' };

/**
 * Changes the fields in `change`; none leave the user as they are. Deactivating ends every token of the user. Throws
 * `userNotFound`, `usernameTaken`, `lastAdministrator`.
 * @param within further work in the same transaction, when something changes
 */
export async function updateUser(
  database: AuthDatabase,
  userId: string,
  change: UserChange,
  within: (tx: Runner) => Promise<void>,
): Promise<UserRow> {
  return await refuseTakenUsername(() =>
    database.transaction(async (tx) => {
      const before = await lockUser(tx, userId);
      const given = withoutUndefined(change);
      if (Object.keys(given).length === 0) return before;
      const after: UserRow = { ...before, ...given };
      if (isActiveAdministrator(before) && !isActiveAdministrator(after))
        await keepOneAdministrator(tx, userId);
      const keys = [usernameKey(after.username), emailKey(after.email)];
      const taken = await tx.query(takenStatement, [userId, ...keys]);
      if (taken.length > 0) throw new Problem('usernameTaken');
      const [row] = await tx.query<UserRow>(updateStatement, [userId, ...columnsOf(after)]);
      if (row === undefined) throw new Problem('userNotFound');
      if (before.isActive && !after.isActive) await endAllTokens(tx, userId);
      await within(tx);
      return row;
    }),
  );
}

/** Removes a user with all tokens. Throws `userNotFound`, `lastAdministrator`. */
export async function deleteUser(
  database: AuthDatabase,
  userId: string,
  within: (tx: Runner) => Promise<void>,
): Promise<void> {
  await database.transaction(async (tx) => {
    const user = await lockUser(tx, userId);
    if (isActiveAdministrator(user)) await keepOneAdministrator(tx, userId);
    await tx.query(deleteStatement, [userId]);
    await within(tx);
  });
}

const passwordStatement: Statement = {
  name: 'user_password',
  text: `update auth.users set password_hash = $2, force_change_password = $3, updated_at = clock_timestamp()
    where id = $1 returning id`,
};

/** Stores a new password hash. Throws `userNotFound`. */
export async function storePassword(
  runner: Runner,
  userId: string,
  passwordHash: string,
  forceChange: boolean,
): Promise<void> {
  const rows = await runner.query(passwordStatement, [userId, passwordHash, forceChange]);
  if (rows.length === 0) throw new Problem('userNotFound');
}

async function lockUser(tx: Runner, userId: string): Promise<UserRow> {
  await tx.query(administratorsLock, []);
  const [row] = await tx.query<UserRow>(lockUserStatement, [userId]);
  if (row === undefined) throw new Problem('userNotFound');
  return row;
}

const isActiveAdministrator = (user: UserRow): boolean => user.isActive && user.role === 'Administrator';

async function keepOneAdministrator(tx: Runner, userId: string): Promise<void> {
  const [row] = await tx.query<{ count: number }>(otherAdministratorsStatement, [userId]);
  if ((row?.count ?? 0) === 0) throw new Problem('lastAdministrator');
}

function withoutUndefined(change: UserChange): Partial<UserRow> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

async function refuseTakenUsername<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error, sqlStates.uniqueViolation)) throw new Problem('usernameTaken', { cause: error });
    throw error;
  }
}
