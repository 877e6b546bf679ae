/** Random sessions, filters and orders: of few values, so that conditions meet sessions often. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { normaliseAddress, type Person } from '../../../domain/sessions/participant.ts';
import { sessionProperties } from '../../../domain/sessions/session-filter.ts';
import { sessionStates } from '../../../domain/sessions/session-state.ts';
import type { PlainSession } from './session-query-reference.ts';

/** The sessions that are stored; filled by the test. */
export const sessions: PlainSession[] = [];

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
export const people = new Map<string, Person>(
  addresses.map((address, index) => [
    normaliseAddress(address),
    // The authentication service does not resolve the last one.
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
export const session = fc.record({
  name: fc.constantFrom('a', 'A', 'ab', 'abc', 'xabcy', '100%', 'a_b', 'é', 'Ünï'),
  simulationName: fc.constantFrom(null, '', 'abc', 'ABC', 'sim', 'si\nm'),
  email: fc.constantFrom(...people.values()),
  emailIsKey: fc.boolean(),
  project: fc.integer({ min: 0, max: 2 }),
  logoUrl: fc.constantFrom('', 'https://x/logo.png'),
  userId: fc.constantFrom(...uuids),
  // Below the milliseconds that are shown.
  createdAt: fc.tuple(fc.constantFrom(...times), fc.integer({ min: 0, max: 999 })),
  state: fc.constantFrom(...sessionStates),
  lastActivityAt: fc.constantFrom(...times),
  metadata,
  shared: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { minLength: 1 }), { nil: undefined }),
});

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
  state: fc.constantFrom(...sessionStates),
  person: fc.constantFrom(...uuids),
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
export const { filter } = fc.letrec<{ filter: unknown }>((tie) => {
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
export const orderBy = fc.array(
  fc.record(
    {
      path: fc.oneof(path, fc.constantFrom(...Object.keys(sessionProperties))),
      direction: fc.constantFrom('asc', 'desc'),
    },
    { requiredKeys: ['path'] },
  ),
  { maxLength: 3 },
);
export const withEveryAddress = new Map([
  ...people,
  [normaliseAddress('nobody@example.org'), { identifier: 'anon:none', key: 'anon:none' }],
]);
