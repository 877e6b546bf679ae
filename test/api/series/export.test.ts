import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExportRequest, SeriesBusy, type SeriesReader } from '../../../api/series/reader.ts';
import { guardedText } from '../../../domain/reports/spreadsheet-text.ts';
import { eventually } from '../../support/eventually.ts';
import { type Recorded, SeriesBench, sourceOf } from './support.ts';

let bench: SeriesBench;
let reader: SeriesReader;
let recorded: Recorded;
beforeAll(async () => {
  bench = await SeriesBench.open();
  reader = await bench.reader();
  recorded = await bench.record('time [ms],v,s\n0,1.5,a\n10,,"b, c"\n20,3.5,\n', { timeColumn: 'time' });
});
afterAll(async () => {
  await reader.close();
  await bench.close();
});

const request = (part: Partial<ExportRequest> = {}): ExportRequest => ({
  sources: [sourceOf(recorded)],
  format: 'csv',
  isRelative: true,
  recordings: ['lap'],
  columns: [
    { name: 'v "fast"', type: 'number', channels: ['v'] },
    { name: 's', type: 'text', channels: ['s'] },
  ],
  ...part,
});

async function leftOvers(): Promise<string[]> {
  for (let tries = 0; tries < 50; tries++) {
    const files = (await readdir(bench.cacheDir)).filter((name) => name.endsWith('.part'));
    if (files.length === 0) return [];
    await delay(20);
  }
  return readdir(bench.cacheDir);
}

test('an export has every row, and its file is gone once it is read', async () => {
  const file = await text(await reader.export(request()));
  expect(file).toBe('time [s],"v ""fast""",s\n0.0,1.5,a\n0.01,,"b, c"\n0.02,3.5,\n');
  expect(await leftOvers()).toEqual([]);
});

test('an export that is given up leaves no file', async () => {
  const stream = await reader.export(request({ fromMs: 10 }));
  stream.destroy();
  await expect(reader.export(request({ signal: AbortSignal.abort(new Error('gone')) }))).rejects.toThrow(
    'gone',
  );
  const impossible = {
    ...recorded.description,
    channels: [{ ...recorded.description.channels[0]!, column: 'c1; x' }],
  };
  const source = { ...sourceOf(recorded, ['v']), description: impossible };
  await expect(reader.export(request({ sources: [source] }))).rejects.toThrow('impossible column');
  expect(await leftOvers()).toEqual([]);
});

test('readers that are slow hold only so many files: one more is busy until one of them is gone', async () => {
  const slow = await Promise.all(Array.from({ length: 4 }, () => reader.export(request())));
  await expect(reader.export(request())).rejects.toThrow(SeriesBusy);
  slow[0]!.destroy();
  await eventually('there is room for another', () =>
    reader.export(request()).then((more) => more.destroy()),
  );
  for (const stream of slow) stream.destroy();
  expect(await leftOvers()).toEqual([]);
  expect(await text(await reader.export(request()))).toContain('0.02,3.5');
});

test('an export without recordings is a head without rows', async () => {
  expect(await text(await reader.export(request({ sources: [], recordings: [], columns: [] })))).toBe(
    'time\n',
  );
});

/** The cells of a csv text. */
function cellsOf(csv: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, cell = '', end] of csv.matchAll(/("(?:[^"]|"")*"|[^,\n]*)(,|\n|$)/g)) {
    lines.at(-1)!.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === '\n') lines.push([]);
  }
  return lines.slice(0, -1);
}

test('no text of a csv export becomes a formula, and numbers and Parquet stay as they are', async () => {
  const start = ['=1+1', '-2x', '+cmd', '@x', 'plain', "it's", '12;3'];
  const texts = [...start, 'a;=b', 'a;"=b', 'a\n=b', 'a,b;', 'a\t\t\t=b', '\t\t=c;;=d,;"'];
  const rows = texts.map((one, row) => `${row},${-row - 0.5},"${one.replaceAll('"', '""')}"`);
  const formulas = await bench.record(`time [ms],v,s\n${rows.join('\n')}\n`, { timeColumn: 'time' });
  const columns = [
    { name: '=v', type: 'number' as const, channels: ['v'] },
    { name: '@s', type: 'text' as const, channels: ['s'] },
  ];
  const part = { sources: [sourceOf(formulas)], columns };
  const [head, ...lines] = cellsOf(await text(await reader.export(request(part))));
  expect(head).toEqual(['time [s]', "'=v", "'@s"]);
  expect(lines.map(([, number]) => number)).toEqual(texts.map((_, row) => String(-row - 0.5)));
  expect(lines.map((line) => line[2])).toEqual(texts.map(guardedText));
  expect(lines.filter((line) => /(^|[;\t\r\n]"*)[=+\-@]/.test(line[2] ?? ''))).toEqual([]);
  const path = join(bench.folder, 'formulas.parquet');
  await writeFile(path, await buffer(await reader.export(request({ ...part, format: 'parquet' }))));
  const connection = await (await DuckDBInstance.create()).connect();
  const unchanged = await connection.runAndReadAll(`SELECT "@s" FROM read_parquet('${path}')`);
  expect(unchanged.getRows().map(([value]) => value)).toEqual(texts);
});
