/** The form of a configuration, from its JSON Schema and back, without a browser. */
import { describe, expect, test } from 'vitest';
import { faultOf } from '../../../web/src/configuration/fault-words.ts';
import { drafted, draftOf, fieldsOf, leavesOf } from '../../../web/src/configuration/schema-form.ts';

const schema = {
  type: 'object',
  required: ['column'],
  properties: {
    column: { type: 'string', title: 'Column', description: 'Whose values are summed.' },
    laps: { type: 'integer', default: 3 },
    factor: { type: 'number' },
    smooth: { type: 'boolean' },
    unit: { enum: ['km/h', 'm/s'] },
    gate: { type: 'object', properties: { width: { type: 'number' }, tags: { type: 'array' } } },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
};

const made = (configuration: Record<string, unknown>, changes: Record<string, string> = {}) => {
  const fields = fieldsOf(schema, configuration);
  return drafted(fields, { ...draftOf(fields, configuration), ...changes });
};

describe('the form of a configuration', () => {
  test('has a field for each property, groups for objects, and JSON for what it does not know', () => {
    const kinds = leavesOf(fieldsOf(schema, { more: { x: 1 } })).map(({ path, kind }) => [
      path.join('.'),
      kind,
    ]);
    expect(kinds).toEqual([
      ['column', 'text'],
      ['laps', 'integer'],
      ['factor', 'number'],
      ['smooth', 'choice'],
      ['unit', 'choice'],
      ['gate.width', 'number'],
      ['gate.tags', 'json'],
      ['either', 'json'],
      ['more', 'json'],
    ]);
    const [column, laps] = fieldsOf(schema, {});
    expect([column!.label, column!.hint, column!.required]).toEqual([
      'Column',
      'Whose values are summed.',
      true,
    ]);
    expect(laps!.hint).toBe('Default: 3.');
  });

  test('has the field of its values for what may be null too, and JSON where it is null', () => {
    const nullable = {
      properties: {
        column: { description: 'Its heading.', anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] },
        format: { anyOf: [{ type: 'string', enum: ['csv', 'json'] }, { type: 'null' }] },
        smooth: { type: ['boolean', 'null'] },
        rows: { type: ['integer', 'null'] },
        several: { type: ['string', 'number', 'null'] },
      },
    };
    const kinds = (configuration: Record<string, unknown>) =>
      leavesOf(fieldsOf(nullable, configuration)).map(({ kind }) => kind);
    expect(kinds({})).toEqual(['text', 'choice', 'choice', 'integer', 'json']);
    expect(fieldsOf(nullable, {})[0]!.hint).toBe('Its heading.');
    const nulls = { column: null, format: null, smooth: null, rows: null, several: null };
    expect(kinds(nulls)).toEqual(['json', 'json', 'json', 'json', 'json']);
    const fields = fieldsOf(nullable, nulls);
    expect(drafted(fields, draftOf(fields, nulls)).configuration).toEqual(nulls);
  });

  test('gives back what it was made from, entries of no property and false values too', () => {
    const configuration = {
      column: 'speed',
      laps: 0,
      factor: 0.5,
      smooth: false,
      unit: 'm/s',
      gate: { width: 2, tags: ['a'] },
      either: 7,
      more: { x: [1, null] },
    };
    expect(made(configuration)).toEqual({ configuration, faults: {} });
    expect(made({ column: '' })).toEqual({ configuration: { column: '' }, faults: {} });
  });

  test('leaves out what is empty, and reads what is typed', () => {
    const changes = { '$.laps': '', '$.factor': '1,5', '$.smooth': 'true', '$.gate.width': '4' };
    expect(made({ column: 'speed', laps: 2 }, changes).configuration).toEqual({
      column: 'speed',
      factor: 1.5,
      smooth: true,
      gate: { width: 4 },
    });
  });

  test('names the fields that hold no value of their type', () => {
    const changes = { '$.laps': '2.5', '$.factor': 'fast', '$.gate.tags': '[1,' };
    expect(made({ column: 'speed' }, changes).faults).toEqual({
      '$.laps': 'Enter a whole number',
      '$.factor': 'Enter a number',
      '$.gate.tags': 'Enter JSON, with text in double quotes',
    });
  });

  test('shows a value that the schema no longer allows as JSON, so that it can be mended', () => {
    const fields = fieldsOf(schema, { laps: 'three', unit: 'mph', gate: [] });
    const kinds = new Map(fields.map(({ path, kind }) => [path[0], kind]));
    expect(['laps', 'unit', 'gate'].map((name) => kinds.get(name))).toEqual(['json', 'json', 'json']);
  });

  test('of a schema without properties is the whole configuration as JSON', () => {
    const fields = fieldsOf({}, { a: 1 });
    expect(drafted(fields, { $: '{"b":2}' })).toEqual({ configuration: { b: 2 }, faults: {} });
    expect(drafted(fields, { $: '[1]' }).faults).toEqual({ $: 'Enter a JSON object' });
  });

  test('begins with what is required, within a group too', () => {
    const fields = fieldsOf({ ...schema, required: ['unit', 'column'] }, {});
    expect(fields.map(({ path }) => path[0]).slice(0, 3)).toEqual(['column', 'unit', 'laps']);
  });

  test('says beside a field what to do about a fault that the platform found', () => {
    const said = (path: string, fault: string) =>
      faultOf({ path: `$.configuration${path}`, message: `Does not match the schema: ${fault}.` });
    expect([
      said('.column', 'must NOT have fewer than 1 characters'),
      said('.column', 'must NOT have fewer than 3 characters'),
      said('.laps', 'must be >= 0'),
      said('.gate', "must have required property 'width'"),
      said('.unit', 'must be equal to one of the allowed values ("km/h", "m/s")'),
      said('.factor', 'must be multiple of 0.5'),
      faultOf({ path: '$.configuration.more', message: 'This property is not allowed by the schema.' }),
    ]).toEqual([
      ['$.column', 'Enter a value'],
      ['$.column', 'Enter at least 3 characters'],
      ['$.laps', 'Must be 0 or more'],
      ['$.gate.width', 'Enter a value'],
      ['$.unit', 'Must be one of "km/h", "m/s"'],
      ['$.factor', 'Must be a multiple of 0.5'],
      ['$.more', 'This property is not allowed by the schema.'],
    ]);
  });

  test('takes any name of a property', () => {
    const odd = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    const fields = fieldsOf(odd, {});
    const { configuration } = drafted(fields, { '$.__proto__': 'x' });
    expect(JSON.stringify(configuration)).toBe('{"__proto__":"x"}');
  });
});
