import { expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { isMetadataPath, metadataAt, metadataKeys } from '../../domain/sessions/metadata-keys.ts';

test('names the paths of plain values and lists, the most frequent first, with different samples', async () => {
  expect(
    await metadataKeys([
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

test('leaves out people, and names that a path cannot have', async () => {
  const people = { openedBy: 'somebody', closedBy: 'somebody', participants: ['somebody'] };
  const odd = { 'a.b': 1, '': 2, __proto__: 3, [`x${'y'.repeat(limits.queryPathCharacters)}`]: 4 };
  expect(
    (await metadataKeys([{ ...people, ...odd, inner: { openedBy: 'a word' } }])).map(({ path }) => path),
  ).toEqual(['inner.openedBy']);
});

test('bounds the paths and the samples', async () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at]));
  expect(await metadataKeys([many])).toHaveLength(limits.metadataKeys);
  const [key] = await metadataKeys(
    Array.from({ length: 50 }, (_, at) => ({ run: at, long: 'x'.repeat(101) })),
  );
  expect(key).toEqual({ path: 'long', sessions: 50, samples: [] });
  const [run] = await metadataKeys(Array.from({ length: 50 }, (_, at) => ({ run: at })));
  expect(run!.samples).toHaveLength(limits.metadataKeySamples);
});

test('of thousands of paths it names the most frequent, equal ones by their names', async () => {
  const sessions = Array.from({ length: 40 }, (_, session) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${session * 50 + at}`, at])),
  );
  const counts = new Map<string, number>();
  for (const key of sessions.flatMap(Object.keys)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const expected = [...counts]
    .sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1))
    .slice(0, limits.metadataKeys);
  expect((await metadataKeys(sessions)).map(({ path, sessions }) => [path, sessions])).toEqual(expected);
});

test('pauses after each metadata, so that other work is done between them', async () => {
  let pauses = 0;
  await metadataKeys([{ a: 1 }, { b: 2 }, { c: 3 }], async () => {
    pauses += 1;
  });
  expect(pauses).toBe(6);
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
