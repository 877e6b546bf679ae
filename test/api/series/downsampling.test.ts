import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Series } from '../../../api/series/reader.ts';
import { type Recorded, seriesStage, sourceOf } from './support.ts';

const { bench, reader } = await seriesStage();

interface Row {
  time: number;
  value: number | null;
}

function record(rows: readonly Row[]): Promise<Recorded> {
  const lines = rows.map(({ time, value }) => `${time},${value ?? ''},${value === null ? '' : value > 0}`);
  return bench.record(`time [ms],v,positive\n${lines.join('\n')}\n`, { timeColumn: 'time' });
}

/** A small generator of numbers from a seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Rows with gaps, bursts, equal times, missing values and rare extremes. */
function makeRows(count: number, seed: number): Row[] {
  const random = randomNumbers(seed);
  let time = Math.floor(random() * 1000);
  let isMissing = false;
  return Array.from({ length: count }, () => {
    const step = random();
    time += step < 0.2 ? 0 : step < 0.999 ? Math.floor(random() * 10) : Math.floor(random() * 20_000);
    if (random() < 0.002) isMissing = !isMissing;
    const value = isMissing || random() < 0.05 ? null : Math.round((random() - 0.5) * 100);
    return { time, value: random() < 0.0005 ? Math.round((random() - 0.5) * 1e6) : value };
  });
}

/**
 * What must hold of any reduced series: it is made of real rows, in order, few enough; and near every row (within one
 * stretch of time and one block) there are points at least as low and as high.
 */
function expectEnvelope(rows: readonly Row[], series: Series, maxPoints: number, blockRows: number): void {
  expect(series.times.length).toBeLessThanOrEqual(maxPoints);
  const known = new Set(rows.map(({ time, value }) => `${time} ${value}`));
  const times = new Set(rows.map(({ time }) => time));
  for (const [index, time] of series.times.entries()) {
    const value = series.values[index] ?? null;
    const isReal = value === null ? times.has(time) : known.has(`${time} ${value}`);
    if (!isReal) expect.fail(`The point ${time} ${value} is no row.`);
    if (index > 0 && time < (series.times[index - 1] as number))
      expect.fail(`The point at ${time} goes back.`);
  }
  if (rows.length === 0) return;
  const first = (rows[0] as Row).time;
  const last = (rows.at(-1) as Row).time;
  const stretch = (last - first) / Math.max(1, Math.floor(maxPoints / 4) - 2) + 1e-6;
  let low = 0;
  let high = 0;
  let lastRow = 0;
  for (const [index, { time, value }] of rows.entries()) {
    while (lastRow + 1 < rows.length && (rows[lastRow + 1] as Row).time <= time + stretch) lastRow++;
    if (value === null) continue;
    // Whole blocks belong to the stretch in which they begin, and may end after it.
    const from = (rows[Math.max(0, index - blockRows)] as Row).time - stretch;
    const to = (rows[Math.min(rows.length - 1, lastRow + blockRows)] as Row).time;
    while (low < series.times.length && (series.times[low] as number) < from) low++;
    while (high < series.times.length && (series.times[high] as number) <= to) high++;
    const near = series.values.slice(low, high).filter((each): each is number => typeof each === 'number');
    if (!near.some((each) => each <= value) || !near.some((each) => each >= value)) {
      expect.fail(`No point near ${time} reaches ${value}.`);
    }
  }
}

const within = <Timed extends { readonly time: number }>(
  rows: readonly Timed[],
  fromMs: number,
  toMs: number,
) => rows.filter(({ time }) => time >= fromMs && time <= toMs);

describe('a reduced series', () => {
  test('keeps minimum and maximum of every bucket, for any rows', async () => {
    const rowsOf = fc.array(
      fc.record({
        time: fc.integer({ min: 0, max: 2000 }),
        value: fc.option(fc.integer({ min: -1000, max: 1000 })),
      }),
      { minLength: 1, maxLength: 300 },
    );
    await fc.assert(
      fc.asyncProperty(rowsOf, fc.integer({ min: 4, max: 60 }), async (rows, maxPoints) => {
        const sorted = rows.toSorted((a, b) => a.time - b.time);
        const recorded = await record(sorted);
        const source = sourceOf(recorded, ['v']);
        const [series] = await reader.read({ sources: [source], maxPoints });
        if (rows.length <= maxPoints) {
          expect(series).toMatchObject({
            times: sorted.map((row) => row.time),
            values: sorted.map((row) => row.value),
          });
          return;
        }
        expectEnvelope(sorted, series as Series, maxPoints, 0);
        // For the rows themselves the stretches are known exactly.
        const buckets = Math.floor(maxPoints / 4);
        const [from, to] = [(sorted[0] as Row).time, (sorted.at(-1) as Row).time];
        const bucketOf = (time: number) =>
          Math.min(buckets - 1, to === from ? 0 : Math.floor((time - from) * (buckets / (to - from))));
        for (let bucket = 0; bucket < buckets; bucket++) {
          const values = sorted
            .filter((row) => bucketOf(row.time) === bucket && row.value !== null)
            .map((row) => row.value);
          const points = (series as Series).times.flatMap((time, index) =>
            bucketOf(time) === bucket ? [(series as Series).values[index]] : [],
          );
          if (values.length === 0) expect(points.every((value) => value === null)).toBe(true);
          else {
            expect(points).toContain(Math.min(...(values as number[])));
            expect(points).toContain(Math.max(...(values as number[])));
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  test('of many rows keeps them too, from the coarse level and in windows of any size', async () => {
    for (const seed of [1, 2]) {
      const rows = makeRows(120_000, seed);
      const recorded = await record(rows);
      const blockRows = recorded.description.overview?.blockRows ?? 0;
      expect(blockRows).toBe(512);
      const source = sourceOf(recorded, ['v', 'positive']);
      const random = randomNumbers(seed);
      const length = (rows.at(-1) as Row).time;
      for (const maxPoints of [40, 500, 4000]) {
        for (let window = 0; window < 6; window++) {
          const [a, b] = [random() * length, random() * length].sort((x, y) => x - y) as [number, number];
          const [fromMs, toMs] = window === 0 ? [0, length] : [Math.floor(a), Math.floor(b)];
          const [series, positive] = await reader.read({ sources: [source], fromMs, toMs, maxPoints });
          const inside = within(rows, fromMs, toMs);
          expectEnvelope(inside, series as Series, maxPoints, inside.length <= maxPoints ? 0 : blockRows);
          expect(positive?.times.length).toBeLessThanOrEqual(maxPoints);
          const seen = new Set(
            inside.filter(({ value }) => value !== null).map(({ value }) => (value ?? 0) > 0),
          );
          expect(new Set(positive?.values.filter((value) => value !== null))).toEqual(seen);
        }
      }
    }
  });

  test('of texts has every change, in any window, while they are few enough', async () => {
    const states = ['idle', 'run', '', 'stop'];
    const stateAt = (row: number) => states[Math.floor(row / 777) % states.length] as string;
    const rows = Array.from({ length: 60_000 }, (_, row) => `${row},${stateAt(row)},text ${row}`);
    const recorded = await bench.record(`time [ms],state,many\n${rows.join('\n')}\n`);
    for (const [fromMs, toMs] of [
      [0, 59_999],
      [1000, 41_000],
    ] as const) {
      const [state, many] = await reader.read({
        sources: [sourceOf(recorded)],
        fromMs,
        toMs,
        maxPoints: 200,
      });
      const changes = Array.from({ length: toMs - fromMs + 1 }, (_, index) => fromMs + index).filter(
        (row) => row === fromMs || row === toMs || stateAt(row) !== stateAt(row - 1),
      );
      expect(state?.times).toEqual(changes);
      expect(state?.values).toEqual(changes.map((row) => stateAt(row) || null));
      expect(many?.times.length).toBeLessThanOrEqual(200);
      expect(many?.times.every((time, index) => many.values[index] === `text ${time}`)).toBe(true);
      expect([many?.times[0], many?.times.at(-1)]).toEqual([fromMs, toMs]);
    }
  });

  test('of states is the same with the coarse level as from the rows, and few texts reach lowest and highest', async () => {
    const random = randomNumbers(3);
    const names = ['on', '"off"', '', 'Zug', 'ärger', 'x'.repeat(1100)];
    let [rare, often, time] = ['on', 'on', 0];
    const rows = Array.from({ length: 60_000 }, () => {
      if (random() < 0.003) rare = names[Math.floor(random() * names.length)] as string;
      if (random() < 0.3) often = (names[Math.floor(random() * names.length)] as string) || 'off';
      time += random() < 0.4 ? 0 : Math.floor(random() * 5);
      return { time, rare, often };
    });
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const lines = rows.map((row) => `${row.time},${quoted(row.rare)},${quoted(row.often)},text ${random()}`);
    const recorded = await bench.record(`time [ms],rare,often,free\n${lines.join('\n')}\n`);
    expect(recorded.description.overview?.texts?.map(({ column }) => column)).toEqual(['c1', 'c2']);
    const { overview: _, ...plain } = recorded.description;
    const real = new Set(rows.map((row) => `${row.time} ${row.often.slice(0, 1024)}`));
    for (let window = 0; window < 12; window++) {
      const [a, b] = [random() * time, random() * time].sort((x, y) => x - y) as [number, number];
      const [fromMs, toMs] = window === 0 ? [0, time] : [Math.floor(a), Math.floor(b)];
      const request = { fromMs, toMs, maxPoints: window % 2 === 0 ? 400 : 60 };
      const [source, rowsAlone] = [recorded, { ...recorded, description: plain }].map((one) =>
        sourceOf(one, ['rare']),
      );
      const [fast] = await reader.read({ sources: [source!], ...request });
      const [slow] = await reader.read({ sources: [rowsAlone!], ...request });
      const insideRows = within(rows, fromMs, toMs);
      const changes = insideRows.filter((row, index) => row.rare !== insideRows[index - 1]?.rare);
      if (changes.length < request.maxPoints) expect(fast).toEqual(slow);
      const [reduced] = await reader.read({ sources: [sourceOf(recorded, ['often'])], ...request });
      const wrong = reduced?.times.filter(
        (at, index) => reduced.values[index] !== null && !real.has(`${at} ${reduced.values[index]}`),
      );
      expect([wrong, (reduced?.times.length ?? 0) <= request.maxPoints]).toEqual([[], true]);
      const texts = (list: readonly unknown[]) =>
        list.filter((text) => typeof text === 'string' && text !== '').sort();
      const inside = texts(insideRows.map((row) => row.often.slice(0, 1024)));
      const shown = texts(reduced?.values ?? []);
      expect([shown[0], shown.at(-1)]).toEqual([inside[0], inside.at(-1)]);
    }
  });

  test('has points all along where rows are rare, beside bursts of most of the rows', async () => {
    const slow = (row: number) => 12_000 * row;
    const fast = Array.from({ length: 60_000 }, (_, row) => (row < 30_000 ? 0 : slow(1500)) + row / 100);
    const times = [...fast, ...Array.from({ length: 3000 }, (_, row) => slow(row + 1))].sort((a, b) => a - b);
    const rows = times.map((time) => ({ time, value: Math.round(100 * Math.sin(time / 1e6)) }));
    const recorded = await record(rows);
    const source = sourceOf(recorded, ['v', 'positive']);
    // The second window ends within a block that begins in a burst.
    for (const toMs of [slow(3000), slow(150)]) {
      const [series, positive] = await reader.read({ sources: [source], toMs, maxPoints: 220 });
      expectEnvelope(within(rows, 0, toMs), series as Series, 220, 512);
      for (const read of [series, positive]) {
        const steps = read!.times.map((time, index) => time - (read!.times[index - 1] ?? 0));
        expect(Math.max(...steps)).toBeLessThan(toMs / 12);
      }
    }
  });

  test('breaks the line where a stretch has rows without any value', async () => {
    const rows = Array.from({ length: 1000 }, (_, time) => ({
      time,
      value: time >= 400 && time < 600 ? null : time,
    }));
    const [series] = await reader.read({ sources: [sourceOf(await record(rows), ['v'])], maxPoints: 100 });
    expect(series?.values.filter((value) => value === null)).toHaveLength(1);
  });

  test('of one instant is its lowest and highest', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => ({ time: 5, value: (index * 37) % 100 }));
    const [series] = await reader.read({ sources: [sourceOf(await record(rows), ['v'])], maxPoints: 10 });
    expect(new Set(series?.values)).toEqual(
      new Set([0, 63, 99].filter((value) => series?.values.includes(value))),
    );
    expect(series?.values).toContain(0);
    expect(series?.values).toContain(99);
    const long = Array.from({ length: 60_000 }, (_, index) => ({ time: 5, value: index % 77 }));
    const [coarse] = await reader.read({ sources: [sourceOf(await record(long), ['v'])], maxPoints: 40 });
    expect(coarse?.values.length).toBeLessThanOrEqual(40);
    expect(coarse?.values).toEqual(expect.arrayContaining([0, 76]));
  });
});

describe('a range', () => {
  test('is inclusive, and empty outside of the recording', async () => {
    const recorded = await record(Array.from({ length: 10 }, (_, time) => ({ time, value: time })));
    const read = async (fromMs?: number, toMs?: number) =>
      (await reader.read({ sources: [sourceOf(recorded, ['v'])], fromMs, toMs, maxPoints: 100 }))[0]?.values;
    expect(await read(3, 5)).toEqual([3, 4, 5]);
    expect(await read(8)).toEqual([8, 9]);
    expect(await read(undefined, 0.5)).toEqual([0]);
    expect(await read(20, 30)).toEqual([]);
    expect(await read(5, 3)).toEqual([]);
  });
});
