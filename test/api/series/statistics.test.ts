import { describe, expect, test } from 'vitest';
import { type Recorded, seriesStage, sourceOf } from './support.ts';

const { bench, reader } = await seriesStage();

interface Row {
  time: number;
  value: number | null;
  on: boolean | null;
  word: string;
}

/** A small generator of numbers that a seed repeats. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Rows with gaps, equal times, missing values, and states that last. */
function makeRows(count: number, seed: number): Row[] {
  const random = randomNumbers(seed);
  let [time, on, word] = [1000, true as boolean | null, 'soft'];
  return Array.from({ length: count }, () => {
    time += random() < 0.3 ? 0 : Math.floor(random() * 20);
    if (random() < 0.003) on = random() < 0.2 ? null : random() < 0.5;
    if (random() < 0.002) word = ['soft', 'medium', 'hard', ''][Math.floor(random() * 4)] as string;
    const value = random() < 0.05 ? null : Math.round((1_000_000 + random()) * 1000) / 1000;
    return { time, value, on, word };
  });
}

const record = (rows: readonly Row[]): Promise<Recorded> =>
  bench.record(
    `time [ms],v,on,word,free\n${rows.map(({ time, value, on, word }, row) => `${time},${value ?? ''},${on ?? ''},${word},text ${row}`).join('\n')}\n`,
    { timeColumn: 'time' },
  );

function expected(rows: readonly Row[]) {
  const some = rows.filter(({ value }) => value !== null) as (Row & { value: number })[];
  const mean = some.reduce((sum, { value }) => sum + value, 0) / some.length;
  const squares = some.reduce((sum, { value }) => sum + (value - mean) ** 2, 0);
  const first = (best: (a: number, b: number) => boolean) =>
    some.reduce((found, row) => (best(row.value, found.value) ? row : found));
  const [min, max] = [first((a, b) => a < b), first((a, b) => a > b)];
  return {
    count: some.length,
    missing: rows.length - some.length,
    min: { value: min.value, time: min.time },
    max: { value: max.value, time: max.time },
    mean,
    standardDeviation: Math.sqrt(squares / (some.length - 1)),
  };
}

function expectedStates<Value>(rows: readonly Row[], of: (row: Row) => Value | null) {
  const held = new Map<Value, number>();
  for (const [index, row] of rows.entries()) {
    const value = of(row);
    if (value === null) continue;
    const next = rows[index + 1]?.time ?? row.time;
    held.set(value, (held.get(value) ?? 0) + next - row.time);
  }
  const whole = [...held.values()].reduce((sum, ms) => sum + ms, 0);
  return [...held]
    .map(([value, ms]) => ({ value, ms, share: ms / whole }))
    .sort((a, b) => b.ms - a.ms || (String(a.value) < String(b.value) ? -1 : 1));
}

describe('statistics', () => {
  test.each(['with moments', 'without moments', 'without a coarse level'])(
    'of any window are those of its rows, from a recording %s',
    async (kind) => {
      const rows = makeRows(60_000, 7);
      const recorded = await record(rows);
      const { overview, ...rest } = recorded.description;
      if (overview === undefined) throw new Error('The recording has no coarse level.');
      expect(overview.moments).toBe(true);
      const { moments: _moments, texts, ...old } = overview;
      const description = {
        'with moments': recorded.description,
        'without moments': { ...rest, overview: { ...old, texts } },
        'without a coarse level': rest,
      }[kind];
      const source = { ...sourceOf(recorded), description: description as Recorded['description'] };
      const random = randomNumbers(11);
      const end = (rows.at(-1) as Row).time;
      for (let window = 0; window < 8; window++) {
        // Some begin or end at rows whose time others share.
        const at = () => (rows[Math.floor(random() * rows.length)] as Row).time;
        const [fromMs, toMs] =
          window === 0 ? [0, end] : ([at(), at()].sort((a, b) => a - b) as [number, number]);
        const inside = rows.filter(({ time }) => time >= fromMs && time <= toMs);
        const [v, on, word, free] = await reader.statistics({ sources: [source], fromMs, toMs });
        const { mean, standardDeviation, ...exact } = expected(inside);
        expect(v).toMatchObject({ channel: 'v', ...exact, states: null });
        expect(v?.mean).toBeCloseTo(mean, 6);
        expect(v?.standardDeviation).toBeCloseTo(standardDeviation, 8);
        const onRows = inside.filter((row) => row.on !== null).length;
        expect(on).toMatchObject({ count: onRows, missing: inside.length - onRows, mean: null, min: null });
        const close = (states: unknown) =>
          (states as { value: unknown; ms: number; share: number }[]).map(({ value, ms, share }) => ({
            value,
            ms,
            share: expect.closeTo(share, 9),
          }));
        expect(on?.states).toEqual(close(expectedStates(inside, (row) => row.on)));
        expect(word?.states).toEqual(close(expectedStates(inside, (row) => row.word || null)));
        expect(word?.count).toBe(inside.filter((row) => row.word !== '').length);
        // A text that hardly repeats is no state; a short window shows few of them.
        expect(free).toMatchObject({ count: inside.length, missing: 0 });
        if (inside.length > 5000) expect(free?.states).toBeNull();
      }
    },
    120_000,
  );

  test('of a window without rows are empty, and of one row have no spread', async () => {
    const recorded = await bench.record('time [ms],v,s\n0,1,a\n10,2,b\n20,3,b\n', { timeColumn: 'time' });
    const read = (fromMs: number, toMs: number) =>
      reader.statistics({ sources: [sourceOf(recorded)], fromMs, toMs });
    const empty = { count: 0, missing: 0, min: null, max: null, mean: null, standardDeviation: null };
    for (const [from, to] of [
      [2, 5],
      [30, 40],
    ] as const)
      expect(await read(from, to)).toMatchObject([
        { ...empty, states: null },
        { ...empty, states: [] },
      ]);
    const one = { value: 2, time: 10 };
    expect(await read(10, 10)).toMatchObject([
      { count: 1, missing: 0, min: one, max: one, mean: 2, standardDeviation: null },
      { count: 1, states: [{ value: 'b', ms: 0, share: 1 }] },
    ]);
  });

  test('of equal extremes name the first', async () => {
    const rows = Array.from({ length: 60_000 }, (_, row) => `${row},${row % 1000}`).join('\n');
    const recorded = await bench.record(`time [ms],v\n${rows}\n`, { timeColumn: 'time' });
    const [v] = await reader.statistics({ sources: [sourceOf(recorded)], fromMs: 100 });
    expect([v?.min, v?.max]).toEqual([
      { value: 0, time: 1000 },
      { value: 999, time: 999 },
    ]);
  });
});
