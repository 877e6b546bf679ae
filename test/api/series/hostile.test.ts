import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SeriesUnavailable, SourceBroken } from '../../../api/series/reader.ts';
import { declaringEntries } from '../../activities/tabular/hostile-parquet.ts';
import { seriesStage, sourceOf } from './support.ts';

const { bench, reader } = await seriesStage();

test('a recording of which some bytes declare gigabytes is given up before it takes them, and others are read', async () => {
  const recorded = await bench.record('time,v\n0,1\n1,2\n');
  const path = join(bench.folder, 'declaring.parquet');
  writeFileSync(path, declaringEntries(2 ** 28));
  const hostile = sourceOf({ ...recorded, path, key: 'e'.repeat(64) });
  await expect(reader.read({ sources: [hostile], maxPoints: 10 })).rejects.toThrow(SeriesUnavailable);
  const [series] = await reader.read({ sources: [sourceOf(recorded)], maxPoints: 10 });
  expect(series?.values).toEqual([1, 2]);
});

test('a description that says more of the coarse level than its file holds is refused, and ends no process', async () => {
  const recorded = await bench.record('time,v\n0,1\n1,2\n');
  const overview = { offset: 4, blocks: 200_000_000, blockRows: 10, columns: ['c1'] };
  const source = sourceOf({ ...recorded, key: 'd'.repeat(64) });
  const hostile = { ...source, description: { ...recorded.description, rowCount: 1_000, overview } };
  await expect(reader.read({ sources: [hostile], maxPoints: 10 })).rejects.toThrow(SourceBroken);
});
