/** A key figure over the sessions of a project, without a browser. */
import { expect, test } from 'vitest';
import type { SessionListRow } from '../../../client/types.ts';
import {
  figurePaths,
  figureText,
  outputPaths,
  outputTrendOf,
  trendOf,
} from '../../../web/src/project/trend.ts';

const session = (id: string, day: number, metadata: object | null, outputBytes = 2 * 2 ** 20) =>
  ({
    id,
    name: id,
    createdAt: `2026-03-0${day}T00:00:00Z`,
    metadata,
    outputBytes,
  }) as unknown as SessionListRow;

const sessions = [
  session('c', 3, { top: { speed: 300, gear: 8 }, driver: 'MV', laps: [1, 2] }),
  session('b', 2, { top: { speed: 310 }, lap: 92.5 }),
  session('a', 1, null),
];

test('the numbers of metadata are offered: pinned ones first, then the most frequent, and the size', () => {
  expect(figurePaths(sessions, ['lap'])).toEqual(['lap', 'top.speed', 'top.gear', 'size of outputs']);
});

test('a figure is drawn from the oldest session on, of those that have it', () => {
  expect(trendOf(sessions, 'top.speed').map(({ id, value }) => [id, value])).toEqual([
    ['b', 310],
    ['c', 300],
  ]);
  expect(trendOf(sessions, 'size of outputs').map(({ value }) => value)).toEqual(Array(3).fill(2 ** 21));
  expect(figureText('lap', 4.16866, 9)).toBe('4.16866');
  expect(trendOf(sessions, 'driver')).toEqual([]);
});

test('the sizes of a chart have one unit, that of the largest', () => {
  const texts = (sizes: readonly number[]) =>
    sizes.map((size) => figureText('size of outputs', size, Math.max(...sizes)));
  expect(texts([4.2 * 2 ** 20, 300 * 2 ** 10, 0])).toEqual(['4.2 MB', '0.293 MB', '0 MB']);
  expect(texts([512, 7])).toEqual(['512 B', '7 B']);
  expect(texts([2 ** 30 - 1])).toEqual(['1 GB']);
});

test('a figure of outputs is drawn of the sessions that have it; those of most are offered first', () => {
  const figures = new Map([
    [
      'c',
      new Map([
        ['Laps', 24],
        ['Top speed [km/h]', 341.7],
      ]),
    ],
    ['a', new Map([['Top speed [km/h]', 301.5]])],
  ]);
  const [first, second] = outputPaths(figures);
  expect([first, second]).toEqual(['outputs: Top speed [km/h]', 'outputs: Laps']);
  expect(outputTrendOf(sessions, figures, first!).map(({ id, value }) => [id, value])).toEqual([
    ['a', 301.5],
    ['c', 341.7],
  ]);
  expect(outputTrendOf(sessions, figures, 'outputs: Weight')).toEqual([]);
});
