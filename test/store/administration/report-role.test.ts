/** The role that reads reports, and report downloads that work as it. */
import { describe, expect, test } from 'vitest';
import { compose } from '../../../api/compose.ts';
import { ReportReader } from '../../../store/reports/report-reader.ts';
import { databaseRoles } from '../../../store/roles.ts';
import { registry } from '../../../telemetry/registry.ts';
import { ask, startTestApi, tokenOf } from '../../support/api.ts';
import { makeGraph } from '../../support/graph.ts';
import { roleLogins } from './role-logins.ts';

const { platform, logins, owner, urlOf, application, as, refused } = await roleLogins();

test('the report role reads sessions and outputs, and neither secrets nor accounts, and writes nothing', async () => {
  const { rows: secret } = await owner.query<{ table: string; column: string }>(
    `select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0
        and a.attname ~ 'digest|secret|cipher|password|access_key'`,
  );
  expect(secret).toContainEqual({ table: 'runner_token', column: 'digest' });
  expect(secret).toContainEqual({ table: 'data_source', column: 'secret_ciphertext' });
  await as(logins.report, async (client) => {
    for (const table of ['session', 'node_output', 'output_version', 'audit_entry', 'project'])
      await client.query(`select * from ${table} limit 1`);
    await client.query('select label, hint, created_at from runner_token');
    for (const { table, column } of secret)
      await expect(
        client.query(`select "${column}" from "${table}"`),
        `${table}.${column}`,
      ).rejects.toMatchObject(refused);
    await expect(client.query('select 1 from auth.users')).rejects.toMatchObject(refused);
    await expect(client.query(`delete from session`)).rejects.toMatchObject({ code: '42501' });
    await expect(client.query('insert into session_ending values (gen_random_uuid())')).rejects.toMatchObject(
      refused,
    );
  });
});

describe('report downloads with REPORT_DATABASE_URL', () => {
  const separate = { ...application, REPORT_DATABASE_URL: urlOf(logins.report) };
  /** The API's output for these variables when it does not start. */
  const checked = async (REPORT_DATABASE_URL: string) => {
    const composed = await compose({ ...application, REPORT_DATABASE_URL, PORT: '0', LOG_LEVEL: 'silent' });
    const said = await composed.check().then(
      () => 'good',
      (error: Error) => `${error.name}: ${error.message}`,
    );
    await composed.close();
    return said;
  };

  /** So many may be open by the metrics of this process, in which APIs of other files may live. */
  const reportConnections = async () =>
    Number(/sdp_pool_connections_max\{pool="reports"\} (\d+)/.exec(await registry.metrics())?.[1] ?? 0);

  test('read as the report role, preview and all; without its right they are the 502 of the reference, and nothing else fails', async () => {
    const poolsBefore = await reportConnections();
    const api = await startTestApi(separate);
    try {
      await api.composed.check();
      const { database } = api.composed.services;
      const { sessionId, nodes } = await makeGraph(database, [{ name: 'laps', parents: [] }]);
      await database.query(
        `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version)
         values ($1, $2, 'Of the role', 'Recording', 'next')`,
        [sessionId, nodes.laps],
      );
      const { username, password } = platform.administrator;
      const token = await tokenOf(api.url, username, password);
      const get = (path: string) => ask(api.url, 'GET', `/api/v2/dashboard/${path}`, { token });
      const download = await get('reports/download?report=session-list&format=csv');
      expect([download.status, download.body]).toEqual([200, expect.stringContaining('Session,Test,')]);
      const { rows: seen } = await owner.query(
        `select distinct usename from pg_stat_activity where datname = current_database() and application_name = 'reports'`,
      );
      expect(seen).toEqual([{ usename: logins.report }]);
      expect((await reportConnections()) - poolsBefore).toBe(4);

      for (const table of ['report_definition', 'dimension']) {
        await owner.query(`revoke select on ${table} from ${databaseRoles.report}`);
        const refusal = await get('reports/download?report=session-list&format=csv');
        expect([refusal.status, refusal.body]).toEqual([
          502,
          { status: 'error', message: 'An upstream service failed.' },
        ]);
        expect((await get('dimensions')).status).toBe(200);
        expect((await get('reports/session-list')).status).toBe(200);
        expect(await checked(separate.REPORT_DATABASE_URL)).toBe(
          `SettingsError: REPORT_DATABASE_URL: reports cannot be read: permission denied for table ${table}.`,
        );
        await owner.query(`grant select on ${table} to ${databaseRoles.report}`);
      }
      expect((await get('reports/download?report=session-list&format=xlsx')).status).toBe(200);
    } finally {
      await api.stop();
    }
  });

  test('only read, for any rights of their user', async () => {
    const reader = new ReportReader(platform.databaseUrl);
    try {
      await expect(reader.query('delete from report_definition')).rejects.toMatchObject({ code: '25006' });
    } finally {
      await reader.close();
    }
  });

  test('are checked before the API starts: a fault is one line, and an unreachable server is awaited', async () => {
    const wrong = new URL(separate.REPORT_DATABASE_URL);
    wrong.password = 'wrong';
    const elsewhere = Object.assign(new URL(platform.databaseUrl), { pathname: '/postgres' }).href;
    const away = Object.assign(new URL(separate.REPORT_DATABASE_URL), { port: '1' }).href;
    expect(await checked(separate.REPORT_DATABASE_URL)).toBe('good');
    expect(await checked(wrong.href)).toMatch(
      /^SettingsError: REPORT_DATABASE_URL: reports cannot be read: password authentication failed for user "\w+"\.$/,
    );
    expect(await checked(elsewhere)).toMatch(
      /^SettingsError: REPORT_DATABASE_URL: .*"platform_migration" does not exist\.$/,
    );
    expect(await checked(away)).toBe('good');
  });
});
