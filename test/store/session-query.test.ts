import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { normaliseAddress, type Person } from '../../domain/sessions/participant.ts';
import { type FilterNode, sessionProperties } from '../../domain/sessions/session-filter.ts';
import { readSessionQuery } from '../../domain/sessions/session-query.ts';
import { Database } from '../../store/connection/database.ts';
import { querySessions } from '../../store/search/session-query.ts';
import { testEnvironment } from '../support/stack.ts';
import { comparator, matches, type PlainSession } from './session-query-reference.ts';

const platform = await testEnvironment();
let database: Database;
const sessions: PlainSession[] = [];

/** Few values, so that random conditions meet random sessions often. */
const texts = [
  '',
  'a',
  'A',
  'ab',
  'b%',
  '_b',
  "it's",
  '\\',
  '10',
  '9',
  '{"id":1}',
  'é',
  'Z\u{1f600}',
  '\uffee',
  'a.b',
  '__proto__',
  '\n',
];
const numbers = [0, -1, 1, 1.5, 10, 9, 1e21, -1e-7, 2 ** 53];
const keys = ['a', 'b', 'c', '0', '1', '01', '-1', 'a b', "q'", '__proto__', 'id', '$1', '?'];
const addresses = ['anna@example.org', 'Ben@Example.org', 'device@example.org'];
const people = new Map<string, Person>(
  addresses.map((address, index) => [
    normaliseAddress(address),
    // The last is somebody whom the authentication service does not resolve.
    {
      identifier: index === 2 ? 'anon:k2' : `00000000-0000-4000-8000-00000000000${index}`,
      key: `anon:k${index}`,
    },
  ]),
);
const identifiers = [...people.values()].flatMap(({ identifier, key }) => [identifier, key]);

const scalar = fc.oneof(
  fc.constantFrom(...texts),
  fc.constantFrom(...numbers),
  fc.boolean(),
  fc.constant(null),
);
const { tree } = fc.letrec<{ tree: unknown; object: object }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'value' },
    { weight: 5, arbitrary: scalar },
    { weight: 2, arbitrary: fc.array(tie('tree'), { maxLength: 3, depthIdentifier: 'value' }) },
    { weight: 3, arbitrary: tie('object') },
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...keys), tie('tree')), { maxLength: 5, depthIdentifier: 'value' })
    .map((entries) => Object.fromEntries(entries)),
}));
const peopleList = fc.array(
  fc.oneof(
    fc.constantFrom(...identifiers, 'a'),
    fc.constantFrom(...identifiers).map((id) => ({ id })),
  ),
  { maxLength: 3 },
);
const metadata = fc.option(
  fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...keys), tree), { maxLength: 6 }),
      fc.record(
        { openedBy: fc.constantFrom(...identifiers), participants: peopleList },
        { requiredKeys: [], noNullPrototype: true },
      ),
    )
    .map(([entries, persons]) => ({ ...Object.fromEntries(entries), ...persons })),
  { freq: 10 },
);

const uuids = Array.from({ length: 4 }, () => randomUUID());
const times = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-06-01T12:00:00.999Z'];
const session = fc.record({
  name: fc.constantFrom('a', 'A', 'ab', 'abc', 'xabcy', '100%', 'a_b', 'é', 'Ünï'),
  simulationName: fc.constantFrom(null, '', 'abc', 'ABC', 'sim', 'si\nm'),
  email: fc.constantFrom(...people.values()),
  emailIsKey: fc.boolean(),
  project: fc.integer({ min: 0, max: 2 }),
  logoUrl: fc.constantFrom('', 'https://x/logo.png'),
  userId: fc.constantFrom(...uuids),
  // Below the milliseconds that are shown.
  createdAt: fc.tuple(fc.constantFrom(...times), fc.integer({ min: 0, max: 999 })),
  metadata,
  shared: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { minLength: 1 }), { nil: undefined }),
});

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

const path = fc.oneof(
  fc
    .array(fc.constantFrom(...keys), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('.'))
    .filter((joined) => !Object.hasOwn(sessionProperties, joined)),
  fc.constantFrom(
    'openedBy',
    'closedBy',
    'participants',
    'participants.0',
    'participants.0.id',
    'participants.1.id',
    'status',
    'machineGroup',
  ),
);
const personText = fc.constantFrom(...addresses, ...identifiers, 'nobody@example.org');
const anyScalar = fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: personText });
const text = fc.oneof(fc.constantFrom(...texts), personText);
const metadataLeaf = fc.oneof(
  fc.record({ path, op: fc.constantFrom('eq', 'ne'), value: anyScalar }),
  fc.record({
    path,
    op: fc.constantFrom('gt', 'gte', 'lt', 'lte'),
    value: fc.oneof(fc.constantFrom(...numbers), text),
  }),
  fc.record({ path, op: fc.constantFrom('contains', 'startsWith', 'endsWith'), value: text }),
  fc.record({
    path,
    op: fc.constant('contains'),
    value: fc.oneof(fc.constantFrom(...numbers), fc.boolean()),
  }),
  fc.record({ path, op: fc.constant('in'), value: fc.array(anyScalar, { maxLength: 4 }) }),
  fc.record({ path, op: fc.constant('exists'), value: fc.boolean() }),
);
const ofType = {
  uuid: fc.oneof(
    fc.constantFrom(...uuids),
    fc.nat({ max: 249 }).map((index) => sessions[index]!.id),
  ),
  string: fc.oneof(
    fc.constantFrom('', 'a', 'ab', 'abc', 'AB', 'b', '%', '_', 'É', 'é', 'ünï', 'sim', 'si\nm', 'https'),
    personText,
  ),
  int: fc.integer({ min: -1, max: 4 }),
  timestamp: fc.constantFrom(...times, '2026-03-01'),
};
const propertyLeaf = fc
  .constantFrom(...Object.entries(sessionProperties))
  .chain(([property, { type, operators, nullable }]) =>
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          path: fc.constant(property),
          op: fc.constantFrom(...operators),
          value: ofType[type] as fc.Arbitrary<unknown>,
        }),
      },
      {
        weight: nullable ? 1 : 0,
        arbitrary: fc.record({
          path: fc.constant(property),
          op: fc.constantFrom('eq', 'ne'),
          value: fc.constant(null),
        }),
      },
    ),
  );
const { filter } = fc.letrec<{ filter: unknown }>((tie) => {
  const nodes = fc.array(tie('filter'), { maxLength: 4, depthIdentifier: 'filter' });
  return {
    filter: fc.oneof(
      { maxDepth: 5, depthIdentifier: 'filter' },
      { weight: 3, arbitrary: metadataLeaf },
      { weight: 2, arbitrary: propertyLeaf },
      { weight: 2, arbitrary: nodes.map((and) => ({ and })) },
      { weight: 2, arbitrary: nodes.map((or) => ({ or })) },
    ),
  };
});
const orderBy = fc.array(
  fc.record(
    {
      path: fc.oneof(path, fc.constantFrom(...Object.keys(sessionProperties))),
      direction: fc.constantFrom('asc', 'desc'),
    },
    { requiredKeys: ['path'] },
  ),
  { maxLength: 3 },
);
const withEveryAddress = new Map([
  ...people,
  [normaliseAddress('nobody@example.org'), { identifier: 'anon:none', key: 'anon:none' }],
]);

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
