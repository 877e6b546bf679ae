import { describe, expect, test } from 'vitest';
import { tabularConfigurationSchema } from '../../../activities/builtin/tabular/configuration.ts';
import { tabularNode } from '../../../activities/builtin/tabular-node.ts';
import {
  checkConfigurationSchema,
  configurationValidator,
} from '../../../domain/templates/configuration-schema.ts';

const validate = configurationValidator(tabularNode.configurationSchema);
const right: [string, object][] = [
  ['nothing', {}],
  ['keys of others', { dataSourceName: 'platform', other: { deep: [1] } }],
  [
    'nulls',
    { inputFormat: null, timeColumn: null, groups: null, maxAutodetectSampleRows: null, whenNoOutputs: null },
  ],
  [
    'every key',
    {
      inputFormat: 'semicolon',
      encoding: 'windows-1250',
      timeColumn: 'time',
      timeColumnIsMs: true,
      baseCapturedAt: '2024-01-01T00:00:00+02:00',
      defaultRealm: 'car',
      realmPerFile: false,
      groups: [{ id: 'engine', name: 'Engine', channels: ['rpm', 'temp*'], colour: 'red' }, { id: 'b' }],
      defaultGroupId: 'rest',
      autoDetectTimeColumn: false,
      emitSuggestedLayout: true,
      whenNoOutputs: 'no-output',
      maxAutodetectSampleRows: 500,
    },
  ],
];
const wrong: [string, object][] = [
  ['an unknown format', { inputFormat: 'xlsx' }],
  ['an unknown encoding', { encoding: 'klingon' }],
  ['an empty time column', { timeColumn: '' }],
  ['a text for a flag', { timeColumnIsMs: 'yes' }],
  ['a group without an id', { groups: [{ name: 'x' }] }],
  ['groups that are no list', { groups: {} }],
  ['no rows to look at', { maxAutodetectSampleRows: 0 }],
  ['half a row to look at', { maxAutodetectSampleRows: 1.5 }],
  ['another outcome', { whenNoOutputs: 'ignore' }],
];

describe('the configuration of a tabular node', () => {
  test('is declared by a schema that the platform accepts', () => {
    expect(checkConfigurationSchema(tabularNode.configurationSchema, [])).toEqual([]);
  });

  test.each(right)('may hold %s, by the declared schema and by ours', (_, configuration) => {
    expect(validate(configuration, [])).toEqual([]);
    expect(tabularConfigurationSchema.parse(configuration)).toEqual(configuration);
  });

  test.each(wrong)('may not hold %s, by the declared schema and by ours', (_, configuration) => {
    expect(validate(configuration, [])).not.toEqual([]);
    expect(tabularConfigurationSchema.safeParse(configuration).success).toBe(false);
  });

  test('has a base time that exists', () => {
    expect(tabularConfigurationSchema.safeParse({ baseCapturedAt: '2024-02-30' }).success).toBe(false);
  });
});
