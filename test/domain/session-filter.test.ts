import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressesIn } from '../../domain/sessions/filter-people.ts';
import { type FilterNode, QueryFault, sessionProperties } from '../../domain/sessions/session-filter.ts';
import { readSessionQuery } from '../../domain/sessions/session-query.ts';

const leaf = (path: unknown, op: unknown, value?: unknown) => ({
  path,
  op,
  ...(value === undefined ? {} : { value }),
});
const good = leaf('a', 'eq', 1);
function faultOf(body: unknown): { path: string; message: string } {
  try {
    readSessionQuery(body);
  } catch (error) {
    if (error instanceof QueryFault) return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(body)}`);
}
const nested = (levels: number): object => (levels === 1 ? good : { and: [nested(levels - 1)] });

describe('a query', () => {
  test('has defaults for all that is absent or null', () => {
    const defaults = { filter: null, orderBy: [], limit: 50, offset: 0 };
    expect(readSessionQuery({})).toEqual(defaults);
    expect(readSessionQuery({ filter: null, orderBy: null, limit: null, offset: null, more: 1 })).toEqual(
      defaults,
    );
  });

  test.each([
    [[], '$'],
    [{ limit: 0 }, '$.limit'],
    [{ limit: 501 }, '$.limit'],
    [{ limit: 1.5 }, '$.limit'],
    [{ limit: '5' }, '$.limit'],
    [{ offset: -1 }, '$.offset'],
    [{ offset: 100_001 }, '$.offset'],
    [{ orderBy: {} }, '$.orderBy'],
    [{ orderBy: Array.from({ length: 11 }, () => ({ path: 'a' })) }, '$.orderBy'],
    [{ orderBy: [{ path: 'a' }, null] }, '$.orderBy[1]'],
    [{ orderBy: [{ path: 'a', direction: 'up' }] }, '$.orderBy[0]'],
    [{ orderBy: [{ direction: 'asc' }] }, '$.orderBy[0]'],
    [{ orderBy: [{ path: 'a..b' }] }, '$.orderBy[0]'],
  ])('%j is refused at %s', (body, path) => expect(faultOf(body).path).toBe(path));

  test('accepts values at its limits', () => {
    expect(readSessionQuery({ limit: 500, offset: 100_000 })).toMatchObject({ limit: 500, offset: 100_000 });
    expect(
      readSessionQuery({ orderBy: [{ path: 'name' }, { path: 'a.b', direction: 'desc' }] }).orderBy,
    ).toEqual([
      { place: { kind: 'property', property: 'name' }, direction: 'asc' },
      { place: { kind: 'metadata', keys: ['a', 'b'] }, direction: 'desc' },
    ]);
  });
});

test('any JSON is parsed or refused as a query, without another error', () => {
  const word = fc.constantFrom(
    'and',
    'or',
    'path',
    'op',
    'value',
    'name',
    'createdAt',
    'eq',
    'in',
    'exists',
    '',
  );
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 6, depthIdentifier: 'json' },
      word,
      fc.constantFrom(null, true, 0, -1, 1e308, '2026-01-01', '__proto__', 'a.b'),
      fc.array(tie('json'), { maxLength: 4, depthIdentifier: 'json' }),
      fc.dictionary(word, tie('json'), { maxKeys: 4, depthIdentifier: 'json', noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(json, json, json, json, (filter, orderBy, limit, offset) => {
      try {
        const query = readSessionQuery({ filter, orderBy, limit, offset });
        expect(query.limit).toBeGreaterThan(0);
      } catch (error) {
        if (!(error instanceof QueryFault)) throw error;
        expect(error.path).toMatch(/^\$/);
      }
    }),
    { numRuns: 2_000 },
  );
});

describe('a filter', () => {
  const leaves = (count: number) => Array.from({ length: count }, () => good);

  test('holds up to 100 conditions and 10 levels; empty lists count as conditions', () => {
    expect(() => readSessionQuery({ filter: { and: leaves(100) } })).not.toThrow();
    expect(faultOf({ filter: { and: leaves(101) } })).toEqual({
      path: '$.filter.and[100]',
      message: 'A filter must have at most 100 conditions.',
    });
    const empty = Array.from({ length: 101 }, () => ({ or: [] }));
    expect(faultOf({ filter: { or: [...leaves(1), ...empty] } }).path).toBe('$.filter.or[100]');
    expect(() => readSessionQuery({ filter: nested(10) })).not.toThrow();
    expect(faultOf({ filter: nested(11) })).toEqual({
      path: `$.filter${'.and[0]'.repeat(10)}`,
      message: 'A filter must have at most 10 levels.',
    });
  });

  test.each([
    [1, '$.filter', 'A filter node must be an object.'],
    [[], '$.filter', 'A filter node must be an object.'],
    [{}, '$.filter', 'A filter node must be either {path, op, value}, {and} or {or}.'],
    [{ and: [], or: [] }, '$.filter', 'A filter node must be either {path, op, value}, {and} or {or}.'],
    [{ and: [good], ...good }, '$.filter', 'A filter node must be either {path, op, value}, {and} or {or}.'],
    [{ and: good }, '$.filter', 'and must be a list of nodes.'],
    [{ or: [good, { and: [null] }] }, '$.filter.or[1].and[0]', 'A filter node must be an object.'],
    [leaf(1, 'eq', 1), '$.filter', 'path must be text of at most 500 characters.'],
    [leaf('x'.repeat(501), 'eq', 1), '$.filter', 'path must be text of at most 500 characters.'],
    [leaf('a\u0000', 'eq', 1), '$.filter', 'path must be text of at most 500 characters.'],
    ...['', '.', 'a.', '.a', 'a..b', Array.from({ length: 21 }, () => 'a').join('.')].map((path) => [
      leaf(path, 'eq', 1),
      '$.filter',
      'path must have 1 to 20 names, separated by single dots.',
    ]),
    [
      leaf('name', 'gt', 'a'),
      '$.filter',
      "The path does not support the operator 'gt'; it supports eq, ne, contains, startsWith, endsWith.",
    ],
    [
      leaf('name', undefined),
      '$.filter',
      'The path does not support this operator; it supports eq, ne, contains, startsWith, endsWith.',
    ],
    [
      leaf('id', 'contains', 'a'),
      '$.filter',
      "The path does not support the operator 'contains'; it supports eq, ne.",
    ],
    [
      leaf('name', 'in', ['a']),
      '$.filter',
      "The path does not support the operator 'in'; it supports eq, ne, contains, startsWith, endsWith.",
    ],
    [
      leaf('projectId', 'exists', true),
      '$.filter',
      "The path does not support the operator 'exists'; it supports eq, ne, gt, gte, lt, lte.",
    ],
    [
      leaf('a', 'EQ', 1),
      '$.filter',
      'The path does not support this operator; it supports eq, ne, gt, gte, lt, lte, contains, startsWith, endsWith, in, exists.',
    ],
    [leaf('id', 'eq', 'abc'), '$.filter', 'value must be a UUID.'],
    [leaf('id', 'eq', null), '$.filter', 'value must be a UUID.'],
    [leaf('name', 'eq', 1), '$.filter', 'value must be text.'],
    [leaf('name', 'eq', 'a\ud800'), '$.filter', 'value must be text.'],
    [leaf('projectId', 'eq', 1.5), '$.filter', 'value must be a whole number.'],
    [leaf('projectId', 'eq', '1'), '$.filter', 'value must be a whole number.'],
    [leaf('projectId', 'eq', 2 ** 53), '$.filter', 'value must be a whole number.'],
    [leaf('createdAt', 'gt', '2026-02-30'), '$.filter', 'value must be an ISO 8601 timestamp.'],
    [leaf('createdAt', 'gt', null), '$.filter', 'value must be an ISO 8601 timestamp.'],
    [leaf('simulationName', 'contains', null), '$.filter', 'value must be text.'],
    [leaf('a', 'eq'), '$.filter', 'value must be text, a number, a boolean or null.'],
    [leaf('a', 'eq', [1]), '$.filter', 'value must be text, a number, a boolean or null.'],
    [leaf('a', 'eq', 'a\u0000'), '$.filter', 'value must be text, a number, a boolean or null.'],
    [leaf('a', 'gt', true), '$.filter', 'value must be a number or text.'],
    [leaf('a', 'lte', null), '$.filter', 'value must be a number or text.'],
    [leaf('a', 'startsWith', 1), '$.filter', 'value must be text.'],
    [leaf('a', 'contains', null), '$.filter', 'value must be text, a number or a boolean.'],
    [
      leaf('a', 'in', 1),
      '$.filter',
      'value must be a list of at most 100 texts, numbers, booleans or nulls.',
    ],
    [
      leaf('a', 'in', [[1]]),
      '$.filter',
      'value must be a list of at most 100 texts, numbers, booleans or nulls.',
    ],
    [
      leaf(
        'a',
        'in',
        Array.from({ length: 101 }, () => 1),
      ),
      '$.filter',
      'value must be a list of at most 100 texts, numbers, booleans or nulls.',
    ],
    [leaf('a', 'exists', 1), '$.filter', 'value must be true or false.'],
  ] as [unknown, string, string][])('%j is refused at %s', (filter, path, message) => {
    expect(faultOf({ filter })).toEqual({ path, message });
  });

  test('accepts every operator of every property, and null for optional properties', () => {
    const values = {
      uuid: '0192B6A0-0000-7000-8000-00000000BEEF',
      string: 'a',
      int: 1,
      timestamp: '2026-01-01T00:00:00+01:00',
      state: 'failed',
      person: '0192B6A0-0000-7000-8000-00000000BEEF',
    };
    for (const [property, { type, operators, nullable }] of Object.entries(sessionProperties)) {
      for (const op of operators) {
        expect(readSessionQuery({ filter: leaf(property, op, values[type]) }).filter).toMatchObject({
          property,
          op,
        });
      }
      if (nullable)
        expect(readSessionQuery({ filter: leaf(property, 'ne', null) }).filter).toMatchObject({
          value: null,
        });
    }
    expect(readSessionQuery({ filter: leaf('id', 'eq', values.uuid) }).filter).toMatchObject({
      value: values.uuid.toLowerCase(),
    });
    for (const path of ['Name', 'metadata.name', 'name.first', '__proto__', 'constructor', 'toString'])
      expect(readSessionQuery({ filter: leaf(path, 'in', []) }).filter).toMatchObject({
        kind: 'metadata',
        keys: path.split('.'),
      });
    expect(readSessionQuery({ filter: leaf('a', 'exists') }).filter).toMatchObject({ wanted: true });
  });

  test('me is the caller, as an owner alone', () => {
    const caller = '0192b6a0-0000-7000-8000-00000000beef';
    const filterOf = (path: string, callerId?: string) =>
      readSessionQuery({ filter: leaf(path, 'eq', 'me') }, callerId).filter;
    expect(filterOf('owner', caller)).toMatchObject({ property: 'owner', value: caller });
    expect(filterOf('name', caller)).toMatchObject({ value: 'me' });
    expect(filterOf('driver', caller)).toMatchObject({ value: 'me' });
    expect(() => filterOf('userId', caller)).toThrow('value must be a UUID.');
    expect(() => filterOf('owner')).toThrow('value must be a UUID, or me.');
    expect(() => readSessionQuery({ filter: leaf('state', 'eq', 'broken') })).toThrow(
      'value must be one of notStarted, running, failed, done.',
    );
  });

  test('names the addresses that mean people, and no other text with an @', () => {
    const { filter } = readSessionQuery({
      filter: {
        or: [
          leaf('email', 'eq', 'a@example.org'),
          leaf('email', 'contains', 'b@example.org'),
          leaf('name', 'eq', 'c@example.org'),
          leaf('openedBy', 'ne', ' D@example.org '),
          leaf('participants', 'contains', 'e@example.org'),
          leaf('participants.0.id', 'in', ['f@example.org', 'x', null]),
          leaf('closedBy', 'startsWith', 'g@example.org'),
          leaf('other', 'eq', 'h@example.org'),
          leaf('openedBy', 'gt', 'i@example.org'),
          leaf('email', 'endsWith', '@example.org'),
        ],
      },
    });
    expect([...addressesIn(filter as FilterNode)]).toEqual([
      'a@example.org',
      'b@example.org',
      ' D@example.org ',
      'e@example.org',
      'f@example.org',
      'g@example.org',
    ]);
  });
});
