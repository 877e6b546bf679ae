/** Tables of thousands of columns, within the memory that a conversion has. */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDescription } from '../../../activities/builtin/tabular/recording/describe.ts';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

/** More than the engine passes on at once. */
const rowCount = 2_100;

function csv(columns: number, cell: (row: number, column: number) => string | number): string {
  const row = (first: string | number, of: (column: number) => string | number) =>
    [first, ...Array.from({ length: columns }, (_, column) => of(column))].join(',');
  const rows = Array.from({ length: rowCount }, (_, index) => row(index, (column) => cell(index, column)));
  return `${row('time', (column) => `ch${column}`)}\n${rows.join('\n')}\n`;
}

test('4,999 columns of numbers are read', async () => {
  const converted = await bench.convert(csv(4_999, (row, column) => (row * column) % 97));
  const { description } = converted;
  expect(description.channels).toHaveLength(4_999);
  expect(await readDescription(bench.outputPath)).toEqual(description);
  const [channel] = description.channels.slice(-1);
  expect(channel).toMatchObject({ name: 'ch4998', max: 96, nullCount: 0 });
  expect(description).toMatchObject({ rowCount, time: { to: (rowCount - 1) * 1000 } });
});

test('a number that is none is missing in one of thousands of columns', async () => {
  const cell = (row: number, column: number) => (row === 2_050 && column === 7 ? '-nan' : row);
  const { description } = await bench.convert(csv(2_000, cell));
  expect(description.channels.filter(({ nullCount }) => nullCount > 0)).toMatchObject([
    { name: 'ch7', nullCount: 1, max: rowCount - 1 },
  ]);
});

test('1,000 columns of texts are read', async () => {
  const { description } = await bench.convert(csv(1_000, (row, column) => `s${(row * column) % 7}`));
  expect(description.channels).toHaveLength(1_000);
  expect(new Set(description.channels.map(({ type }) => type))).toEqual(new Set(['text']));
});

test('records of JSON with 1,000 members, whose types differ from record to record, are read', async () => {
  const record = (row: number) =>
    Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`member${index}`, (row * index) / 2]));
  const lines = Array.from({ length: rowCount }, (_, row) => JSON.stringify({ time: row, ...record(row) }));
  const { description } = await bench.convert(lines.join('\n'));
  expect(description).toMatchObject({ rowCount, time: { kind: 'relative' } });
  expect(description.channels.at(-1)).toMatchObject({ name: 'member999', max: ((rowCount - 1) * 999) / 2 });
});

test('a table that needs more memory than a conversion has is refused: another attempt would fail too', async () => {
  const text = csv(2_000, (row, column) => row + column);
  const { message } = await bench.fails(text, {}, { memoryLimitBytes: 64 * 1024 ** 2 });
  expect(message).toMatch(/^The file needs more memory than a conversion has \(64 MiB\)\./);
});

test('wide Parquet that needs more memory than a conversion has is read when its row groups are smaller', async () => {
  const more = { memoryLimitBytes: 128 * 1024 ** 2 };
  const { message } = await bench.fails({ path: await wideParquet(40_960) }, {}, more);
  expect(message).toBe(
    'The file needs more memory than a conversion has (128 MiB). Divide its columns among several files, or write it with smaller row groups, of 8,192 rows for example.',
  );
  const { rowCount } = await bench.convert({ path: await wideParquet(2_048) }, {}, more);
  expect(rowCount).toBe(40_960);
});

/** 450 columns of random numbers. */
async function wideParquet(rowGroup: number): Promise<string> {
  const path = join(bench.folder, `wide-${rowGroup}`);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const columns = Array.from({ length: 450 }, (_, column) => `random() AS c${column}`);
  await connection.run(
    `COPY (SELECT i AS time, ${columns.join(', ')} FROM range(40960) r(i)) TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE ${rowGroup})`,
  );
  connection.closeSync();
  instance.closeSync();
  return path;
}

test('a heading and a cell of very many characters take no longer than others', async () => {
  const text = `t,a(${' '.repeat(60_000)}x,c\n0,1,${'1'.repeat(300_000)}x\n1,2,idle\n`;
  const { description, rowCount } = await bench.convert(text);
  expect(rowCount).toBe(2);
  expect(description.channels.map(({ name, type }) => [name.slice(0, 2), type])).toEqual([
    ['a(', 'integer'],
    ['c', 'text'],
  ]);
});
