import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSessionQuery } from '../../../domain/sessions/session-query.ts';
import { readAskedQuery, writeAskedQuery } from '../../../web/src/query/address.ts';
import { fieldOf, fields, metadataField, operatorsOf } from '../../../web/src/query/fields.ts';
import {
  changeNode,
  newCondition,
  newGroup,
  readFilter,
  withField,
  writeFilter,
} from '../../../web/src/query/model.ts';

const scalars = fc.oneof(fc.string({ maxLength: 12 }), fc.integer(), fc.boolean());
const id = '0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71';
/** Leaves as the platform accepts them. */
const leaves = fc.oneof(
  fc.record({
    path: fc.constantFrom('name', 'email'),
    op: fc.constantFrom('eq', 'ne', 'contains', 'startsWith', 'endsWith'),
    value: fc.string({ maxLength: 12 }),
  }),
  fc.record({
    path: fc.constant('userId'),
    op: fc.constantFrom('eq', 'ne'),
    value: fc.constantFrom(id, null),
  }),
  fc.record({ path: fc.constant('projectId'), op: fc.constantFrom('eq', 'ne'), value: fc.nat() }),
  fc.record({
    path: fc.constant('createdAt'),
    op: fc.constantFrom('gt', 'gte', 'lt', 'lte', 'eq', 'ne'),
    value: fc.nat({ max: 2_000_000_000 }).map((seconds) => new Date(seconds * 1000).toISOString()),
  }),
  fc.record({ path: fc.constant('vehicle.speed'), op: fc.constantFrom('gt', 'lte'), value: fc.integer() }),
  fc.record({
    path: fc.constant('tags'),
    op: fc.constantFrom('eq', 'ne'),
    value: fc.oneof(scalars, fc.constant(null)),
  }),
  fc.record({
    path: fc.constant('tags'),
    op: fc.constant('in'),
    value: fc.array(scalars, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ path: fc.constant('a.b'), op: fc.constant('exists'), value: fc.boolean() }),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ maxDepth: 4 }, leaves, tie('and'), tie('or')),
  and: fc.record({ and: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }),
  or: fc.record({ or: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }),
}));
const filters = fc.record({ and: fc.array(tree, { minLength: 1, maxLength: 4 }) });

const callerId = '0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71';

describe('a session query as it is written in the console', () => {
  test('comes back from the address as the same query, whatever it asks', () => {
    fc.assert(
      fc.property(filters, (filter) => {
        const asked = { filter, orderBy: [{ path: 'vehicle.speed', direction: 'desc' as const }] };
        const again = readAskedQuery(new URLSearchParams(writeAskedQuery(asked).toString()));
        expect(again).toEqual(asked);
        const root = readFilter(again?.filter);
        expect(root).not.toBeNull();
        expect(writeFilter(root!)).toMatchObject({ filter, faults: new Map() });
      }),
      { numRuns: 300 },
    );
  });

  test('is a query that the platform accepts, for every offered field and operator', () => {
    for (const field of [...fields, metadataField]) {
      for (const operator of operatorsOf(field)) {
        const texts = {
          uuid: id,
          text: 'x',
          project: '3',
          template: '4',
          time: '2026-03-14T09:30',
          metadata: '5',
          state: 'failed',
          owner: 'me',
        };
        const base = withField(newCondition(), field);
        const condition = {
          ...base,
          operator,
          key: 'vehicle.speed',
          text: texts[field.type],
          valueType:
            operator.startsWith('g') || operator.startsWith('l') ? ('number' as const) : ('text' as const),
        };
        const { filter, faults } = writeFilter(newGroup('or', [condition]));
        expect(faults).toEqual(new Map());
        expect(() => readSessionQuery({ filter }, callerId), `${field.label} ${operator}`).not.toThrow();
      }
    }
  });

  test('reports missing values at the condition, and omits groups without conditions', () => {
    const wrong = { ...newCondition(), path: 'projectId', operator: 'eq' as const };
    const nameless = { ...withField(newCondition(), fieldOf('')), valueType: 'number' as const, text: 'x' };
    const root = newGroup('and', [wrong, newGroup('or', [nameless])]);
    const { faults, places } = writeFilter(root);
    expect([...faults.keys()]).toEqual([wrong.id, nameless.id]);
    expect(places.get('$.filter.and[1].or[0]')).toBe(nameless.id);
    const hollow = changeNode(newGroup('and', [newGroup('or', [])]), wrong.id, () => null);
    expect(writeFilter(hollow).filter).toBeNull();
  });

  test('treats an address without a query as none', () => {
    expect(readAskedQuery(new URLSearchParams('query={"and"'))).toBeNull();
    expect(readFilter({ path: 'name', op: 'gt', value: 'x' })).toBeNull();
    expect(readFilter({ and: [{ path: 7 }] })).toBeNull();
  });
});
