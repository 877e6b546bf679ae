/** The roles of the embedded PostgreSQL; the server's superuser only creates them. */
import { createHmac } from 'node:crypto';
import pg from 'pg';
import { databaseRoles, makeRoles, setPasswords, transferToOwner } from '../store/roles.ts';

/** Addresses of one database, one for each role. */
export interface RoleAddresses {
  /** Owns the tables: for migrations. */
  readonly owner: string;
  /** The role of API and workers. */
  readonly application: string;
  /** May only read, and no secrets: for report downloads. */
  readonly report: string;
}

/** @param superuserUrl the database's address as the server's superuser */
export function roleAddresses(superuserUrl: string): RoleAddresses {
  const as = (role: string) => {
    const url = new URL(superuserUrl);
    url.username = role;
    url.password = passwordOf(superuserUrl, role);
    return url.href;
  };
  return {
    owner: as(databaseRoles.owner),
    application: as(databaseRoles.application),
    report: as(databaseRoles.report),
  };
}

/** Derived one-way from the superuser's password, so that older data folders need no further key. */
function passwordOf(superuserUrl: string, role: string): string {
  return createHmac('sha256', new URL(superuserUrl).password).update(role).digest('hex');
}

/**
 * Creates the roles with their passwords, and gives the owner the database with all that an earlier version created as
 * the superuser. The migrations, as the owner, then grant the others their rights. Safe to repeat.
 */
export async function prepareRoles(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await makeRoles(client);
    const roles = Object.values(databaseRoles);
    await setPasswords(
      client,
      Object.fromEntries(roles.map((role) => [role, passwordOf(superuserUrl, role)])),
    );
    await transferToOwner(client);
  } finally {
    await client.end();
  }
}
