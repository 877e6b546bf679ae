/** The migrations of the schema `auth`. */
import { join } from 'node:path';
import { advisoryLocks } from '../store/connection/advisory-locks.ts';
import { type MigrationSet, readMigrations } from '../store/connection/migrator.ts';

export const authMigrations: MigrationSet = {
  place: 'the schema auth',
  product: 'the service',
  program: 'auth/migrate.ts',
  migrations: readMigrations(join(import.meta.dirname, 'migrations')),
  table: 'auth.migrations',
  tableDefinition: `create schema if not exists auth;
    create table if not exists auth.migrations (name text primary key, ran_at timestamptz not null default now())`,
  lock: advisoryLocks.authMigration,
};
