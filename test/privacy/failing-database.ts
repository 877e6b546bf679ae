/** A database that refuses every row and repeats it in its refusal, as it does for a violated constraint. */
import type pg from 'pg';

const tables = `select format('%I.%I', n.nspname, c.relname) as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind = 'r' and n.nspname in ('public', 'auth')`;

export async function refuseWrites(database: pg.Client): Promise<void> {
  await database.query(`create function public.refuse_row() returns trigger language plpgsql as $$
    begin
      raise exception 'no room for %', new using detail = format('Failing row contains %s.', new);
    end $$`);
  for (const name of await tableNames(database)) {
    await persistently(
      database,
      `create trigger refuse_row before insert or update on ${name} for each row execute function public.refuse_row()`,
    );
  }
}

/** One table after the other: all at once would wait for writers that wait for it. */
export async function revokeWrites(database: pg.Client): Promise<void> {
  for (const name of await tableNames(database)) {
    await persistently(database, `drop trigger if exists refuse_row on ${name}`);
  }
  await database.query('drop function public.refuse_row');
}

async function tableNames(database: pg.Client): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(tables);
  return rows.map(({ name }) => name);
}

/** The platform writes meanwhile: after a deadlock or a lock timeout the statement is repeated. */
async function persistently(database: pg.Client, statement: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await database.query(statement);
      return;
    } catch (error) {
      if (tries === 20 || !['40P01', '55P03'].includes((error as { code?: string }).code ?? '')) throw error;
    }
  }
}
