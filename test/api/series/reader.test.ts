import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { SeriesChild } from '../../../api/series/child-handle.ts';
import {
  SeriesBusy,
  type SeriesReader,
  SeriesTimeout,
  SeriesUnavailable,
  SourceBroken,
  UnknownChannel,
} from '../../../api/series/reader.ts';
import { type Recorded, SeriesBench, sourceOf } from './support.ts';

let bench: SeriesBench;
let small: Recorded;
let other: Recorded;
let large: Recorded;
beforeAll(async () => {
  bench = await SeriesBench.open();
  small = await bench.record('time,v\n0,1\n1,2\n');
  other = await bench.record('time,v\n0,3\n1,4\n');
  const rows = Array.from({ length: 400_000 }, (_, row) => `${row},text ${row},${row % 7}`);
  large = await bench.record(`time,s,v\n${rows.join('\n')}\n`);
});
afterAll(() => bench.close());

async function withReader<T>(
  settings: Parameters<SeriesBench['reader']>[0],
  work: (reader: SeriesReader) => Promise<T>,
): Promise<T> {
  const reader = await bench.reader(settings);
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

/** Processes that read series for this test process. */
function readerPids(): number[] {
  const output = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], {
    encoding: 'utf8',
  });
  return output
    .split('\n')
    .filter((line) => line.includes('api/series/child.ts'))
    .map((line) => Number(line.trim().split(' ')[0]));
}

const valuesOf = async (reader: SeriesReader, recorded: Recorded) =>
  (await reader.read({ sources: [sourceOf(recorded)], maxPoints: 10 })).map((series) => series.values);

describe('the reader', () => {
  test('reads several recordings at once and answers in the order asked', async () => {
    await withReader({}, async (reader) => {
      const series = await reader.read({
        sources: [sourceOf(other), sourceOf(large, ['v', 's']), sourceOf(small)],
        toMs: 1000,
        maxPoints: 10,
      });
      expect(series.map(({ source, channel, values }) => [source, channel, values])).toEqual([
        [0, 'v', [3, 4]],
        [1, 'v', [0, 1]],
        [1, 's', ['text 0', 'text 1']],
        [2, 'v', [1, 2]],
      ]);
    });
  });

  test('refuses invalid requests before any download', async () => {
    const loads = small.loads;
    await withReader({ cacheDir: join(bench.folder, 'wrong') }, async (reader) => {
      const source = sourceOf(small);
      const wrong = [
        { sources: [source], maxPoints: 3 },
        { sources: [source], maxPoints: 1.5 },
        { sources: [source], maxPoints: 1_000_000 },
        { sources: [source], maxPoints: 10, fromMs: Number.NaN },
        { sources: [{ ...source, key: '../../etc/passwd' }], maxPoints: 10 },
        { sources: Array.from({ length: 50 }, () => source), maxPoints: 100_000 },
      ];
      for (const request of wrong) await expect(reader.read(request)).rejects.toBeInstanceOf(RangeError);
      await expect(
        reader.read({ sources: [sourceOf(small, ['nope'])], maxPoints: 10 }),
      ).rejects.toBeInstanceOf(UnknownChannel);
    });
    expect(small.loads).toBe(loads);
  });

  test('accepts only column names of the platform in a description', async () => {
    await withReader({}, async (reader) => {
      const source = sourceOf(small);
      const [channel] = source.description.channels;
      const description = {
        ...source.description,
        channels: [{ id: 'v', type: 'number' as const, column: `c1, getenv('HOME')` }],
      };
      expect(channel?.column).toBe('c1');
      await expect(reader.read({ sources: [{ ...source, description }], maxPoints: 10 })).rejects.toThrow(
        /impossible/,
      );
    });
  });

  test('restarts a killed process, also within a request', async () => {
    await withReader({}, async (reader) => {
      expect(await valuesOf(reader, small)).toEqual([[1, 2]]);
      const [before] = readerPids();
      process.kill(before as number, 'SIGKILL');
      expect(await valuesOf(reader, small)).toEqual([[1, 2]]);
      const [after] = readerPids();
      expect(after).not.toBe(before);
      const reading = reader.read({ sources: [sourceOf(large)], maxPoints: 1000 });
      process.kill(after as number, 'SIGKILL');
      expect((await reading)[0]?.times.length).toBeGreaterThan(100);
    });
    await expect.poll(readerPids).toEqual([]);
  });

  test('cancels a request that takes too long, and continues', async () => {
    await withReader({ requestTimeoutMs: 1 }, async (reader) => {
      await expect(reader.read({ sources: [sourceOf(large)], maxPoints: 1000 })).rejects.toBeInstanceOf(
        SeriesTimeout,
      );
    });
    await withReader({ requestTimeoutMs: 10_000, concurrency: 1 }, async (reader) => {
      const signal = AbortSignal.timeout(20);
      await expect(reader.read({ sources: [sourceOf(large)], maxPoints: 1000, signal })).rejects.toThrow(
        /timeout/,
      );
      expect(await valuesOf(reader, small)).toEqual([[1, 2]]);
    });
  });

  test('bounds the requests that wait', async () => {
    await withReader({ concurrency: 1, maxWaiting: 2 }, async (reader) => {
      await valuesOf(reader, large);
      const requests = Array.from({ length: 6 }, () =>
        reader.read({ sources: [sourceOf(large)], maxPoints: 1000 }),
      );
      const results = await Promise.allSettled(requests);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      expect(reasons.every((reason) => reason instanceof SeriesBusy)).toBe(true);
    });
  });

  test('ends its process with itself, and refuses later requests', async () => {
    const reader = await bench.reader();
    await valuesOf(reader, small);
    const reading = reader.read({ sources: [sourceOf(large)], maxPoints: 1000 });
    // The copy is there; the request is with the process after a few turns.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    const ended = expect(reading).rejects.toBeInstanceOf(SeriesUnavailable);
    await reader.close();
    await ended;
    await expect(valuesOf(reader, small)).rejects.toBeInstanceOf(SeriesUnavailable);
    expect(readerPids()).toEqual([]);
  });

  test('keeps turning while a long scan runs', async () => {
    await withReader({}, async (reader) => {
      await valuesOf(reader, large);
      let turns = 0;
      let isDone = false;
      const reading = reader.read({ sources: [sourceOf(large, ['s'])], maxPoints: 2000 }).finally(() => {
        isDone = true;
      });
      while (!isDone) {
        await nextTurn();
        turns++;
      }
      await reading;
      expect(turns).toBeGreaterThan(20);
    });
  });

  test('passes nothing of its environment to its process but where compiled code is kept', () => {
    vi.stubEnv('NODE_COMPILE_CACHE', join(bench.folder, 'compiled'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const child = new SeriesChild({
      cacheDir: bench.cacheDir,
      memoryLimitBytes: 512 * 1024 * 1024,
      requestTimeoutMs: 60_000,
      concurrency: 1,
      maxWaiting: 1,
    });
    const reading = child.read(
      { what: 'points', sources: [], fromMs: null, toMs: null, maxPoints: 10 },
      undefined,
    );
    const environment = readFileSync(`/proc/${child.pid}/environ`, 'utf8');
    expect(
      environment.split('\0').filter((entry) => entry !== '' && !entry.startsWith('NODE_CHANNEL_')),
    ).toEqual([`NODE_COMPILE_CACHE=${join(bench.folder, 'compiled')}`]);
    return reading.then(() => child.close());
  });
});

describe('the folder of copies', () => {
  const files = (dir: string) => readdirSync(dir).sort();

  test('downloads once for callers at the same time, and not again after a restart', async () => {
    const cacheDir = join(bench.folder, 'once');
    const recorded = await bench.record('time,v\n0,1\n1,2\n');
    await withReader({ cacheDir }, async (reader) => {
      await Promise.all(Array.from({ length: 10 }, () => valuesOf(reader, recorded)));
    });
    await withReader({ cacheDir }, async (reader) => {
      expect(await valuesOf(reader, recorded)).toEqual([[1, 2]]);
    });
    expect(recorded.loads).toBe(1);
    expect(files(cacheDir)).toEqual([`${recorded.key}.parquet`]);
  });

  test('stays below its size; the least recently used are deleted first', async () => {
    const cacheDir = join(bench.folder, 'bounded');
    const three = await Promise.all(
      [5, 6, 7].map((value) => bench.record(`time,v\n0,${value}\n1,${value}\n`)),
    );
    const [a, b, c] = three as [Recorded, Recorded, Recorded];
    const maxCacheBytes = Math.ceil(2.5 * a.sizeBytes);
    await withReader({ cacheDir, maxCacheBytes }, async (reader) => {
      await valuesOf(reader, a);
      await valuesOf(reader, b);
      await valuesOf(reader, a);
      await valuesOf(reader, c);
      await expect.poll(() => files(cacheDir)).toEqual([a, c].map(({ key }) => `${key}.parquet`).sort());
      await valuesOf(reader, b);
      expect([a.loads, b.loads, c.loads]).toEqual([1, 2, 1]);
    });
  });

  test('serves a recording larger than itself', async () => {
    const cacheDir = join(bench.folder, 'tiny');
    await withReader({ cacheDir, maxCacheBytes: 10 }, async (reader) => {
      expect(await valuesOf(reader, small)).toEqual([[1, 2]]);
      await expect.poll(() => files(cacheDir)).toEqual([]);
    });
  });

  test('deletes broken downloads at the next start, and keeps foreign files', async () => {
    const cacheDir = join(bench.folder, 'stale');
    mkdirSync(cacheDir);
    writeFileSync(join(cacheDir, `${small.key}.1234.part`), 'half');
    writeFileSync(join(cacheDir, 'notes.txt'), 'mine');
    await withReader({ cacheDir }, async () => undefined);
    expect(files(cacheDir)).toEqual(['notes.txt']);
  });

  test('reports the failure of a download, and retries for the next caller', async () => {
    const cacheDir = join(bench.folder, 'failing');
    await withReader({ cacheDir }, async (reader) => {
      const fault = new Error('the store is down');
      const failing = { ...sourceOf(small), load: () => Promise.reject(fault) };
      await expect(reader.read({ sources: [failing], maxPoints: 10 })).rejects.toBe(fault);
      expect(files(cacheDir)).toEqual([]);
      expect(await valuesOf(reader, small)).toEqual([[1, 2]]);
    });
  });

  test('replaces a damaged copy once, and reports a damaged recording', async () => {
    const cacheDir = join(bench.folder, 'damaged');
    const recorded = await bench.record('time,v\n0,1\n1,2\n');
    await withReader({ cacheDir }, async (reader) => {
      await valuesOf(reader, recorded);
      writeFileSync(join(cacheDir, `${recorded.key}.parquet`), 'not Parquet');
      expect(await valuesOf(reader, recorded)).toEqual([[1, 2]]);
      expect(recorded.loads).toBe(2);
      const broken = {
        ...sourceOf(recorded),
        key: 'f'.repeat(64),
        load: async (path: string) => writeFileSync(path, 'PAR1 never was PAR1'),
      };
      await expect(reader.read({ sources: [broken], maxPoints: 10 })).rejects.toBeInstanceOf(SourceBroken);
    });
  });

  test('continues a download for others when the first caller leaves', async () => {
    const cacheDir = join(bench.folder, 'leaving');
    await withReader({ cacheDir }, async (reader) => {
      const gate = Promise.withResolvers<void>();
      const source = sourceOf(small);
      const slow = { ...source, load: async (path: string) => gate.promise.then(() => source.load(path)) };
      const controller = new AbortController();
      const first = reader.read({ sources: [slow], maxPoints: 10, signal: controller.signal });
      const second = reader.read({ sources: [slow], maxPoints: 10 });
      controller.abort(new Error('left'));
      await expect(first).rejects.toThrow('left');
      gate.resolve();
      expect((await second)[0]?.values).toEqual([1, 2]);
    });
  });
});
