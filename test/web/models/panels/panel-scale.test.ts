/** Scales of XY, track and histogram panels, without a browser. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../../../domain/limits.ts';
import { nodesOf, parseDerived } from '../../../../domain/recordings/derived-syntax.ts';
import { startComputing } from '../../../../domain/recordings/derived-values.ts';
import { binShares, edgeQuestion } from '../../../../web/src/dashboard/panels/model.ts';
import { ticksOf, toScale } from '../../../../web/src/dashboard/panels/scale.ts';

const texts = (min: number, max: number) => ticksOf({ min, max }).map(({ text }) => text);

test('marks stand at round numbers, with as many digits as tell them apart', () => {
  expect(texts(112.3457, 341.7)).toEqual(['150', '200', '250', '300']);
  expect(texts(0, 4326.6)).toEqual(['0', '1,000', '2,000', '3,000', '4,000']);
  expect(texts(0, 1)).toEqual(['0', '0.2', '0.4', '0.6', '0.8', '1']);
  expect(texts(47.218519, 47.226519)).toEqual(['47.22', '47.222', '47.224', '47.226']);
  expect(texts(-0.5, 0.5)).toEqual(['-0.4', '-0.2', '0', '0.2', '0.4']);
  expect(texts(0, 4e12).at(-1)).toBe('4e+12');
});

test('marks of any range are two to six different texts, and within it', () => {
  const range = fc.tuple(
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
  );
  fc.assert(
    fc.property(range, ([min, span]) => {
      const marks = ticksOf({ min, max: min + span });
      const different = new Set(marks.map(({ text }) => text)).size;
      expect(different).toBe(marks.length);
      expect(different).toBeGreaterThanOrEqual(2);
      expect(different).toBeLessThanOrEqual(6);
      for (const { value } of marks) {
        expect(value).toBeGreaterThanOrEqual(min - span / 1e5);
        expect(value).toBeLessThanOrEqual(min + span * (1 + 1e-5));
      }
    }),
  );
});

test('a track has as many pixels a metre across as up, and lies wholly within', () => {
  const place = { x: { min: 14.75, max: 14.77 }, y: { min: 47.215, max: 47.225 } };
  for (const [width, height] of [
    [800, 240],
    [240, 800],
  ] as const) {
    const { x, y } = toScale(place, width, height);
    const metresAcross = ((x.max - x.min) * Math.cos((47.22 * Math.PI) / 180)) / width;
    expect(metresAcross).toBeCloseTo((y.max - y.min) / height, 9);
    expect(x.min <= place.x.min && x.max >= place.x.max && y.min <= place.y.min && y.max >= place.y.max).toBe(
      true,
    );
  }
  // Metres of a local grid are no degrees.
  const { x, y } = toScale({ x: { min: 0, max: 100 }, y: { min: 500, max: 600 } }, 200, 100);
  expect([x.max - x.min, y.max - y.min]).toEqual([200, 100]);
});

test('a histogram counts every value in one bin, also of a long expression', () => {
  const long = { name: 'long', unit: null, expression: `${'v + '.repeat(20)}v` };
  const values = Float64Array.from({ length: 1000 }, (_, row) => (row * 37) % 161);
  const sums = values.map((value) => 21 * value);
  const edges = edgeQuestion('=long', [long], { min: Math.min(...sums), max: Math.max(...sums) });
  const parsed = edges.map(({ expression }) => parseDerived(expression));
  expect(parsed.reduce((sum, one) => sum + nodesOf(one), 0)).toBeLessThanOrEqual(limits.derivedNodesInAll);
  const above = parsed.map((one) => {
    const found = startComputing(one)({ times: values, column: () => values, rows: values.length });
    return found.reduce((sum, value) => sum + value, 0) / found.length;
  });
  const counts = Array.from({ length: 16 }, () => 0);
  for (const sum of sums) counts[Math.min(15, Math.floor(sum / 210))]! += 1;
  const shares = binShares(above);
  expect(shares.map((share) => Math.round(share * 1000))).toEqual(counts);
});
