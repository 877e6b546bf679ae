/**
 * Database roles (docs/operations/retention-and-audit.md): `sdp_migrate` owns the tables, `sdp_app` is the role of the
 * processes, `sdp_report` reads and sees no secret. Roles belong to the whole server and some operators make them
 * themselves, so they are no migration: `node store/roles.ts` makes them, and every migration grants what its tables
 * need. With `--give` it also transfers what one user made before to the owning role. Without the roles, one user does
 * everything.
 */
import pg from 'pg';
import { isRefusal, sqlStates } from '../domain/network/database-fault.ts';
import { readCall } from '../settings/program-call.ts';
import { readSettings, SettingsError } from '../settings/read.ts';
import { databaseSettings } from './connection/settings.ts';

export const databaseRoles = { owner: 'sdp_migrate', application: 'sdp_app', report: 'sdp_report' } as const;

/** The audit is append-only: the application adds to it and reads it. */
const appendOnly = ['audit_entry'];
/** Bookkeeping of migrations, which the application reads to check its schema. */
const readOnly = ['platform_migration'];
/** Columns that reports never see, in any table: digests, encrypted keys, passwords. */
const secretColumns = '(digest|ciphertext|secret|password|access_key)';

/**
 * Makes the roles that are missing, without a way to log in: an operator gives them passwords, or members. Needs a user
 * who may make roles.
 */
export async function makeRoles(client: pg.Client): Promise<void> {
  const { report } = databaseRoles;
  for (const role of Object.values(databaseRoles)) {
    const { rows } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
    if (rows.length > 0) continue;
    try {
      await client.query(`create role ${role}`);
      if (role === report) await client.query(`alter role ${report} set default_transaction_read_only = on`);
    } catch (error) {
      // Another process on the same server has just made it.
      if (!isRoleThere(error)) throw error;
    }
  }
}

const isRoleThere = (error: unknown) =>
  isRefusal(error, sqlStates.duplicateObject) || isRefusal(error, sqlStates.uniqueViolation);

/**
 * Grants the roles that exist what they need of the tables that exist; to be repeated whenever there are new ones.
 * Called by the owner of the tables. The authentication service grants on its own tables.
 */
export async function grantRoles(client: pg.Client): Promise<void> {
  await grantOn(client, await ownTables(client));
}

/**
 * As {@link grantRoles}, on tables without any grant alone: for the transaction that makes them, whose locks others wait
 * for.
 */
export async function grantOnNewTables(client: pg.Client): Promise<void> {
  const tables = (await ownTables(client)).filter(({ isNew }) => isNew);
  if (tables.length > 0) await grantOn(client, tables);
}

async function grantOn(client: pg.Client, tables: readonly Table[]): Promise<void> {
  const { application, report } = databaseRoles;
  const { rows: roles } = await client.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = any ($1)',
    [[application, report]],
  );
  if (roles.length === 0) return;
  const statements = roles.flatMap(({ name }) => [
    `grant usage on schema public to ${name}`,
    ...(name === application ? [`grant usage on all sequences in schema public to ${name}`] : []),
    ...tables.flatMap((table) => [
      // Further grants of an earlier version are revoked.
      `revoke all on ${table.quoted} from ${name}`,
      `grant ${name === application ? applicationRights(table) : reportRights(table)} on ${table.quoted} to ${name}`,
    ]),
  ]);
  // One query is one transaction, so running processes never lack a right.
  await client.query(statements.join(';'));
}

/**
 * Sets the passwords of those roles that are logged in to directly. Needs a user who may make roles.
 * @param passwords by role; they must not reach the server's log, which must log no statements
 */
export async function setPasswords(
  client: pg.Client,
  passwords: Readonly<Record<string, string>>,
): Promise<void> {
  const statements = Object.entries(passwords).map(
    ([role, password]) => `alter role ${role} login password ${client.escapeLiteral(password)}`,
  );
  for (let left = 10; ; left -= 1) {
    try {
      await client.query(statements.join(';'));
      return;
    } catch (error) {
      // Another process on the same server sets them at this moment.
      if (!isRefusal(error, sqlStates.internalError) || left === 0) throw error;
    }
  }
}

/**
 * Transfers the present database to the owning role, with everything that one user made in it before there were roles;
 * does nothing when that is done. Needs a superuser. Call it while the database is not in use, and then run the
 * migrations, which grant the other roles what they need.
 */
export async function transferToOwner(client: pg.Client): Promise<void> {
  const { owner } = databaseRoles;
  const { rows } = await client.query<{ statement: string }>(othersThings, [owner]);
  if (rows.length === 0) return;
  await client.query(rows.map(({ statement }) => statement).join(';'));
}

/** $1 the new owner. Sequences of columns follow their tables; objects of extensions stay. */
const othersThings = `
  with schemas as (
    select oid, nspname, nspowner from pg_namespace where nspname in ('public', 'auth')
  ), owner as (
    select oid from pg_roles where rolname = $1
  ), dependent as (
    select classid, objid from pg_depend where deptype = 'e' or (deptype in ('a', 'i') and refclassid = 'pg_class'::regclass)
  ), things as (
    select 'database' as kind, quote_ident(datname) as name, datdba as owned_by
      from pg_database where datname = current_database()
    union all
    select 'schema', quote_ident(nspname), nspowner from schemas where nspname <> 'public'
    union all
    select case c.relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end,
           c.oid::regclass::text, c.relowner
      from pg_class c join schemas s on s.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'S')
       and not exists (select from dependent d where d.classid = 'pg_class'::regclass and d.objid = c.oid)
    union all
    select 'routine', p.oid::regprocedure::text, p.proowner
      from pg_proc p join schemas s on s.oid = p.pronamespace
     where not exists (select from dependent d where d.classid = 'pg_proc'::regclass and d.objid = p.oid)
    union all
    select 'type', t.oid::regtype::text, t.typowner
      from pg_type t join schemas s on s.oid = t.typnamespace
     where t.typtype in ('d', 'e', 'r')
       and not exists (select from dependent d where d.classid = 'pg_type'::regclass and d.objid = t.oid)
  )
  select format('alter %s %s owner to %I', kind, name, $1::text) as statement
    from things where owned_by <> (select oid from owner)`;

interface Table {
  readonly name: string;
  /** As written in a statement. */
  readonly quoted: string;
  readonly isView: boolean;
  /** Only its owner has rights. */
  readonly isNew: boolean;
  /** Columns that are no secrets, as written in a statement. */
  readonly openColumns: readonly string[];
  readonly hasSecrets: boolean;
}

/** Tables and views that the present user may grant. */
async function ownTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name, 'public.' || quote_ident(c.relname) as quoted, c.relkind = 'v' as "isView",
            c.relacl is null as "isNew",
            array_agg(quote_ident(a.attname)::text order by a.attnum) filter (where a.attname !~ $1) as "openColumns",
            bool_or(a.attname ~ $1) as "hasSecrets"
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
        and pg_has_role(c.relowner, 'usage')
      group by c.oid order by 1`,
    [secretColumns],
  );
  return rows;
}

function applicationRights({ name, isView }: Table): string {
  if (isView || readOnly.includes(name)) return 'select';
  return appendOnly.includes(name) ? 'select, insert' : 'select, insert, update, delete';
}

function reportRights({ openColumns, hasSecrets }: Table): string {
  return hasSecrets ? `select (${openColumns.join(', ')})` : 'select';
}

/** The program's work on the database of `DATABASE_URL`. */
async function main(isOwnerChanged: boolean): Promise<void> {
  const { database } = readSettings({ database: databaseSettings }, process.env);
  const client = new pg.Client({ connectionString: database.DATABASE_URL });
  // The statement that needs a broken connection reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await makeRoles(client);
    if (isOwnerChanged) await transferToOwner(client);
    await grantRoles(client);
  } finally {
    await client.end();
  }
}

const usage = `Usage: node store/roles.ts [--give]
Makes the roles that are missing in the database of DATABASE_URL, and grants them their rights.
  --give  gives what one user made before to the role that is to own it`;

if (import.meta.main) {
  const { give } = readCall(usage, { give: { type: 'boolean', default: false } });
  try {
    await main(give);
  } catch (error) {
    // A stack is of no use to an operator: the connection failed, or a right is missing.
    console.error(`${error instanceof SettingsError ? '' : 'DATABASE_URL: '}${(error as Error).message}`);
    process.exitCode = 1;
  }
}
