import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallerQueue } from '../../../api/series/caller-queue.ts';
import { type Recorded, SeriesBench, sourceOf } from './support.ts';

let bench: SeriesBench;
let small: Recorded;
let large: Recorded;
beforeAll(async () => {
  bench = await SeriesBench.open();
  small = await bench.record('time,v\n0,1\n1,2\n');
  const rows = Array.from({ length: 200_000 }, (_, row) => `${row},${row % 7}`);
  large = await bench.record(`time,v\n${rows.join('\n')}\n`);
});
afterAll(() => bench.close());

test('one caller has all places but one, and callers come in turn', () => {
  const queue = new CallerQueue(3);
  for (const id of [1, 2, 3, 4]) queue.add(id, 'greedy');
  const started = () => [queue.next(), queue.next(), queue.next()];
  expect(started()).toEqual([1, 2, undefined]);
  queue.add(11, 'other');
  queue.add(12, 'other');
  expect(started()).toEqual([11, undefined, undefined]);
  queue.add(21, 'third');
  queue.end(1);
  // Greedy has one under way, as other has; the third none.
  expect(started()).toEqual([21, undefined, undefined]);
  queue.end(2);
  queue.end(11);
  // Greedy's last start is the longer ago.
  expect(started()).toEqual([3, 12, undefined]);
  queue.leave(4);
  for (const id of [3, 12, 21]) queue.end(id);
  expect([queue.next(), queue.waiting, queue.running]).toEqual([undefined, 0, []]);
});

test('a single place goes to everyone', () => {
  const queue = new CallerQueue(1);
  for (const [id, caller] of [
    [1, 'greedy'],
    [2, 'greedy'],
    [3, 'other'],
  ] as const)
    queue.add(id, caller);
  const started = [1, 2, 3].map(() => {
    const id = queue.next()!;
    queue.end(id);
    return id;
  });
  expect(started).toEqual([1, 3, 2]);
});

test('a caller with many long reads does not delay the reads of another', async () => {
  const reader = await bench.reader();
  let done = 0;
  const reads = Array.from({ length: 12 }, async () => {
    const derived = { sources: [sourceOf(large)], maxPoints: 1000, sameRows: true, caller: 'greedy' };
    await reader.traces(derived);
    done += 1;
  });
  await expect.poll(() => done, { interval: 1 }).toBeGreaterThan(0);
  const before = done;
  await reader.read({ sources: [sourceOf(small)], maxPoints: 10, caller: 'other' });
  expect(done - before).toBeLessThan(4);
  await Promise.all(reads);
  await reader.close();
});
