import { expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { isMetadataPath, metadataAt, metadataKeys } from '../../domain/sessions/metadata-keys.ts';

test('names the paths of plain values and lists, the most frequent first, with different samples', () => {
  expect(
    metadataKeys([
      { track: { name: 'Spa', length: 7004 }, wet: false, tags: ['night', 'test', { deep: 1 }], note: null },
      { track: { name: 'Monza' }, wet: true },
      { track: { name: 'Spa' }, empty: {}, none: [] },
    ]),
  ).toEqual([
    { path: 'track.name', sessions: 3, samples: ['Spa', 'Monza'] },
    { path: 'wet', sessions: 2, samples: [false, true] },
    { path: 'tags', sessions: 1, samples: ['night', 'test'] },
    { path: 'track.length', sessions: 1, samples: [7004] },
  ]);
});

test('leaves out people, and names that a path cannot have', () => {
  const people = { openedBy: 'somebody', closedBy: 'somebody', participants: ['somebody'] };
  const odd = { 'a.b': 1, '': 2, __proto__: 3, [`x${'y'.repeat(limits.queryPathCharacters)}`]: 4 };
  expect(
    metadataKeys([{ ...people, ...odd, inner: { openedBy: 'a word' } }]).map(({ path }) => path),
  ).toEqual(['inner.openedBy']);
});

test('bounds the paths and the samples', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at]));
  expect(metadataKeys([many])).toHaveLength(limits.metadataKeys);
  const [key] = metadataKeys(Array.from({ length: 50 }, (_, at) => ({ run: at, long: 'x'.repeat(101) })));
  expect(key).toEqual({ path: 'long', sessions: 50, samples: [] });
  expect(metadataKeys(Array.from({ length: 50 }, (_, at) => ({ run: at })))[0]!.samples).toHaveLength(
    limits.metadataKeySamples,
  );
});

test.each([
  ['a', true],
  ['a.b.0', true],
  ['', false],
  ['a..b', false],
  ['.a', false],
  ['openedBy', false],
  ['participants.0', false],
  ['a.openedBy', true],
  ['\u0000', false],
  [Array.from({ length: 21 }, () => 'a').join('.'), false],
])('%j is a path: %s', (path, expected) => {
  expect(isMetadataPath(path)).toBe(expected);
});

test('reads the value at a path, of own names alone', () => {
  const metadata = { track: { name: 'Spa', corners: ['Eau Rouge', { name: 'Pouhon' }] }, none: null };
  expect(metadataAt(metadata, 'track.name')).toBe('Spa');
  expect(metadataAt(metadata, 'track.corners.1.name')).toBe('Pouhon');
  expect(metadataAt(metadata, 'none')).toBeNull();
  for (const path of [
    'other',
    'track.name.length',
    'track.corners.length',
    'none.x',
    'constructor',
    '__proto__',
  ])
    expect(metadataAt(metadata, path)).toBeUndefined();
  expect(metadataAt(null, 'track')).toBeUndefined();
});
