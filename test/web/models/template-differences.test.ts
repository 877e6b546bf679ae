import { expect, test } from 'vitest';
import { differences, settingText } from '../../../web/src/templates/differences.ts';

test('of two configurations the settings that differ are named by their paths', () => {
  const before = {
    column: 'velocity',
    gate: { width: 3, side: 'left' },
    series: ['speed', { a: 1 }],
    gone: null,
    same: { a: [1, { b: 2 }], c: null },
  };
  const after = {
    column: 'speed',
    laps: 12,
    gate: { width: 4, side: 'left' },
    series: ['speed', { a: 2 }],
    same: { c: null, a: [1, { b: 2 }] },
  };
  expect(differences(before, after)).toEqual([
    { path: 'column', before: 'velocity', after: 'speed' },
    { path: 'laps', before: undefined, after: 12 },
    { path: 'gate.width', before: 3, after: 4 },
    { path: 'series', before: ['speed', { a: 1 }], after: ['speed', { a: 2 }] },
    { path: 'gone', before: null, after: undefined },
  ]);
  expect(differences(after, after)).toEqual([]);
});

test('a group takes the place of a value, and a name that every object has is a setting as any other', () => {
  expect(differences({ gate: 3 }, { gate: { width: 3 }, constructor: 'x' })).toEqual([
    { path: 'gate', before: 3, after: { width: 3 } },
    { path: 'constructor', before: undefined, after: 'x' },
  ]);
});

test('a setting is written on one line where it is short', () => {
  expect([settingText('speed'), settingText(null), settingText({ a: [1] })]).toEqual([
    '"speed"',
    'null',
    '{"a":[1]}',
  ]);
  expect(settingText({ text: 'x'.repeat(60) })).toContain('\n');
});
