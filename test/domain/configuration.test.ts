import { describe, expect, test } from 'vitest';
import {
  groupConfiguration,
  isBelowPrefix,
  isConfigurationName,
  isConfigurationValue,
  type ValueType,
  valueTypes,
} from '../../domain/configuration.ts';

describe('configuration names', () => {
  test.each(['a', 'A:b', 'PublicApi:Ui:Title', 'x_y-z.1', '__proto__:constructor', 'a'.repeat(200)])(
    '%s is one',
    (name) => {
      expect(isConfigurationName(name)).toBe(true);
    },
  );
  test.each(['', ':', 'a:', ':a', 'a::b', 'a b', 'a/b', 'é', 'a\n', 'a'.repeat(201)])(
    '%j is none',
    (name) => {
      expect(isConfigurationName(name)).toBe(false);
    },
  );
});

describe('configuration values', () => {
  const cases: [ValueType, string, boolean][] = [
    ...['', 'anything', 'é'].map((text): [ValueType, string, boolean] => [valueTypes.string, text, true]),
    [valueTypes.string, 'a\u0000', false],
    [valueTypes.string, 'é'.repeat(32_768), true],
    [valueTypes.string, 'é'.repeat(32_769), false],
    [valueTypes.integer, '-12', true],
    [valueTypes.integer, '9007199254740991', true],
    ...['9007199254740993', '1.0', '', ' 1', '0x1', '1e3'].map((text): [ValueType, string, boolean] => [
      valueTypes.integer,
      text,
      false,
    ]),
    ...['1', '-1.5', '.5', '1e-3'].map((text): [ValueType, string, boolean] => [
      valueTypes.number,
      text,
      true,
    ]),
    ...['', 'NaN', 'Infinity', '1e999', '1,5'].map((text): [ValueType, string, boolean] => [
      valueTypes.number,
      text,
      false,
    ]),
    [valueTypes.bool, 'true', true],
    [valueTypes.bool, 'False', true],
    ...['1', 'trueish', 'untrue'].map((text): [ValueType, string, boolean] => [valueTypes.bool, text, false]),
    [valueTypes.json, '{"a":[1,null]}', true],
    ...['', '{', '{"a":1,"a":2}', `${'['.repeat(65)}${']'.repeat(65)}`].map(
      (text): [ValueType, string, boolean] => [valueTypes.json, text, false],
    ),
  ];
  test.each(cases)('type %i, %.40j: %s', (type, text, fits) => {
    expect(isConfigurationValue(type, text)).toBe(fits);
  });
});

test('a prefix covers its own name and the names below it, and no longer word', () => {
  const prefixes = ['PublicApi', 'Ui:Colours', 'Open:'];
  expect(
    [
      'PublicApi',
      'PublicApi:A',
      'PublicApis:A',
      'publicapi:A',
      'Ui',
      'Ui:Colours:Red',
      'Ui:Coloursx',
      'Open:A',
      'Open',
    ].filter((name) => isBelowPrefix(name, prefixes)),
  ).toEqual(['PublicApi', 'PublicApi:A', 'Ui:Colours:Red', 'Open:A']);
});

test('entries are grouped by first, second and remaining segments, for any names of segments', () => {
  const entries = ['One', 'A:B', 'A:B:C', 'A:B:C:D', '__proto__:constructor:__proto__'].map((name) => ({
    name,
  }));
  const groups = groupConfiguration(entries);
  expect(Object.keys(groups)).toEqual(['General', 'A', '__proto__']);
  expect(JSON.parse(JSON.stringify(groups))).toEqual(
    JSON.parse(
      '{"General":{"One":{"":{"name":"One"}}},' +
        '"A":{"B":{"":{"name":"A:B"},"C":{"name":"A:B:C"},"C:D":{"name":"A:B:C:D"}}},' +
        '"__proto__":{"constructor":{"__proto__":{"name":"__proto__:constructor:__proto__"}}}}',
    ),
  );
});
