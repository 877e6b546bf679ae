/** What `npm run bench -- --against REF` prints of the figures of two commits. */
import { expect, test } from 'vitest';
import { comparisonTable, type Round } from '../bench/support/comparison.ts';
import type { Figure } from '../bench/support/figures.ts';

const figure = (name: string, median: number, unit = 'ms'): Figure => ({
  name,
  unit,
  median,
  p95: null,
  floor: null,
  ratio: null,
  aim: null,
});

test('a comparison has the ratios within rounds, in which a machine that becomes slower does not show', () => {
  const rounds: Round[] = [
    { area: 'runs', before: [figure('claim', 10)], now: [figure('claim', 5)] },
    // The machine has become four times as slow.
    { area: 'runs', before: [figure('claim', 40)], now: [figure('claim', 20)] },
    { area: 'runs', before: [figure('claim', 40)], now: [figure('claim', 24)] },
    {
      area: 'http',
      before: [figure('GET', 100, 'a second')],
      now: [figure('GET', 150, 'a second'), figure('new', 1)],
    },
  ];
  expect(comparisonTable('abc1234', rounds).split('\n')).toEqual([
    '| Area | Figure | abc1234 | This commit | Ratio | Of the rounds |',
    '|---|---|---|---|---|---|',
    '| runs | claim | 40 ms | 20 ms | 0.5 | 0.5 to 0.6 |',
    '| http | GET | 100 a second | 150 a second | 1.5 | 1.5 to 1.5 |',
    '',
    'Only one of the two has: http: new.',
    '',
  ]);
});
