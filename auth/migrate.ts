/**
 * Brings the schema `auth` of the database named by `DATABASE_URL` up to date, and makes the first Administrator on
 * an empty one. Prints one JSON line when it made the Administrator, with the password only when it chose it.
 */
import { randomInt, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { readCall } from '../settings/program-call.ts';
import { readSettings, SettingsError } from '../settings/read.ts';
import { connectToMigrate, runMigrations } from '../store/connection/migrator.ts';
import { authMigrations } from './migrations.ts';
import { hashPassword } from './passwords.ts';
import { authMigrateSettings } from './settings.ts';

/** As the platform names it (store/roles.ts). */
const applicationRole = 'sdp_app';
const passwordAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const passwordCharacters = 20;

export type FirstAdministrator = { readonly username: 'admin'; readonly password?: string };

/** Runs the missing migrations; waits while another process does the same. */
export async function migrateAuth(
  databaseUrl: string,
  adminPassword: string | undefined,
): Promise<FirstAdministrator | null> {
  const client = await connectToMigrate(databaseUrl);
  try {
    await runMigrations(client, authMigrations, grantApplication);
    await grantApplication(client);
    return await makeFirstAdministrator(client, adminPassword);
  } finally {
    await client.end();
  }
}

/** If operators run the processes with a separate role, it gets the rights that it needs; the audit is append-only. */
async function grantApplication(client: pg.Client): Promise<void> {
  const { rows } = await client.query('select 1 from pg_roles where rolname = $1', [applicationRole]);
  if (rows.length === 0) return;
  await client.query(`
    grant usage on schema auth to ${applicationRole};
    grant select, insert, update, delete on all tables in schema auth to ${applicationRole};
    revoke insert, update, delete on auth.migrations from ${applicationRole};
    do $$ begin
      if to_regclass('auth.audit_entry') is not null then
        revoke update, delete on auth.audit_entry from ${applicationRole};
      end if;
    end $$;`);
}

async function makeFirstAdministrator(
  client: pg.Client,
  adminPassword: string | undefined,
): Promise<FirstAdministrator | null> {
  const { rows } = await client.query('select 1 from auth.users limit 1');
  if (rows.length > 0) return null;
  const password = adminPassword ?? randomPassword();
  await client.query(
    `insert into auth.users (id, username, username_key, first_name, role, password_hash)
     values ($1, 'admin', 'admin', 'Administrator', 'Administrator', $2)`,
    [randomUUID(), await hashPassword(password, 'migration')],
  );
  return adminPassword === undefined ? { username: 'admin', password } : { username: 'admin' };
}

/** About 116 bits, without characters that are easily confused. */
function randomPassword(): string {
  const characters = Array.from({ length: passwordCharacters }, () =>
    passwordAlphabet.charAt(randomInt(passwordAlphabet.length)),
  );
  return characters.join('');
}

const usage = `Usage: node auth/migrate.ts
Brings the tables of the authentication service in the database of DATABASE_URL to the newest schema, and makes the
first Administrator where there is no account, with the password of ADMIN_PASSWORD or one that it prints.`;

if (import.meta.main) {
  readCall(usage, {});
  try {
    const { auth } = readSettings({ auth: authMigrateSettings }, process.env);
    const firstAdministrator = await migrateAuth(auth.DATABASE_URL, auth.ADMIN_PASSWORD);
    if (firstAdministrator !== null) console.log(JSON.stringify({ firstAdministrator }));
  } catch (error) {
    console.error(error instanceof SettingsError ? error.message : error);
    process.exitCode = 1;
  }
}
