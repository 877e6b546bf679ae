/**
 * Database roles (docs/operations/retention-and-audit.md): `sdp_migrate` owns the tables, `sdp_app` is what the processes
 * work as, `sdp_report` reads and sees no secret. Roles belong to the whole server and some operators make them
 * themselves, so they are no migration: `node store/roles.ts` makes them, and every migration grants what its tables need.
 * Where the roles are not there, one user does everything.
 */
import pg from 'pg';
import { readSettings } from '../settings/read.ts';
import { databaseSettings } from './settings.ts';

export const databaseRoles = { owner: 'sdp_migrate', application: 'sdp_app', report: 'sdp_report' } as const;

/** The audit is kept as it was written: the application adds to it and reads it. */
const appendOnly = ['audit_entry'];
/** Bookkeeping of migrations, which the application reads to know what it works with. */
const readOnly = ['platform_migration'];
/** What reports never see, whichever table has a column of such a name: digests, encrypted keys, passwords. */
const secretColumns = '(digest|ciphertext|secret|password|access_key)';
const roleIsThere = ['42710', '23505'];

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
      // Somebody else on the same server has just made it.
      if (!roleIsThere.includes((error as { code?: string }).code ?? '')) throw error;
    }
  }
}

/**
 * Grants the roles that exist what they need of the tables that exist; to be repeated whenever there are new ones. Called
 * by whoever owns the tables. What the authentication service owns it grants itself.
 */
export async function grantRoles(client: pg.Client): Promise<void> {
  const { application, report } = databaseRoles;
  const { rows: roles } = await client.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = any ($1)',
    [[application, report]],
  );
  if (roles.length === 0) return;
  const tables = await ownTables(client);
  for (const { name } of roles) {
    await client.query(`grant usage on schema public to ${name}`);
    if (name === application) await client.query(`grant usage on all sequences in schema public to ${name}`);
    for (const table of tables) {
      // What an earlier version granted beyond it goes.
      await client.query(`revoke all on ${table.quoted} from ${name}`);
      const rights = name === application ? applicationRights(table) : reportRights(table);
      await client.query(`grant ${rights} on ${table.quoted} to ${name}`);
    }
  }
}

interface Table {
  readonly name: string;
  /** As it stands in a statement. */
  readonly quoted: string;
  readonly isView: boolean;
  /** Columns that are no secrets, as they stand in a statement. */
  readonly openColumns: readonly string[];
  readonly hasSecrets: boolean;
}

/** Tables and views that the present user may grant. */
async function ownTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `select c.relname as name, 'public.' || quote_ident(c.relname) as quoted, c.relkind = 'v' as "isView",
            array_agg(quote_ident(a.attname)::text order by a.attnum) filter (where a.attname !~ $1) as "openColumns",
            bool_or(a.attname ~ $1) as "hasSecrets"
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
        and pg_has_role(c.relowner, 'usage')
      group by c.relname, c.relkind order by 1`,
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

if (import.meta.main) {
  const { database } = readSettings({ database: databaseSettings }, process.env);
  const client = new pg.Client({ connectionString: database.DATABASE_URL });
  await client.connect();
  try {
    await makeRoles(client);
    await grantRoles(client);
  } finally {
    await client.end();
  }
}
