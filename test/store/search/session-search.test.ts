import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { countSessions } from '../../../store/search/session-count.ts';
import { databaseStage } from '../../support/databases.ts';

const { database } = await databaseStage(10);

beforeAll(async () => {
  await database.query(
    "insert into platform_user (external_id, type) values (gen_random_uuid(), 'Developer')",
  );
  await database.query(
    "insert into project (hex_id, title, owner_id) select i::text, 'p', u.id from generate_series(1, 3) i, platform_user u",
  );
  await database.query(
    "insert into session_template (name, configuration) select i::text, '{}' from generate_series(1, 2) i",
  );
});

/** The faults of the search rows and counts: none, when both agree with the sessions. */
async function differences(): Promise<unknown[]> {
  return database.query(
    `(select 'card' as what, coalesce(c.session_id, made.session_id)::text as which
        from session_search c
        full join (select m.* from session s, lateral session_search_of(s) m) made on made.session_id = c.session_id
       where to_jsonb(c) is distinct from to_jsonb(made))
      union all
     (select 'tally', concat_ws('/', project_id, session_template_id, t.sum, s.count)
        from (select project_id, session_template_id, sum(sessions) from session_count group by 1, 2) t
        full join (select project_id, session_template_id, count(*) from session group by 1, 2) s
             using (project_id, session_template_id)
       where coalesce(t.sum, 0) <> coalesce(s.count, 0))`,
  );
}

/** As the platform changes sessions: repeated after a conflict. A join of a session that is being deleted finds none. */
const change = (statement: string, parameters: readonly unknown[]) =>
  database
    .transaction((tx) => tx.query(statement, parameters))
    .catch((error: { code?: string }) => {
      if (error.code !== '23503') throw error;
    });

const insert = (id: string, project: number) =>
  change(
    `insert into session (id, name, simulation_name, email_identifier, email_key, session_template_id, project_id,
            user_id, metadata, machine_group, window_seconds, window_start_at, window_end_at, opened_by)
     values ($1, $3, 'sim', 'g0', 'anon:0', 1, $2, gen_random_uuid(), '{"a":1,"status":"mine"}', 1, 60,
             '2026-01-01', '2026-01-01T00:01:00Z', 'g0')`,
    [id, project, id],
  );
const join = (id: string, person: number) =>
  change(
    `insert into session_participant (session_id, identifier, key, start_at, joined_at)
     select id, $2, $3, now(), now() from session where id = $1 on conflict do nothing`,
    [id, `g${person}`, `anon:${person}`],
  );
const changes = {
  rename: (id: string, n: number) =>
    change('update session set name = $2 where id = $1', [id, `n${n}-${id}`]),
  describe: (id: string, n: number) =>
    change('update session set metadata = $2 where id = $1', [id, JSON.stringify({ n })]),
  move: (id: string, n: number) =>
    change('update session set project_id = $2, session_template_id = $3 where id = $1', [
      id,
      1 + (n % 3),
      1 + (n % 2),
    ]),
  close: (id: string, n: number) =>
    change('update session set closed_at = now(), closed_by = $2 where id = $1', [id, `g${n}`]),
  count: (id: string) =>
    change('update session set desired_version = desired_version + 1 where id = $1', [id]),
  join,
  leave: (id: string, n: number) =>
    change('delete from session_participant where session_id = $1 and key = $2', [id, `anon:${n}`]),
  remove: (id: string) => change('delete from session where id = $1', [id]),
};

test('cards and tally match the sessions, after any concurrent changes in any order', async () => {
  const ids = Array.from({ length: 4 }, () => randomUUID());
  const anyChange = fc.record({
    kind: fc.constantFrom(...(Object.keys(changes) as (keyof typeof changes)[])),
    session: fc.integer({ min: 0, max: 3 }),
    n: fc.integer({ min: 0, max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyChange, { maxLength: 12 }),
      fc.array(anyChange, { maxLength: 12 }),
      async (inTurn, atOnce) => {
        await database.query('delete from session');
        await Promise.all(ids.map((id, index) => insert(id, 1 + (index % 3))));
        for (const { kind, session, n } of inTurn) await changes[kind](ids[session]!, n);
        await Promise.all(atOnce.map(({ kind, session, n }) => changes[kind](ids[session]!, n)));
        expect(await differences()).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

test('of a hundred who join one session at once, none is lost from its card', async () => {
  const id = randomUUID();
  await insert(id, 1);
  await Promise.all(Array.from({ length: 100 }, (_, person) => join(id, person)));
  const [card] = await database.query<{ count: number }>(
    "select jsonb_array_length(metadata -> 'participants') as count from session_search where session_id = $1",
    [id],
  );
  expect(card?.count).toBe(100);
  expect(await differences()).toEqual([]);
});

test('sessions made and removed at once are counted to the last one, in few rows', async () => {
  await database.query('delete from session');
  const ids = Array.from({ length: 400 }, () => randomUUID());
  await Promise.all(ids.map((id, index) => insert(id, 1 + (index % 2))));
  await Promise.all(ids.slice(0, 150).map((id) => changes.remove(id)));
  expect(await countSessions(database, {})).toBe(250);
  expect(await countSessions(database, { projectId: 1 })).toBe(125);
  expect(await countSessions(database, { projectId: 2, sessionTemplateId: 1 })).toBe(125);
  expect(await countSessions(database, { projectId: 3 })).toBe(0);
  const [rows] = await database.query<{ count: number }>('select count(*) as count from session_count');
  expect(rows?.count).toBeLessThan(200);
});
