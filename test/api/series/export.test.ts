import { existsSync } from 'node:fs';
import { copyFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SeriesChild } from '../../../api/series/child-handle.ts';
import { jobSource } from '../../../api/series/job-source.ts';
import { type ExportRequest, SeriesBusy, type SeriesReader } from '../../../api/series/reader.ts';
import { parseDerived } from '../../../domain/recordings/derived-syntax.ts';
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
  timesAre: 'seconds',
  recordings: ['lap'],
  columns: [
    { name: 'v "fast"', type: 'number', channels: ['v'] },
    { name: 's', type: 'text', channels: ['s'] },
  ],
  ...part,
});

async function leftOvers(): Promise<string[]> {
  for (let tries = 0; tries < 500; tries++) {
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

test('integers stay integers in csv, also beside a recording without them, and Parquet holds numbers', async () => {
  const table = 'time [ms],n,big\n0,-1,1700000000000000000\n10,,2\n20,7,1e300\n';
  const whole = await bench.record(table, { timeColumn: 'time' });
  const columns: ExportRequest['columns'] = [
    { name: 'n', type: 'integer', channels: ['n'] },
    { name: 'big', type: 'integer', channels: ['big'] },
  ];
  const one = { sources: [sourceOf(whole)], recordings: ['whole'], columns };
  const rows = '0.0,-1,1700000000000000000\n0.01,,2\n0.02,7,1e+300\n';
  expect(await text(await reader.export(request(one)))).toBe(`time [s],n,big\n${rows}`);
  const two = {
    sources: [sourceOf(whole), sourceOf(recorded)],
    recordings: ['whole', 'lap'],
    columns: columns.map((column) => ({ ...column, channels: [...column.channels, null] })),
  };
  expect(await text(await reader.export(request(two)))).toContain('whole,0.0,-1,1700000000000000000\n');
  const parquet = await buffer(await reader.export(request({ ...two, format: 'parquet' })));
  expect(parquet.subarray(0, 4).toString()).toBe('PAR1');
});

test('64-bit integers keep every digit in csv, the least of them too', async () => {
  const path = join(bench.folder, 'long-integers.parquet');
  const connection = await (await DuckDBInstance.create()).connect();
  const numbers = ['-9223372036854775808', '9223372036854775807', '9007199254740993'];
  const rows = numbers.map((number, row) => `SELECT ${row} AS time, CAST(${number} AS BIGINT) AS n`);
  await connection.run(`COPY (${rows.join(' UNION ALL ')} ORDER BY 1) TO '${path}' (FORMAT parquet)`);
  const long = await bench.record({ path }, { timeColumn: 'time' });
  const columns = [{ name: 'n', type: 'integer' as const, channels: ['n'] }];
  const file = await text(await reader.export(request({ sources: [sourceOf(long)], columns })));
  expect(file).toBe(`time [s],n\n${numbers.map((number, row) => `${row}.0,${number}\n`).join('')}`);
});

test('times of csv have as many digits as one of its rows needs', async () => {
  const first = '2021-03-04T05:06:07';
  const fine = await bench.record(`time,v\n${first}Z,1\n${first}.0001Z,2\n${first}.001Z,3\n`);
  const columns = [{ name: 'v', type: 'number' as const, channels: ['v'] }];
  const timesOf = async (part: Partial<ExportRequest>) => {
    const asked = { sources: [sourceOf(fine)], timesAre: 'dates' as const, columns, ...part };
    return cellsOf(await text(await reader.export(request(asked))))
      .slice(1)
      .map(([time]) => time);
  };
  expect(await timesOf({})).toEqual([`${first}.000000Z`, `${first}.000100Z`, `${first}.001000Z`]);
  expect(await timesOf({ fromMs: Date.parse(`${first}.001Z`) })).toEqual([`${first}.001Z`]);
  const derived = [{ id: '=twice', derived: parseDerived('v * 2') }];
  const computed = [{ name: 'twice', type: 'number' as const, channels: ['=twice'] }];
  const part = { sources: [{ ...sourceOf(fine), derived }], columns: computed };
  expect(await timesOf(part)).toEqual([`${first}.000000Z`, `${first}.000100Z`, `${first}.001000Z`]);
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

test('an export that is given up is refused once its process writes no more', async () => {
  const settings = {
    memoryLimitBytes: 512 * 1024 ** 2,
    requestTimeoutMs: 60_000,
    concurrency: 1,
    maxWaiting: 8,
  };
  const child = new SeriesChild({ ...settings, cacheDir: bench.cacheDir });
  const path = join(bench.cacheDir, 'given-up.csv');
  const source = { ...jobSource(sourceOf(recorded)), path: join(bench.cacheDir, 'source.parquet') };
  await copyFile(recorded.path, source.path);
  const columns: ExportRequest['columns'] = [{ name: 'v', type: 'number', channels: ['v'] }];
  const window = { fromMs: null, toMs: null, sources: [source], recordings: ['lap'], columns };
  const job = { what: 'export' as const, format: 'csv' as const, timesAre: 'seconds' as const, ...window };
  try {
    for (let turns = 0; turns < 50; turns++) {
      const given = new AbortController();
      const writing = child.read({ ...job, path }, given.signal);
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      given.abort(new Error('gone'));
      const error = await writing.catch((failure: Error) => failure.message);
      if (typeof error === 'string') expect(error).toBe('gone');
      await rm(path, { force: true });
      await child.read({ ...job, path: `${path}.next` }, undefined);
      expect(existsSync(path)).toBe(false);
    }
  } finally {
    await child.close();
  }
});

test('texts that repeat make no export longer than its bound, in one piece or in parts', async () => {
  const path = join(bench.folder, 'repeated.parquet');
  const connection = await (await DuckDBInstance.create()).connect();
  const repeated = "SELECT range AS time, 1.5 AS v, repeat('x', 10000) AS s FROM range(2000)";
  await connection.run(`COPY (${repeated}) TO '${path}' (FORMAT parquet)`);
  const long = await bench.record({ path }, { timeColumn: 'time' });
  expect(long.sizeBytes).toBeLessThan(200_000);
  const bounded = await bench.reader({ maxExportBytes: 4 * 1024 ** 2 });
  const derived = [{ id: '=twice', derived: parseDerived('v * 2') }];
  const columns: ExportRequest['columns'] = [{ name: 's', type: 'text', channels: ['s'] }];
  try {
    for (const source of [sourceOf(long), { ...sourceOf(long), derived }]) {
      const asked = request({ sources: [source], columns });
      await expect(bounded.export(asked)).rejects.toThrow(
        'The export is longer than 4 MB. Ask for fewer channels, a shorter time, or Parquet.',
      );
    }
    expect(await leftOvers()).toEqual([]);
    const parquet = request({ sources: [sourceOf(long)], columns, format: 'parquet' });
    expect((await buffer(await bounded.export(parquet))).length).toBeLessThan(4 * 1024 ** 2);
  } finally {
    await bounded.close();
  }
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

test('derived channels stand beside every row, computed over all rows of a long recording', async () => {
  const count = 130_000;
  const lines = Array.from({ length: count }, (_, row) => `${row},${row % 7 === 3 ? '' : row / 2},t${row}`);
  const long = await bench.record(`time [ms],v,s\n${lines.join('\n')}\n`, { timeColumn: 'time' });
  const derived = [
    { id: '=twice', derived: parseDerived('v * 2') },
    { id: '=before', derived: parseDerived('lag(v, 100)') },
  ];
  const part = {
    sources: [{ ...sourceOf(long), derived }],
    fromMs: 50,
    columns: [
      { name: 's', type: 'text' as const, channels: ['s'] },
      { name: 'twice', type: 'number' as const, channels: ['=twice'] },
      { name: 'before', type: 'number' as const, channels: ['=before'] },
    ],
  };
  const vOf = (row: number) => (row < 0 || row % 7 === 3 ? null : row / 2);
  const whole = Array.from({ length: count - 50 }, (_, index) => {
    const row = index + 50;
    const now = vOf(row);
    return [row / 1000, `t${row}`, now === null ? null : now * 2, vOf(row - 100)];
  });
  const [head, ...rows] = (await text(await reader.export(request(part)))).trimEnd().split('\n');
  expect(head).toBe('time [s],s,twice,before');
  const number = (cell = '') => (cell === '' ? null : Number(cell));
  const read = rows.map((row) => {
    const [time, s, twice, before] = row.split(',');
    return [Number(time), s, number(twice), number(before)];
  });
  // Compared as texts: a comparison of so many lists takes half a minute.
  expect(JSON.stringify(read) === JSON.stringify(whole)).toBe(true);
  const path = join(bench.folder, 'derived.parquet');
  await writeFile(path, await buffer(await reader.export(request({ ...part, format: 'parquet' }))));
  const connection = await (await DuckDBInstance.create()).connect();
  const found = await connection.runAndReadAll(`SELECT * FROM read_parquet('${path}')`);
  expect(JSON.stringify(found.getRows()) === JSON.stringify(whole)).toBe(true);
  expect(await leftOvers()).toEqual([]);
});

test('a recording without a derived channel has empty cells there, and a time without rows a head alone', async () => {
  const derived = [{ id: '=twice', derived: parseDerived('v * 2') }];
  const part = {
    sources: [sourceOf(recorded, ['s']), { ...sourceOf(recorded, ['s']), derived }],
    recordings: ['one', 'two'],
    columns: [
      { name: 's', type: 'text' as const, channels: ['s', 's'] },
      { name: 'twice', type: 'number' as const, channels: [null, '=twice'] },
    ],
  };
  expect(await text(await reader.export(request(part)))).toBe(
    'recording,time [s],s,twice\none,0.0,a,\none,0.01,"b, c",\none,0.02,,\ntwo,0.0,a,3.0\ntwo,0.01,"b, c",\ntwo,0.02,,7.0\n',
  );
  const none = await text(await reader.export(request({ ...part, fromMs: 1000 })));
  expect(none).toBe('recording,time [s],s,twice\n');
  expect(await leftOvers()).toEqual([]);
});
