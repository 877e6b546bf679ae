import { describe, expect, test } from 'vitest';
import {
  checkBudget,
  checkConfigurationSchema,
  configurationValidator,
  schemaLimits,
} from '../../domain/templates/configuration-schema.ts';
import { cpuMs } from '../support/cpu-time.ts';

const faults = (schema: unknown) =>
  checkConfigurationSchema(schema, ['nodeTemplates', 0, 'configurationSchema']);
const check = (schema: unknown, configuration: unknown) =>
  configurationValidator(schema)(configuration, ['Nodes', 1, 'DefaultConfiguration']);

describe('checkConfigurationSchema', () => {
  test.each([
    ['empty', {}],
    ['with its dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }],
    ['with patterns', { properties: { a: { pattern: '^[a-z]+$' } }, patternProperties: { '^x-': {} } }],
    [
      'with all applicators',
      { allOf: [{}], anyOf: [{}], not: { type: 'null' }, if: {}, else: {}, unevaluatedProperties: false },
    ],
    ['with a long list of allowed values', { enum: Array.from({ length: 10_000 }, (_, i) => i) }],
    ['with unknown keywords and formats', { 'x-note': 1, format: 'anything', properties: { __proto__: {} } }],
  ])('accepts a schema %s', (_, schema) => {
    expect(faults(schema)).toEqual([]);
  });

  test.each([
    ['no object', true, '', 'object'],
    ['an array', [], '', 'object'],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, '.$schema', '2020-12'],
    ['a reference', { properties: { a: { $ref: '#/x' } } }, ".properties.a['$ref']", '$ref'],
    ['a dynamic reference', { items: { $dynamicRef: '#m' } }, ".items['$dynamicRef']", '$dynamicRef'],
    ['an asynchronous schema', { $async: true }, "['$async']", '$async'],
    ['a wrong type', { type: 'text' }, '.type', 'schema'],
    ['a wrong keyword value', { properties: { a: { minLength: -1 } } }, '.properties.a.minLength', 'schema'],
    ['look-ahead', { pattern: '(?=a)' }, '', 'Look-around'],
    ['a malformed pattern', { pattern: '(' }, '', 'regular expression'],
    ['huge repetition', { pattern: '((a{50}){50}){50}' }, '', 'too large'],
    ['too much', { description: 'x'.repeat(schemaLimits.schemaBytes) }, '', 'KB'],
    [
      'too many objects',
      { anyOf: Array.from({ length: schemaLimits.schemaObjects }, () => ({})) },
      '',
      'objects',
    ],
    [
      'too many values',
      { required: Array.from({ length: schemaLimits.schemaCost }, (_, i) => `${i}`) },
      '',
      'values',
    ],
    ['too many values below names', { dependentRequired: { enum: Array(4_000).fill('a') } }, '', 'values'],
    ['too deep', JSON.parse(`${'{"not":'.repeat(50)}{}${'}'.repeat(50)}`), '', 'levels'],
  ])('refuses %s, with its path', (_, schema, path, message) => {
    const found = faults(schema);
    expect(found[0]?.path).toBe(
      `$.nodeTemplates[0].configurationSchema${path.replace(/^\.\$schema/, "['$schema']")}`,
    );
    expect(found[0]?.message).toContain(message);
  });

  test('many patterns together are bounded', () => {
    const allOf = Array.from({ length: 20 }, (_, index) => ({ pattern: `a{${300 + index}}` }));
    expect(faults({ allOf })[0]?.message).toContain('too large');
  });

  // The test runner ends a check that hangs.
  test('a schema of the largest size is checked, however costly it was made', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 490 }, (_, index) => [`p${index}`, { type: 'string', minLength: 1 }]),
    );
    expect(faults({ properties, unevaluatedProperties: false })).toEqual([]);
    let nested: object = {};
    for (let level = 0; level < 19; level++)
      nested = { anyOf: [nested, { not: {} }], unevaluatedProperties: false };
    expect(faults(nested)).toEqual([]);
    const names = Array.from({ length: 3_900 }, (_, index) => `${index}`);
    expect(faults({ dependentRequired: { a: names } })).toEqual([]);
    expect(faults({ allOf: Array.from({ length: 19 }, () => ({ required: names.slice(0, 190) })) })).toEqual(
      [],
    );
    expect(
      faults({ properties: Object.fromEntries(names.slice(0, 1_000).map((name) => [name, false])) }),
    ).toEqual([]);
  });

  // Their compiled code nests so deep that it would compile at one time and not at another.
  test.each(['properties', 'dependentSchemas', 'allOf'])(
    'more than 1000 false in %s are refused',
    (keyword) => {
      const none = Array.from({ length: 1_001 }, () => false);
      const schema = { [keyword]: keyword === 'allOf' ? none : { ...none } };
      expect(faults(schema)[0]?.message).toContain('false at most 1000 times');
    },
  );
});

describe('configurationValidator', () => {
  const schema = {
    type: 'object',
    required: ['name'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', pattern: '^[a-z]+$' },
      mode: { enum: ['fast', 'slow'] },
      rows: { type: 'array', uniqueItems: true, items: { type: 'integer' } },
    },
  };

  test('accepts what matches', () => {
    expect(check(schema, { name: 'abc', mode: 'fast', rows: [1, 2] })).toEqual([]);
  });

  test('lists every fault with its path', () => {
    expect(
      check(schema, { name: 'A', mode: 'x', rows: [1, 'b', 1], 'odd key': 1 }).map(({ path }) => path),
    ).toEqual(
      expect.arrayContaining([
        '$.Nodes[1].DefaultConfiguration.name',
        '$.Nodes[1].DefaultConfiguration.mode',
        '$.Nodes[1].DefaultConfiguration.rows',
        '$.Nodes[1].DefaultConfiguration.rows[1]',
        "$.Nodes[1].DefaultConfiguration['odd key']",
      ]),
    );
    expect(check(schema, {})).toEqual([
      {
        path: '$.Nodes[1].DefaultConfiguration',
        message: "Does not match the schema: must have required property 'name'.",
      },
    ]);
  });

  test.each([
    [null],
    [[]],
    ['x'],
    [{ a: 'x'.repeat(70_000) }],
    [JSON.parse(`${'{"a":'.repeat(21)}1${'}'.repeat(21)}`)],
  ])('refuses what is no bounded object', (configuration) => {
    expect(check({}, configuration)[0]?.message).toContain('must be an object');
  });

  test.each<[unknown, unknown, boolean]>([
    [{ enum: [1, 'a', null, [1, { b: 2, a: 1 }]] }, [1, { a: 1, b: 2 }], true],
    [{ enum: [1, 'a', null] }, '1', false],
    [{ enum: [{ a: 1 }] }, { a: 1, b: 2 }, false],
    [{ enum: [[1, 2]] }, [2, 1], false],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      false,
    ],
    [{ uniqueItems: true }, [1, '1', true, 'true', [1], ['1']], true],
    [{ dependentRequired: { a: ['b', 'c'] } }, { b: 1 }, true],
    [{ dependentRequired: { a: ['b', 'c'] } }, { a: 1, b: 1 }, false],
    [{ dependentRequired: { a: ['b', 'c'] } }, { a: 1, b: 1, c: 1 }, true],
    [{ dependentRequired: { toString: ['b'] } }, {}, true],
    [{ not: { dependentRequired: { a: ['b'] } } }, { a: 1 }, true],
    [{ anyOf: [{ enum: [1] }, { enum: [2] }] }, 2, true],
  ])('%j of %j: %s', (inner, value, isValid) => {
    expect(check({ properties: { x: inner } }, { x: value })).toHaveLength(isValid ? 0 : 1);
  });

  test('inherited names are not properties', () => {
    expect(check({ required: ['toString'] }, {})).toHaveLength(1);
    expect(
      check({ additionalProperties: false, properties: { a: {} } }, JSON.parse('{"__proto__":1}')),
    ).toHaveLength(1);
  });

  test('an unusable schema finds fault with every configuration', () => {
    expect(check({ $ref: '#' }, {})).toHaveLength(1);
  });

  test.each([
    [
      'unique items that are objects',
      { properties: { a: { uniqueItems: true } } },
      { a: Array.from({ length: 10_000 }, (_, i) => [i]) },
    ],
    ['a hostile pattern', { properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(60_000)}!` }],
    [
      'many faults',
      { additionalProperties: { allOf: Array.from({ length: 490 }, () => ({ type: 'string' })) } },
      Object.fromEntries(Array.from({ length: 8000 }, (_, i) => [i, 1])),
    ],
    [
      'many subschemas that hold',
      { additionalProperties: { allOf: Array.from({ length: 490 }, () => ({ type: 'integer' })) } },
      Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [i, 1])),
    ],
    [
      'a long list of allowed values',
      { properties: { a: { items: { enum: [...Array.from({ length: 30_000 }, () => 2), 1] } } } },
      { a: Array.from({ length: 32_000 }, () => 1) },
    ],
    [
      'allowed values that are lists',
      { properties: { a: { items: { enum: [...Array.from({ length: 9_000 }, (_, i) => [i]), []] } } } },
      { a: Array.from({ length: 20_000 }, () => []) },
    ],
    [
      'many branches of which the last holds',
      {
        properties: {
          a: {
            items: {
              anyOf: [
                ...Array.from({ length: 480 }, (_, i) => ({ required: [`r${i}`] })),
                { type: 'object' },
              ],
            },
          },
        },
      },
      { a: Array.from({ length: 20_000 }, () => ({})) },
    ],
  ])('%s take bounded time', (_, costly, configuration) => {
    const began = cpuMs();
    expect(check(costly, configuration).length).toBeLessThanOrEqual(201);
    expect(cpuMs() - began).toBeLessThan(5_000);
  });

  test('checks that belong together share one budget', () => {
    const schema = { allOf: Array.from({ length: 400 }, () => ({ type: 'object' })) };
    const validate = configurationValidator(schema);
    const configuration = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [i, 1]));
    const budget = checkBudget();
    const found = Array.from({ length: 20 }, () => validate(configuration, [], budget).length);
    expect(found.slice(0, 3)).toEqual([0, 0, 0]);
    expect(found.at(-1)).toBe(1);
  });
});
