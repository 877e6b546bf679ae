import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FilterNode } from '../../../domain/sessions/session-filter.ts';
import { readSessionQuery } from '../../../domain/sessions/session-query.ts';
import { Database } from '../../../store/connection/database.ts';
import { querySessions } from '../../../store/search/session-query.ts';
import { testEnvironment } from '../../support/stack.ts';
import { filter, orderBy, people, session, sessions, withEveryAddress } from './session-query-arbitraries.ts';
import { comparator, matches, type PlainSession } from './session-query-reference.ts';

const platform = await testEnvironment();
let database: Database;

beforeAll(async () => {
  database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 4 });
  const [user] = await database.query<{ id: number }>(
    "insert into platform_user (external_id, type) values (gen_random_uuid(), 'Developer') returning id",
  );
  for (const hex of ['a', 'b', 'c']) {
    await database.query('insert into project (hex_id, title, owner_id) values ($1, $1, $2)', [
      hex,
      user!.id,
    ]);
  }
  await database.query("insert into session_template (name, configuration) values ('t', '{}')");
  const projects = await database.query<{ id: number }>('select id from project order by id');
  for (const made of fc.sample(session, { numRuns: 250, seed: 20_261_121 })) {
    await insertSession(
      made,
      projects.map(({ id }) => id),
    );
  }
  sessions.push(...(await storedSessions()));
});
afterAll(() => database.close());

async function insertSession(
  made: typeof session extends fc.Arbitrary<infer T> ? T : never,
  projects: number[],
) {
  const id = randomUUID();
  const [time, microseconds] = made.createdAt;
  const shared = made.simulationName === null || made.metadata === null ? [] : (made.shared ?? []);
  const opener = joinedAs(shared[0] ?? 0);
  await database.query(
    `insert into session (id, name, simulation_name, email_identifier, email_key, session_template_id, project_id,
            user_id, logo_url, created_at, metadata, machine_group, window_seconds, window_start_at, window_end_at,
            opened_by, closed_at, closed_by)
     select $1, $2, $3, $4, $5, t.id, $6, $7, $8, $9::timestamptz + make_interval(secs => $10::float8 / 1000000), $11,
            $12, $13, $14, $15, $16, $17, $18
       from session_template t`,
    [
      id,
      made.name,
      made.simulationName,
      made.emailIsKey ? made.email.key : made.email.identifier,
      made.email.key,
      projects[made.project],
      made.userId,
      made.logoUrl,
      time,
      microseconds,
      made.metadata === null ? null : JSON.stringify(made.metadata),
      ...(shared.length > 0
        ? [1, 60, time, '2030-01-01', opener, '2026-01-01', opener]
        : Array.from({ length: 7 }, () => null)),
    ],
  );
  for (const index of shared) {
    await database.query(
      'insert into session_participant (session_id, identifier, key, start_at, joined_at) values ($1, $2, $3, $4, $4)',
      [id, joinedAs(index), `anon:k${index}`, time],
    );
  }
}

/** Some join with a token that resolves nobody. */
const joinedAs = (index: number) => [...people.values()][index]![index === 1 ? 'key' : 'identifier'];

async function storedSessions(): Promise<PlainSession[]> {
  const rows = await database.query<
    Omit<PlainSession, 'metadataKeys'> & {
      participantKeys: string[];
      openedKey: string | null;
      isShared: boolean;
    }
  >(
    `select s.id, s.name, s.email_identifier as email, s.email_key, s.project_id,
            s.session_template_id, s.simulation_name,
            s.logo_url, s.user_id, s.created_at,
            (extract(epoch from s.created_at) * 1000000)::bigint as created_microseconds,
            session_shown_metadata(s) as metadata, s.machine_group is not null as is_shared,
            array(select key from session_participant p where p.session_id = s.id order by id) as participant_keys,
            (select key from session_participant p where p.session_id = s.id and p.identifier = s.opened_by) as opened_key
       from session s`,
  );
  return rows.map(({ participantKeys, openedKey, isShared, ...row }) => ({
    ...row,
    metadataKeys: isShared
      ? { openedBy: openedKey, closedBy: openedKey, participants: participantKeys.map((id) => ({ id })) }
      : null,
  }));
}

describe('a session query', () => {
  test('gives the rows of any filter, in any order, as a plain filter in memory gives them', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(
        filter,
        orderBy,
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 0, max: 20 }),
        async (tree, order, limit, offset) => {
          const query = readSessionQuery({ filter: tree, orderBy: order, limit, offset });
          const expected = sessions.filter((one) =>
            matches(one, query.filter as FilterNode, withEveryAddress),
          );
          const sorted = expected.sort(comparator(query.orderBy)).slice(offset, offset + limit);
          const { rows, totalCount } = await querySessions(database, query, withEveryAddress);
          expect(totalCount).toBe(expected.length);
          expect(rows.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
          if (expected.length > 0 && expected.length < sessions.length) found += 1;
        },
      ),
      { numRuns: 1_500 },
    );
    // The conditions must meet the sessions, or the test would show nothing.
    expect(found).toBeGreaterThan(300);
  });
});
