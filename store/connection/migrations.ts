/** The migrations of the platform's own tables. */
import { join } from 'node:path';
import { advisoryLocks } from './advisory-locks.ts';
import { type MigrationSet, readMigrations } from './migrator.ts';

export const platformMigrations: MigrationSet = {
  place: 'the database',
  product: 'the platform',
  program: 'store/migrate.ts',
  migrations: readMigrations(join(import.meta.dirname, '../migrations')),
  table: 'platform_migration',
  tableDefinition: `create table if not exists platform_migration (
    id serial primary key, name text not null, executed_at timestamptz not null default clock_timestamp())`,
  lock: advisoryLocks.migration,
};
