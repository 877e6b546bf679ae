/** Entities and migrations, which make the tables, describe every column alike. */
import type { EntityClass } from '@mikro-orm/core';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ensureUser } from '../../store/administration/users.ts';
import { runAudited } from '../../store/connection/audit-scope.ts';
import { Database } from '../../store/connection/database.ts';
import { entities } from '../../store/entities/index.ts';
import { Project } from '../../store/entities/project.ts';
import { databaseStage } from '../support/databases.ts';

const { database, platform } = await databaseStage(2);

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  /** Whether an insert may leave it out. */
  readonly isOptional: boolean;
}

async function columnsOf(table: string): Promise<Column[]> {
  return database.query<Column>(
    `select a.attname as name, format_type(a.atttypid, null) as type, not a.attnotnull as is_nullable,
            not a.attnotnull or a.atthasdef or a.attidentity <> '' as is_optional
       from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`,
    [table],
  );
}

/** What PostgreSQL calls the types that MikroORM names otherwise. */
const typeNames: Record<string, string> = { timestamptz: 'timestamp with time zone', int: 'integer' };

test.each(entities.map((entity) => [entity.name, entity] as const))('%s', async (_, entity) => {
  const meta = database.em.getMetadata().get(entity as EntityClass);
  const columns = await columnsOf(meta.tableName);
  const mapped = meta.props.filter(
    (property) => property.fieldNames?.length === 1 && property.persist !== false,
  );
  expect(mapped.length).toBeGreaterThan(2);
  expect(
    mapped.map(({ fieldNames, columnTypes, nullable }) => {
      const type = columnTypes[0] ?? '';
      return { name: fieldNames[0], type: typeNames[type] ?? type, isNullable: nullable === true };
    }),
  ).toEqual(
    mapped.map(({ fieldNames }) => {
      const { name, type, isNullable } = columns.find((column) => column.name === fieldNames[0])!;
      return { name, type, isNullable };
    }),
  );
  const known = new Set(mapped.map(({ fieldNames }) => fieldNames[0]));
  // A column that the entity does not have needs a default.
  expect(columns.filter(({ name, isOptional }) => !isOptional && !known.has(name))).toEqual([]);
});

describe('a transaction', () => {
  const person = { externalId: '5d0c5c3e-4f6a-4b0e-9a52-0f2f7d2f7a11', type: 'Administrator' };
  const projectsOf = (title: string) => database.query('select 1 from project where title = $1', [title]);
  const call = {
    action: 'createProject',
    actorKind: 'user',
    actorId: '1',
    actorRole: 'Administrator',
    objectType: 'project',
    objectId: null,
    requestId: null,
    network: null,
  } as const;

  test('writes entities and statements on one connection, with the audit entry, or none of them', async () => {
    const owner = await ensureUser(database, person);
    const made = await runAudited(
      database,
      call,
      () =>
        database.transaction(async (tx) => {
          const project = tx.em.create(Project, {
            hexId: '0123456789abcdef',
            title: 'together',
            description: '',
            icon: '',
            owner,
            defaultSessionTemplate: null,
            queuedIngestion: false,
            retentionDays: null,
            pinnedMetadata: ['track.name', 'tyre'],
            priority: 0,
          });
          await tx.em.flush();
          const query = 'select pg_backend_pid() as pid, pg_current_xact_id()::text as xid';
          expect(await tx.em.execute(query)).toEqual(await tx.query(query));
          expect(await projectsOf('together')).toEqual([]);
          return project.id;
        }),
      () => true,
    );
    const rows = await database.query(
      `select 1 from project p, audit_entry a where p.id = $1 and a.action = 'createProject' and p.xmin = a.xmin`,
      [made],
    );
    expect(rows).toHaveLength(1);
    const refused = database.transaction(async (tx) => {
      (await tx.em.findOneOrFail(Project, made)).title = 'apart';
      await tx.em.flush();
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    expect(await projectsOf('apart')).toEqual([]);
  });

  test('is the only place where entities are written', async () => {
    const { em } = database;
    const [project] = await em.find(Project, {}, { limit: 1 });
    project!.title = 'outside';
    await expect(em.flush()).rejects.toThrow('Entities are written within a transaction of the database.');
    await expect(em.nativeDelete(Project, { title: 'none' })).rejects.toThrow('within a transaction');
    expect(await projectsOf('outside')).toEqual([]);
  });
});

test('entities are read on while a migration adds a column', async () => {
  const own = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 1 });
  onTestFinished(() => own.close());
  const read = () => own.em.find(Project, { title: 'none' });
  await read();
  await read();
  const owner = new pg.Client(platform.databaseUrl);
  await owner.connect();
  await owner.query('alter table project add column next_note text');
  await owner.end();
  expect(await read()).toEqual([]);
});
