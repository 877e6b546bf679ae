/** Databases of tests: a file's own, and empty ones on the same server. */
import pg from 'pg';
import { afterAll } from 'vitest';
import { Database } from '../../store/connection/database.ts';
import { type TestEnvironment, testEnvironment } from './stack.ts';
import { testDatabaseName } from './template.ts';

/** The test file's environment and its database. Call it once at the top of a file; it is closed after the last test. */
export async function databaseStage(poolSize: number) {
  const platform = await testEnvironment();
  return { platform, database: await openDatabase(platform, poolSize) };
}

/** The database of an environment that the file has already. It is closed after the file's last test. */
export async function openDatabase({ databaseUrl }: TestEnvironment, poolSize: number): Promise<Database> {
  const database = await Database.open({ databaseUrl, poolSize });
  afterAll(() => database.close());
  return database;
}

export interface EmptyDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** @param serverUrl of any database of the server, as its superuser */
export async function emptyDatabase(serverUrl: string): Promise<EmptyDatabase> {
  const name = testDatabaseName();
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  const onServer = async (statement: string) => {
    const server = await connected(serverUrl);
    await server.query(statement).finally(() => server.end());
  };
  await onServer(`create database "${name}"`);
  return { url: address.href, drop: () => onServer(`drop database if exists "${name}" with (force)`) };
}

/** A connection whose loss does not end the process. */
export async function connected(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
