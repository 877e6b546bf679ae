// Makes the databases of the platform and of Temporal with their users (those of the platform: store/roles.ts), and gives
// these the passwords of their files; safe to repeat, so new passwords are taken over by running it again.
import { readFileSync } from 'node:fs';
import pg from 'pg';

const secret = (variable) => {
  const file = process.env[variable];
  if (!file) throw new Error(`${variable} is required.`);
  return readFileSync(file, 'utf8').trim();
};

const logins = {
  sdp_migrate: secret('OWNER_PASSWORD_FILE'),
  sdp_app: secret('APPLICATION_PASSWORD_FILE'),
  sdp_report: secret('REPORT_PASSWORD_FILE'),
  temporal: secret('TEMPORAL_PASSWORD_FILE'),
};
const databases = [
  { name: 'platform', owner: 'sdp_migrate', others: ['sdp_app', 'sdp_report'] },
  { name: 'temporal', owner: 'temporal', others: [] },
  { name: 'temporal_visibility', owner: 'temporal', others: [] },
];

const client = new pg.Client({
  connectionString: secret('DATABASE_URL_FILE'),
  connectionTimeoutMillis: 10_000,
});
await client.connect();
try {
  // Its messages would repeat statements, and with them passwords.
  await client.query("set log_statement = 'none'; set log_min_error_statement = 'panic'");
  const isThere = async (kind, name) => {
    const table = { role: ['pg_roles', 'rolname'], database: ['pg_database', 'datname'] }[kind];
    return (await client.query(`select 1 from ${table[0]} where ${table[1]} = $1`, [name])).rowCount > 0;
  };
  for (const [role, password] of Object.entries(logins)) {
    const verb = (await isThere('role', role)) ? 'alter' : 'create';
    await client.query(`${verb} role ${role} login password ${client.escapeLiteral(password)}`);
  }
  await client.query('alter role sdp_report set default_transaction_read_only = on');
  for (const { name, owner, others } of databases) {
    if (!(await isThere('database', name))) await client.query(`create database ${name} owner ${owner}`);
    await client.query(`revoke connect on database ${name} from public`);
    for (const role of others) await client.query(`grant connect on database ${name} to ${role}`);
  }
} finally {
  await client.end();
}
