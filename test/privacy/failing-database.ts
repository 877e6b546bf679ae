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
  const { rows } = await database.query<{ name: string }>(tables);
  for (const { name } of rows)
    await database.query(
      `create trigger refuse_row before insert or update on ${name} for each row execute function public.refuse_row()`,
    );
}

export async function takeWrites(database: pg.Client): Promise<void> {
  await database.query('drop function public.refuse_row cascade');
}
