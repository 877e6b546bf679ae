/** Looks for a text in everything that the database holds. */
import { expect } from 'vitest';
import type { Queryable } from '../../store/connection/database.ts';

/** Holds that no row of any table, those of schema `auth` with them, has the text in it. */
export async function expectNowhereStored(database: Queryable, text: string): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
      where table_schema in ('public', 'auth') and table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables) {
    const [found] = await database.query<{ count: number }>(
      `select count(*) as count from ${name} t where t::text like '%' || $1 || '%'`,
      [text],
    );
    expect([name, found!.count]).toEqual([name, 0]);
  }
}
