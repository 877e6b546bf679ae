/** Which role of the embedded PostgreSQL does what; the server's own superuser only makes them. */
import { createHmac } from 'node:crypto';
import pg from 'pg';
import { databaseRoles, makeRoles, setPasswords, transferToOwner } from '../store/roles.ts';

/** Addresses of one database, each as the role that does that work. */
export interface RoleAddresses {
  /** Owns the tables: for migrations. */
  readonly owner: string;
  /** What API and workers work as. */
  readonly application: string;
  /** Reads, and sees no secret: for report downloads. */
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

/** Made from the superuser's, so that data folders of before there were roles need no further key; it leads back to nothing. */
function passwordOf(superuserUrl: string, role: string): string {
  return createHmac('sha256', new URL(superuserUrl).password).update(role).digest('hex');
}

/**
 * Makes the roles with their passwords, and gives them the database with what an earlier version made in it as the
 * superuser. The migrations, as the owner, then grant what the others need. Safe to repeat.
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
