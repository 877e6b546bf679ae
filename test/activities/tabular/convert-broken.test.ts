import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TabularConfiguration } from '../../../activities/builtin/tabular/configuration.ts';
import { NoTabularData } from '../../../activities/builtin/tabular/errors.ts';
import { TabularBench, vegaFolder } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const good = Array.from({ length: 500 }, (_, row) => `${row},${row * 2},text ${row}`).join('\n');

describe('broken delimited text is refused with its place', () => {
  const cases: [string, string | Buffer, { line?: number; column?: number; columnName?: string }, RegExp][] =
    [
      [
        'a field too many',
        `time,a,b\n${good}\n1,2,3,4\n${good}\n`,
        { line: 502, column: 4 },
        /4 fields, not 3/,
      ],
      ['a field too few', `time,a,b\n${good}\n1,2\n${good}\n`, { line: 502, column: 3 }, /2 fields, not 3/],
      ['a single field', `time,a\n1,2\n3\n`, { line: 3, column: 2 }, /has 1 field, not 2/],
      ['a field too many at once', 'time,a\n1,2,3\n2,3\n', { line: 2, column: 3 }, /3 fields, not 2/],
      [
        'a text among numbers',
        `time,a,b\n${good}\n1,oops,3\n`,
        { line: 502, column: 2, columnName: 'a' },
        /"oops" is not a number/,
      ],
      [
        'a quote that never closes',
        `time,a,b\n${good}\n1,2,"open\n1,2,3\n`,
        { line: 502, column: 3 },
        /quote/,
      ],
      [
        'text behind a closing quote',
        `time,a,b\n${good}\n1,"2",3\n1,"x, ""y"""z,"3"\n1,2,3\n`,
        { line: 503, column: 2 },
        /quote/,
      ],
      [
        'behind values with line ends',
        `time,a,b\n1,2,"x\r\ny\nz"\n\n${good}\n1,2\n`,
        { line: 506, column: 3 },
        /2 fields/,
      ],
      ['behind comments', `# "one\n#two\n\ntime,a,b\n${good}\n1,2\n`, { line: 505 }, /2 fields/],
      [
        'behind comments without quotes',
        `# one\n#two\n\ntime,a,b\n${good}\n1,2\n`,
        { line: 505 },
        /2 fields/,
      ],
      [
        'bytes that are not UTF-8',
        Buffer.concat([
          Buffer.from(`time,a,b\n${good}\n1,2,`),
          Buffer.from([0xe9, 0x20, 0x78]),
          Buffer.from('\n'),
        ]),
        { line: 502 },
        /UTF-8/,
      ],
      ['a NUL byte', `time,a\n1,2\n2,\0\n`, { line: 3, column: 2 }, /binary/],
      [
        'a byte of Latin-1',
        Buffer.from('time,n\xe4me\n', 'latin1'),
        { line: 1, column: 2 },
        /"e4" is not UTF-8/,
      ],
      [
        'a byte of Latin-1 at the end of a line',
        Buffer.from('# one, two; three\ntime;"a, b";caf\xe9\n1;2;3\n', 'latin1'),
        { line: 2, column: 3 },
        /"e9" is not UTF-8/,
      ],
      [
        'a byte of Latin-1 at the end of the file',
        Buffer.from('time,a\r1,2\r\xe9', 'latin1'),
        { line: 3, column: 1 },
        /"e9" is not UTF-8/,
      ],
      [
        'a byte of Latin-1 in NDJSON',
        Buffer.from('{"a":1}\n{"a":"caf\xe9"}\n', 'latin1'),
        { line: 2, column: 10 },
        /"e9" is not UTF-8/,
      ],
    ];
  test.each(cases)('%s', async (_, content, place, message) => {
    const error = await bench.fails(content, { maxAutodetectSampleRows: 100, encoding: 'utf-8' });
    expect(error).toMatchObject(place);
    expect(error.message).toMatch(message);
    if (place.line !== undefined) expect(error.message).toMatch(new RegExp(`^Line ${place.line}\\b`));
  });

  test('bytes that are not UTF-8, far behind the sample', async () => {
    const filler = Array.from({ length: 400_000 }, (_, row) => `${row},some text of a row\n`).join('');
    const content = Buffer.concat([
      Buffer.from(`time,a\n${filler}`),
      Buffer.from([0x31, 0x2c, 0xff, 0xfe, 0x0a]),
    ]);
    const error = await bench.fails(content);
    expect(error.line).toBe(400_002);
  });

  test.each(['infinity', '-infinity', 'epoch'])('the word %s among times', async (word) => {
    const rows = Array.from({ length: 50 }, (_, row) => `2020-01-01T00:00:${row + 10}Z,1\n`);
    const error = await bench.fails(`time,v\n${rows.join('')}${word},2\n`, { maxAutodetectSampleRows: 20 });
    expect(error).toMatchObject({ line: 52, column: 1, columnName: 'time' });
  });

  test('a line with an invalid time, after line ends and blank lines', async () => {
    const rows = Array.from(
      { length: 50 },
      (_, row) => `2020-01-01T00:00:${row + 10 > 59 ? 59 : row + 10}Z,"a\nb"`,
    );
    const error = await bench.fails(`#x\n\ntime,b\n${rows.join('\n\n')}\n2020-01-32,x\n`, {
      maxAutodetectSampleRows: 20,
    });
    expect(error).toMatchObject({ line: 4 + 49 * 3 + 2, column: 1, columnName: 'time' });
  });

  test('a line of many megabytes', async () => {
    const error = await bench.fails(`time,a\n1,${'x'.repeat(9_000_000)}\n2,x\n`);
    expect(error.message).toMatch(/megabytes|longer/);
  });

  test.each([
    ['after the heading alone', 't,v\n', '\n'],
    ['after rows', 't,v\n0,1\n', '\r\n'],
    ['without an end', 't,v\n0,1\n', ''],
  ])('a last line of many megabytes %s, which the reader leaves out', async (_, before, end) => {
    const { message } = await bench.fails(`${before}1,${'x'.repeat(17 * 1024 ** 2)}${end}`);
    expect(message).toBe('The last line is longer than 8388608 bytes.');
  });
});

describe('files that are not tables are refused', () => {
  const cases: [string, string | Buffer, TabularConfiguration, RegExp][] = [
    ['random bytes', randomBytes(100_000), {}, /binary|UTF-8|gzip/],
    ['random bytes said to be Parquet', randomBytes(100_000), { inputFormat: 'parquet' }, /Parquet/],
    ['random bytes said to be JSON', randomBytes(100_000), { inputFormat: 'json' }, /binary|UTF-8/],
    ['a zip archive', Buffer.from('504b030414000000', 'hex'), {}, /zip/],
    ['another packing', Buffer.from('28b52ffd00000000', 'hex'), {}, /zstd/],
    [
      'too many columns',
      `${Array.from({ length: 5001 }, (_, index) => `c${index}`).join(',')}\n`,
      {},
      /5001 columns/,
    ],
    ['broken gzip', Buffer.concat([gzipSync(good).subarray(0, 40), randomBytes(500)]), {}, /gzip/],
    ['truncated gzip', gzipSync(good).subarray(0, -20), {}, /too early/],
    ['a gzip head alone', Buffer.from('1f8b', 'hex'), {}, /too early/],
    ['Parquet magic alone', 'PAR1', {}, /Parquet/],
    ['csv said to be Parquet', good, { inputFormat: 'parquet' }, /Parquet/],
    ['csv said to be JSON', good, { inputFormat: 'json' }, /JSON/],
    ['odd UTF-16', Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x00, 0xd8]), {}, /UTF-16/],
  ];
  test.each(cases)('%s', async (_, content, configuration, message) => {
    expect((await bench.fails(content, configuration)).message).toMatch(message);
  });

  test('gzip that unpacks without end', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'));
    const error = await bench.fails(bomb, {}, { maxTempBytes: 10_000_000 });
    expect(error.message).toMatch(/unpacks to more than 10000000 bytes/);
  });

  test('gzip that unpacks to a thousand times its size is refused when it shows, long before the disk is full', async () => {
    const member = gzipSync(Buffer.alloc(100_000_000));
    // 50 MB that unpack to 50 GB.
    const bomb = Buffer.concat(Array.from({ length: Math.ceil(50_000_000 / member.length) }, () => member));
    let maxBytes = 0;
    const watch = setInterval(async () => {
      const names = await readdir(bench.workDir, { recursive: true }).catch(() => []);
      const sizes = names.map((name) => stat(join(bench.workDir, name)).catch(() => undefined));
      const bytes = (await Promise.all(sizes)).reduce((sum, one) => sum + (one?.size ?? 0), 0);
      maxBytes = Math.max(maxBytes, bytes);
    }, 5);
    const error = await bench.fails(bomb).finally(() => clearInterval(watch));
    expect(error.message).toBe('The file unpacks to more than 500 times its size.');
    expect(maxBytes).toBeLessThan(200_000_000);
  });

  test('but not a recording of few values, which is packed to less than a hundredth', async () => {
    const remark = 'all systems nominal; '.repeat(20).trim();
    const lines = Array.from({ length: 170_000 }, (_, index) => `${index},0,0,0,${remark}\n`);
    const text = `t,a,b,c,remark\n${lines.join('')}`;
    const packed = gzipSync(text);
    expect(text.length).toBeGreaterThan(70_000_000);
    expect(text.length / packed.length).toBeGreaterThan(90);
    expect((await bench.convert(packed)).rowCount).toBe(170_000);
  });

  test('Parquet that repeats a value without end', async () => {
    const path = join(bench.folder, 'bomb.parquet');
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`COPY (SELECT 7 AS a, 'x' AS b FROM range(5000001)) TO '${path}' (FORMAT parquet)`);
    connection.closeSync();
    instance.closeSync();
    const bomb = await readFile(path);
    expect(bomb.length).toBeLessThan(100_000);
    const error = await bench.fails(bomb, {}, { maxTempBytes: 20_000_000 });
    expect(error.message).toMatch(/has 10000002 values; at most 10000000 are read/);
    await rm(path);
  });

  test('Parquet that ends too early, or was damaged', async () => {
    const whole = await readFile(join(vegaFolder, 'flights-3m.parquet'));
    expect((await bench.fails(whole.subarray(0, -100))).message).toMatch(/Parquet/);
    const damaged = Buffer.from(whole);
    randomBytes(5_000_000).copy(damaged, 1000);
    expect((await bench.fails(damaged)).message).toMatch(/Parquet/);
  });
});

describe('files without rows and files without channels are distinguished', () => {
  const cases: [string, string][] = [
    ['an empty file', ''],
    ['an empty packed file', ''],
    ['a heading alone', 'time,a,b\n'],
    ['a time column alone', 'time\n1\n2\n3\n'],
    ['an empty JSON list', '[]'],
    ['empty JSON objects', '{}\n{}\n'],
    ['blank lines alone', '\n\n \n'],
    ['lines of comment alone', '# rig 7\n# no run\n'],
  ];
  test.each(cases)('%s', async (name, text) => {
    const error = await bench.fails(name.includes('packed') ? gzipSync(text) : text, { timeColumn: null });
    expect(error).toBeInstanceOf(NoTabularData);
  });
});

describe('a conversion', () => {
  test('ends soon after its signal with the reason, and leaves no files', async () => {
    const rows = Array.from({ length: 400_000 }, (_, row) => `${row},${row / 7},${row / 3}`).join('\n');
    const controller = new AbortController();
    const reason = new Error('the operator cancelled');
    const phases: string[] = [];
    const running = bench.convert(`time,a,b\n${rows}\n`, {}, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 200);
    await expect(running).rejects.toBe(reason);
    expect(phases).toEqual([]);
  });

  test('with a signal aborted before does nothing', async () => {
    await expect(
      bench.convert('t,a\n1,2\n', {}, { signal: AbortSignal.abort(new Error('no')) }),
    ).rejects.toThrow('no');
  });
});
