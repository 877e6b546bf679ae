import { expect, test } from 'vitest';
import { sessionQueryRoutes } from '../../../api/session-query/routes.ts';
import { limits } from '../../../domain/limits.ts';
import { apiStage, ask } from '../../support/api.ts';
import { openDatabase } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';

const { api, people, platform } = await apiStage({ routes: sessionQueryRoutes });
const database = await openDatabase(platform, 2);

test('few queries of long pages are read at once, and those of one caller leave room to others', async () => {
  const sent: Promise<number>[] = [];
  const send = (token: string, limit: number) => {
    const filter = { path: 'name', op: 'eq', value: 'none' };
    sent.push(
      ask(api.url, 'POST', '/api/sessions/query', { token, json: { filter, limit } }).then(
        ({ status }) => status,
      ),
    );
  };
  const long = limits.queryLimitDefault + 1;
  await database.transaction(async (tx) => {
    await tx.query('lock table session_search in access exclusive mode');
    const waiting = (count: number) =>
      eventually(`${count} queries are read`, async () => {
        const [row] = await database.query<{ count: number }>(
          `select count(distinct pid)::int as count from pg_locks
            where not granted and database = (select oid from pg_database where datname = current_database())
              and relation = 'session_search'::regclass`,
        );
        return row!.count === count;
      });
    const { Developer, Instructor, Administrator } = people;
    for (let calls = 0; calls < 3; calls += 1) send(Developer.token, long);
    await waiting(2);
    for (let calls = 0; calls < 3; calls += 1) send(Instructor.token, long);
    await waiting(4);
    send(Administrator.token, long);
    // A short page of a caller that waits.
    send(Developer.token, 1);
    await waiting(5);
  });
  expect(await Promise.all(sent)).toEqual(Array.from({ length: 8 }, () => 200));
});
