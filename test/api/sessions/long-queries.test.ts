import { expect, test } from 'vitest';
import { dashboardRoutes } from '../../../api/dashboards/routes.ts';
import { sessionQueryRoutes } from '../../../api/session-query/routes.ts';
import { sessionListRoutes } from '../../../api/sessions/list-routes.ts';
import { limits } from '../../../domain/limits.ts';
import { apiStage, ask } from '../../support/api.ts';
import { openDatabase } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';

const { api, people, platform } = await apiStage({
  routes: [...sessionQueryRoutes, ...sessionListRoutes, ...dashboardRoutes],
});
const database = await openDatabase(platform, 2);

const query = (token: string, limit: number) =>
  ask(api.url, 'POST', '/api/sessions/query', {
    token,
    json: { filter: { path: 'name', op: 'eq', value: 'none' }, limit },
  });
const longReads = {
  'queries of long pages': (token: string) => query(token, limits.queryLimitDefault + 1),
  'metadata keys of hundreds of sessions': (token: string) =>
    ask(api.url, 'GET', '/api/v2/session/metadata-keys', { token }),
  'whole dashboards': (token: string) => ask(api.url, 'GET', `/api/v2/dashboard/dimensions/1`, { token }),
};

test.for(Object.entries(longReads))(
  'few %s are read at once, and those of one caller leave room to others',
  async ([kind, read]) => {
    const sent: Promise<number>[] = [];
    const send = (token: string, call = read) => {
      sent.push(call(token).then(({ status }) => status));
    };
    await database.transaction(async (tx) => {
      await tx.query('lock table session_search, dimension in access exclusive mode');
      const waiting = (count: number) =>
        eventually(`${count} queries are read`, async () => {
          const [row] = await database.query<{ count: number }>(
            `select count(distinct pid)::int as count from pg_locks
            where not granted and database = (select oid from pg_database where datname = current_database())
              and relation in ('session_search'::regclass, 'dimension'::regclass)`,
          );
          return row!.count === count;
        });
      const { Developer, Instructor, Administrator } = people;
      for (let calls = 0; calls < 3; calls += 1) send(Developer.token);
      await waiting(2);
      for (let calls = 0; calls < 3; calls += 1) send(Instructor.token);
      await waiting(4);
      send(Administrator.token);
      // A short page of a caller that waits.
      send(Developer.token, (token) => query(token, 1));
      await waiting(5);
    });
    // There is no such dashboard.
    const status = kind === 'whole dashboards' ? 404 : 200;
    expect(await Promise.all(sent)).toEqual([...Array.from({ length: 7 }, () => status), 200]);
  },
);
