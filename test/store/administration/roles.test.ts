import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { migrateAuth } from '../../../auth/migrate.ts';
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import { prepareRoles, roleAddresses } from '../../../local/database-roles.ts';
import { platformMigrations } from '../../../store/connection/migrations.ts';
import { migrate } from '../../../store/migrate.ts';
import { ensurePlatformDataSource } from '../../../store/objects/data-sources.ts';
import { databaseRoles } from '../../../store/roles.ts';
import { ask, makePeople, startTestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { testProcesses } from '../../support/processes.ts';
import { inputNode, ship, tabularNode, templateFile } from '../../support/templates.ts';
import { testWorkflows } from '../../support/workflows.ts';
import { roleLogins } from './role-logins.ts';

const { platform, suffix, logins, owner, urlOf, application, as, refused } = await roleLogins();
const processes = testProcesses({});
const temporal = await testWorkflows(application);

test('the whole platform works as the application’s role: accounts, graphs, built-in nodes, deletion, audit', async () => {
  await temporal.startWorker('all');
  const api = await startTestApi(application);
  try {
    const { database, objects } = api.composed.services;
    await ship(database);
    await ensurePlatformDataSource(database, objects.platformAccess);
    const people = await makePeople(api.url, platform);
    const token = people.Administrator.token;
    const call = async (method: string, path: string, json?: unknown) => {
      const answer = await ask(api.url, method, path, { token, json });
      expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      return answer.body;
    };
    const nodes = [inputNode('laps'), tabularNode('table', 'laps')];
    const template = await call('POST', '/api/v2/admin/session-templates', templateFile('Roles', nodes));
    const project = await call('POST', '/projects', { Title: 'Roles' });
    const session = await call('POST', '/session', { SessionTemplateId: template.id, ProjectId: project.id });
    const nodesOf = async () =>
      (await owner.query('select id, name, state from node_instance where session_id = $1', [session.id]))
        .rows;
    const input = (await nodesOf()).find(({ name }) => name === 'laps').id;
    const uploaded = await fetch(`${api.url}/api/v2/node-instance/${input}/outputs/data`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv' },
      body: 'time,speed\n0,1\n1,2\n',
    });
    expect(uploaded.status).toBe(201);
    await eventually('the built-in node has run', async () =>
      (await nodesOf()).every(({ state }) => state === nodeStateCodes.Succeeded),
    );
    for (const path of [
      '/api/v2/admin/audit',
      '/api/authorization/audit',
      '/api/v2/admin/node-runs',
      '/api/v2/dashboard/navigation',
    ])
      await call('GET', path);
    await call('DELETE', `/api/v2/sessions/${session.id}`);
  } finally {
    await api.stop();
  }
});

test('an owner who is no superuser makes the whole schema in an empty database, and grants it', async () => {
  const [name, login] = [`test_${Math.floor(Date.now() / 1000)}_${suffix}`, `owner_${suffix}`];
  const url = new URL(urlOf(login));
  url.pathname = `/${name}`;
  await owner.query(`create role ${login} login password '${suffix}' in role ${databaseRoles.owner}`);
  await owner.query(`alter role ${login} set role = '${databaseRoles.owner}'`);
  await owner.query(`create database ${name}`);
  const administrator = new pg.Client(
    Object.assign(new URL(platform.databaseUrl), { pathname: `/${name}` }).href,
  );
  await administrator.connect();
  try {
    await administrator.query(`grant create on database ${name} to ${databaseRoles.owner}`);
    await administrator.query(`grant create on schema public to ${databaseRoles.owner}`);
    await migrate(url.href);
    await migrateAuth(url.href, undefined);
    const { rows } = await administrator.query(
      `select distinct pg_get_userbyid(relowner) as owner, has_table_privilege($1, oid, 'select') as granted
         from pg_class where relkind = 'r' and relnamespace in ('public'::regnamespace, 'auth'::regnamespace)`,
      [databaseRoles.application],
    );
    expect(rows).toEqual([{ owner: databaseRoles.owner, granted: true }]);
  } finally {
    await administrator.end();
    await owner.query(`drop database ${name} with (force)`);
    await owner.query(`drop role ${login}`);
  }
});

test('a process that works during an upgrade has the rights of each migration from its commit on', async () => {
  const next = [
    { name: '9000-next', text: 'create table next_thing (id int); insert into next_thing values (1)' },
    { name: '9001-fails', text: 'select 1 / 0' },
  ];
  const upgrade = migrate(platform.databaseUrl, [...platformMigrations.migrations, ...next]);
  await expect(upgrade).rejects.toThrow('division by zero');
  try {
    const things = await as(logins.application, (client) => client.query('select id from next_thing'));
    expect(things.rows).toEqual([{ id: 1 }]);
  } finally {
    await owner.query(`drop table next_thing; delete from platform_migration where name = '9000-next'`);
  }
});

test('a database that one user made before there were roles goes to them with all that is in it, and keeps what it holds', async () => {
  const name = `test_${Math.floor(Date.now() / 1000)}_${suffix}_old`;
  const url = Object.assign(new URL(platform.databaseUrl), { pathname: `/${name}` }).href;
  await owner.query(`create database ${name}`);
  const superuser = new pg.Client(url);
  await superuser.connect();
  try {
    await migrate(url);
    await migrateAuth(url, undefined);
    await superuser.query(`drop owned by ${Object.values(databaseRoles).join(', ')}`);
    await superuser.query(`insert into runner_type (name, runtime) values ('kept', 'external')`);
    const roles = roleAddresses(url);
    // As every start does, the first and any later one.
    for (let start = 0; start < 2; start += 1) {
      await prepareRoles(url);
      expect(await migrate(roles.owner)).toEqual([]);
      expect(await migrateAuth(roles.owner, undefined)).toBeNull();
    }
    const { rows: owners } = await superuser.query(
      `select distinct owner::regrole::text from (
         select relowner as owner from pg_class
          where relnamespace in ('public'::regnamespace, 'auth'::regnamespace) and relkind in ('r', 'v', 'S')
         union all select proowner from pg_proc
          where pronamespace in ('public'::regnamespace, 'auth'::regnamespace)
            and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
         union all select nspowner from pg_namespace where nspname = 'auth'
         union all select datdba from pg_database where datname = current_database()) things`,
    );
    expect(owners).toEqual([{ owner: databaseRoles.owner }]);
    for (const [address, statement] of [
      [roles.application, `update runner_type set runtime = runtime where name = 'kept' returning name`],
      [roles.report, `select name from runner_type where name = 'kept'`],
    ] as const) {
      const client = new pg.Client(address);
      await client.connect();
      expect((await client.query(statement)).rows).toEqual([{ name: 'kept' }]);
      await client.end();
    }
  } finally {
    await superuser.end();
    await owner.query(`drop database ${name} with (force)`);
  }
});

test('the program that creates them reports each fault in one line', async () => {
  for (const [variables, args, line] of [
    [{}, [], 'DATABASE_URL is required.'],
    [
      { DATABASE_URL: 'postgresql://u:p@127.0.0.1:1/d' },
      [],
      'DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1',
    ],
  ] as const) {
    const running = processes.startScript('store/roles.ts', variables, { args });
    expect(await running.ended).toBe(1);
    expect(running.log()).toBe(`${line}\n`);
  }
});

describe('the application’s role', () => {
  test.each(['audit_entry', 'auth.audit_entry'])(
    'adds to %s, and changes or removes nothing',
    async (table) => {
      await as(logins.application, async (client) => {
        expect(
          (await client.query(`select count(*)::int as count from ${table}`)).rows[0].count,
        ).toBeGreaterThan(0);
        for (const statement of [
          `update ${table} set action = 'x'`,
          `delete from ${table}`,
          `truncate ${table}`,
          `alter table ${table} disable trigger all`,
        ]) {
          const error = await client.query(statement).catch((thrown: unknown) => thrown);
          expect(error, statement).toMatchObject(refused);
          // By the right, before any trigger.
          expect((error as Error).message, statement).toMatch(/permission denied|must be owner/);
        }
      });
    },
  );

  test('changes no schema, and no note of which migrations ran', async () => {
    await as(logins.application, async (client) => {
      for (const statement of [
        'create table own (id int)',
        'alter table session add column own int',
        'drop table session',
        'delete from platform_migration',
        'delete from auth.migrations',
      ]) {
        await expect(client.query(statement), statement).rejects.toMatchObject(refused);
      }
    });
  });
});
