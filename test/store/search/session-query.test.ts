import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { FilterNode } from '../../../domain/sessions/session-filter.ts';
import { readSessionQuery } from '../../../domain/sessions/session-query.ts';
import type { SessionState } from '../../../domain/sessions/session-state.ts';
import { querySessions } from '../../../store/search/session-query.ts';
import { databaseStage } from '../../support/databases.ts';
import { outsideTemplate } from '../../support/graph.ts';
import { filter, orderBy, people, session, sessions, withEveryAddress } from './session-query-arbitraries.ts';
import { comparator, matches, type PlainSession } from './session-query-reference.ts';

const { database } = await databaseStage(4);

beforeAll(async () => {
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
  await outsideTemplate(database, 'outside');
  const projects = await database.query<{ id: number }>('select id from project order by id');
  for (const made of fc.sample(session, { numRuns: 250, seed: 20_261_121 })) {
    await insertSession(
      made,
      projects.map(({ id }) => id),
    );
  }
  sessions.push(...(await storedSessions()));
});

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
  await setState(id, made.state, made.lastActivityAt);
  for (const index of shared) {
    await database.query(
      'insert into session_participant (session_id, identifier, key, start_at, joined_at) values ($1, $2, $3, $4, $4)',
      [id, joinedAs(index), `anon:k${index}`, time],
    );
  }
}

async function setState(sessionId: string, state: SessionState, lastActivityAt: string) {
  await database.query(
    'update session_activity set started = $2, failed = $3, last_at = $4 where session_id = $1',
    [sessionId, state !== 'notStarted', state === 'failed', lastActivityAt],
  );
  if (state !== 'running') return;
  await database.query(
    `with node as (
       insert into node_instance (session_id, ordinal, name, node_template_id, configuration)
       select $1, 0, 'node', t.id, '{}' from node_template t returning id
     )
     insert into node_run (id, session_id, node_instance_id, template_name, runner_type, reason, state, max_attempts,
                           queue_time)
     select gen_random_uuid(), $1, node.id, 'outside', 'outside-runner', 'input', 'queued', 1, now() from node`,
    [sessionId],
  );
}

/** Some join with a token that cannot resolve people. */
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
            s.logo_url, s.user_id, s.created_at, s.user_id as owner, a.last_at as last_activity_at,
            case when a.failed then 'failed' when exists (select from node_run r where r.session_id = s.id) then 'running'
                 when a.started then 'done' else 'notStarted' end as state,
            (extract(epoch from s.created_at) * 1000000)::bigint as created_microseconds,
            session_shown_metadata(s) as metadata, s.machine_group is not null as is_shared,
            array(select key from session_participant p where p.session_id = s.id order by id) as participant_keys,
            (select key from session_participant p where p.session_id = s.id and p.identifier = s.opened_by) as opened_key
       from session s join session_activity a on a.session_id = s.id`,
  );
  return rows.map(({ participantKeys, openedKey, isShared, ...row }) => ({
    ...row,
    metadataKeys: isShared
      ? { openedBy: openedKey, closedBy: openedKey, participants: participantKeys.map((id) => ({ id })) }
      : null,
  }));
}

describe('a session query', () => {
  test('returns the same rows for any filter and order as a filter in memory', async () => {
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
          const { rows, total } = await querySessions(database, query, withEveryAddress);
          expect(total).toEqual({ count: expected.length, isExact: true });
          expect(rows.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
          if (expected.length > 0 && expected.length < sessions.length) found += 1;
        },
      ),
      { numRuns: 1_500 },
    );
    // The conditions must meet the sessions, or the test would show nothing.
    expect(found).toBeGreaterThan(300);
  });

  test('returns the same rows when it counts to a bound and begins with the first sessions in the order', async () => {
    const seen = { exact: 0, bounded: 0 };
    await fc.assert(
      fc.asyncProperty(
        filter,
        orderBy,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 15 }),
        fc.record({ counted: fc.integer({ min: 1, max: 60 }), walked: fc.integer({ min: 1, max: 200 }) }),
        async (tree, order, limit, offset, bounds) => {
          const query = readSessionQuery({ filter: tree, orderBy: order, limit, offset });
          const expected = sessions.filter((one) =>
            matches(one, query.filter as FilterNode, withEveryAddress),
          );
          const sorted = expected.sort(comparator(query.orderBy)).slice(offset, offset + limit);
          const { rows, total } = await querySessions(database, query, withEveryAddress, bounds);
          expect(rows.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
          if (total.isExact) expect(total.count).toBe(expected.length);
          else expect(expected.length).toBeGreaterThanOrEqual(Math.min(total.count, offset + rows.length));
          // A caller that goes on while there are more than it has seen reaches the last.
          if (expected.length > offset + rows.length && rows.length > 0)
            expect(total.count).toBeGreaterThan(offset + rows.length);
          if (rows.length > 0) seen[total.isExact ? 'exact' : 'bounded'] += 1;
        },
      ),
      { numRuns: 1_000 },
    );
    expect(seen.exact).toBeGreaterThan(20);
    expect(seen.bounded).toBeGreaterThan(30);
  });
});
