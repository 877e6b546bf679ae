/** An empty database on the server of the tests. */
import pg from 'pg';
import { testDatabaseName } from './template.ts';

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
