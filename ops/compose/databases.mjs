// Makes the databases of the platform and of Temporal with a user for each, and gives these users the passwords of
// their files; safe to repeat, so new passwords are taken over by running it again.
import { readFileSync } from 'node:fs';
import pg from 'pg';

const secret = (variable) => {
  const file = process.env[variable];
  if (!file) throw new Error(`${variable} is required.`);
  return readFileSync(file, 'utf8').trim();
};

const owners = [
  { role: 'platform', databases: ['platform'], password: secret('PLATFORM_PASSWORD_FILE') },
  {
    role: 'temporal',
    databases: ['temporal', 'temporal_visibility'],
    password: secret('TEMPORAL_PASSWORD_FILE'),
  },
];

const client = new pg.Client({
  connectionString: secret('DATABASE_URL_FILE'),
  connectionTimeoutMillis: 10_000,
});
await client.connect();
try {
  // Its messages would repeat statements, and with them passwords.
  await client.query("set log_statement = 'none'; set log_min_error_statement = 'panic'");
  for (const { role, databases, password } of owners) {
    const known = await client.query('select 1 from pg_roles where rolname = $1', [role]);
    const verb = known.rowCount === 0 ? 'create' : 'alter';
    await client.query(`${verb} role ${role} login password ${client.escapeLiteral(password)}`);
    for (const database of databases) {
      const there = await client.query('select 1 from pg_database where datname = $1', [database]);
      if (there.rowCount === 0) await client.query(`create database ${database} owner ${role}`);
      await client.query(`revoke connect on database ${database} from public`);
    }
  }
} finally {
  await client.end();
}
