/** A person's own sessions are found by index, and no more of them are read than are listed. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../domain/limits.ts';
import { ownSessions } from '../../../store/search/own-sessions.ts';
import { databaseStage } from '../../support/databases.ts';
import { readBy } from '../../support/rows-read.ts';

const { database } = await databaseStage(2);

const person = (userId: string) => ({ identifier: userId, key: `anon:${userId}` });
const [rare, busy, other] = [person(randomUUID()), person(randomUUID()), person(randomUUID())];
const more = 50;

beforeAll(async () => {
  await database.query(
    "insert into platform_user (external_id, type) values (gen_random_uuid(), 'Developer')",
  );
  await database.query(
    "insert into project (hex_id, title, owner_id) select '1', 'p', id from platform_user limit 1",
  );
  await database.query("insert into session_template (name, configuration) values ('t', '{}')");
  const insert = (count: number, { identifier, key }: typeof rare, age: string, shared = false) =>
    database.query(
      `insert into session (id, name, simulation_name, email_identifier, email_key, session_template_id, project_id, user_id, created_at,
              machine_group, window_seconds, window_start_at, window_end_at, opened_by)
       select gen_random_uuid(), 'n' || i, 'sim', $2, $3, 1, 1, $4::uuid, now() - $5::interval - i * interval '1 second',
              ${shared ? "i, 60, now(), now() + interval '1 minute'" : 'null, null, null, null'}, ${shared ? '$2' : 'null'}
         from generate_series(1, $1::int) i`,
      [count, identifier, key, identifier, age],
    );
  // The oldest of all: an index by date would find them last.
  await insert(3, rare, '3 days');
  await insert(2, other, '3 days', true);
  await database.query(
    `insert into session_participant (session_id, identifier, key, start_at, joined_at)
     select id, $1, case machine_group when 1 then $2 else 'anon:' || id end, now(), now()
       from session where machine_group is not null`,
    [rare.identifier, rare.key],
  );
  await insert(limits.sessionsCounted + more, busy, '1 day');
  await database.query('vacuum analyze session_search');
});

test('reads the rows of the person alone, however many sessions there are', async () => {
  const read = await readBy(database, async (own) => {
    const { rows, total } = await ownSessions(own, rare, { page: 1, pageSize: 25 });
    expect([rows.length, total]).toEqual([5, { count: 5, isExact: true }]);
  });
  expect(read.session_search).toBeLessThan(100);
});

test('lists and counts the newest, to a bound', async () => {
  const pageSize = 100;
  const last = limits.sessionsCounted / pageSize;
  const [first, end, beyond] = await Promise.all(
    [1, last, last + 1].map((page) => ownSessions(database, busy, { page, pageSize })),
  );
  expect([first!.rows[0]!.name, end!.rows.at(-1)!.name, end!.rows.length]).toEqual([
    'n1',
    `n${limits.sessionsCounted}`,
    pageSize,
  ]);
  expect([first!.total, beyond!.rows]).toEqual([{ count: limits.sessionsCounted, isExact: false }, []]);
  expect(beyond!.total).toEqual(first!.total);
});
