/** Logins with the roles of the database. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { migrateAuth } from '../../../auth/migrate.ts';
import { migrate } from '../../../store/migrate.ts';
import { databaseRoles, makeRoles } from '../../../store/roles.ts';
import { testEnvironment } from '../../support/stack.ts';

export async function roleLogins() {
  const platform = await testEnvironment();
  const suffix = randomBytes(4).toString('hex');
  const logins = { application: `app_${suffix}`, report: `report_${suffix}` } as const;
  const owner = new pg.Client(platform.databaseUrl);

  const urlOf = (login: string) => {
    const url = new URL(platform.databaseUrl);
    url.username = login;
    url.password = suffix;
    return url.href;
  };

  const application = { ...platform.environment, DATABASE_URL: urlOf(logins.application) };

  beforeAll(async () => {
    await owner.connect();
    await makeRoles(owner);
    // As at every upgrade: the owner of the tables migrates and grants.
    await migrate(platform.databaseUrl);
    await migrateAuth(platform.databaseUrl, undefined);
    for (const [name, login] of Object.entries(logins)) {
      const role = databaseRoles[name as keyof typeof logins];
      await owner.query(`create role ${login} login password '${suffix}' in role ${role}`);
    }
  });

  afterAll(async () => {
    for (const login of Object.values(logins)) await owner.query(`drop role if exists ${login}`);
    await owner.end();
  });

  async function as<T>(login: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(urlOf(login));
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  const refused = { code: '42501' };
  return { platform, suffix, logins, owner, urlOf, application, as, refused };
}
