import { expect, test } from 'vitest';
import { isSameJson } from '../../domain/same-json.ts';

test('two values are the same JSON whatever the order of fields, and only then', () => {
  const same = [
    [{ a: [1, { b: null, c: 'x' }] }, { a: [1, { c: 'x', b: null }] }],
    [[], []],
    [0, -0],
  ];
  for (const [left, right] of same)
    expect([left, right, isSameJson(left, right)]).toEqual([left, right, true]);
  const others = [
    [
      [1, 2],
      [1, 2, 3],
    ],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, { b: undefined }],
    [{}, []],
    [{ 0: 1 }, [1]],
    [{}, null],
    [1, '1'],
  ];
  for (const [left, right] of others)
    expect([left, right, isSameJson(left, right), isSameJson(right, left)]).toEqual([
      left,
      right,
      false,
      false,
    ]);
});
