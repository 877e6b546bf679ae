import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

/** Writes a Parquet file of a query and converts it. */
async function convert(query: string, configuration = {}, options = '') {
  const path = join(bench.folder, 'made.parquet');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(`COPY (${query}) TO '${path}' (FORMAT parquet${options})`);
  connection.closeSync();
  instance.closeSync();
  return bench.convert({ path }, configuration);
}

describe('Parquet', () => {
  test('keeps the types it has', async () => {
    const converted = await convert(`SELECT * FROM (VALUES
      (TIMESTAMP '2020-01-01 00:00:00', 9007199254740991, 1.5::FLOAT, 2.25::DECIMAL(10,2), true, 'a', DATE '2020-02-03', 'x'::BLOB),
      (TIMESTAMP '2020-01-01 00:00:01', NULL, 'nan'::FLOAT, NULL, false, NULL, NULL, NULL)
      ) AS v(stamp, i, f, d, b, s, day, raw)`);
    expect(await bench.rows(converted)).toEqual([
      {
        t: Date.UTC(2020),
        i: 9007199254740991,
        f: 1.5,
        d: 2.25,
        b: true,
        s: 'a',
        day: '2020-02-03',
        raw: '78',
      },
      { t: Date.UTC(2020) + 1000, i: null, f: null, d: null, b: false, s: null, day: null, raw: null },
    ]);
    expect(converted.description.channels.map((channel) => channel.type)).toEqual([
      'integer',
      'number',
      'number',
      'boolean',
      'text',
      'text',
      'text',
    ]);
  });

  test('flattens structures and keeps lists as text', async () => {
    const converted = await convert(
      `SELECT i AS time, {'rpm': i * 2, 'deep': {'x/y': 'v' || i}} AS engine, [i, i + 1] AS list, 'k' AS k FROM range(3) r(i)`,
    );
    expect((await bench.rows(converted))[2]).toEqual({
      t: 2000,
      'engine.rpm': 4,
      'engine.deep.x/y': 'v2',
      list: '[2,3]',
      k: 'k',
    });
  });

  test('reads dates of any precision as times', async () => {
    for (const type of ['TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMPTZ', 'DATE']) {
      const converted = await convert(
        `SELECT CAST(TIMESTAMP '2020-01-01' + INTERVAL (i) DAY AS ${type}) AS d, i AS v FROM range(3) r(i)`,
      );
      expect(converted.description.time).toMatchObject({
        kind: 'absolute',
        from: Date.UTC(2020, 0, 1),
        to: Date.UTC(2020, 0, 3),
      });
    }
  });

  test('reads durations of pandas in their unit', async () => {
    const types = { time: 'timedelta64[us]', wait: 'timedelta64[ns]', v: 'int64' };
    const columns = Object.entries(types).map(([field_name, numpy_type]) => ({ field_name, numpy_type }));
    const metadata = JSON.stringify({ columns: [null, ...columns], index_columns: ['time'] });
    const query = 'SELECT 1000 * i AS time, i AS wait, i AS v FROM range(3) r(i)';
    const { description } = await convert(query, {}, `, KV_METADATA {pandas: '${metadata}'}`);
    expect(description.time).toMatchObject({ name: 'time', kind: 'relative', from: 0, to: 2 });
    expect(description.channels.map(({ unit }) => unit)).toEqual(['ns', null]);
    const odd = await convert(query, {}, `, KV_METADATA {pandas: '{"columns": 7}'}`);
    expect(odd.description.channels.map(({ unit }) => unit)).toEqual([null, null]);
  });

  test('reads durations of Arrow, as polars writes them, in their unit', async () => {
    // Written by pyarrow: `time` is a duration in microseconds, `v` an integer.
    const schema =
      '/////7AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAIAAABMAAAABAAAAMz///8AAAECEAAAABwAAAAEAAAA' +
      'AAAAAAEAAAB2AAAACAAMAAgABwAIAAAAAAAAAQgAAAAQABQACAAGAAcADAAAABAAEAAAAAAAARIQAAAAHAAAAAQAAAAAAAAABAAAAHRpbWUAAAYA' +
      'CAAGAAYAAAAAAAIAAAAAAA==';
    const query = 'SELECT 800000000 + 1500 * i AS time, i AS v FROM range(3) r(i)';
    const written = (text: string) => convert(query, {}, `, KV_METADATA {'ARROW:schema': '${text}'}`);
    const { time } = (await written(schema)).description;
    expect(time).toMatchObject({ kind: 'relative', from: 800_000, to: 800_003 });
    for (const broken of [schema.slice(0, 150), schema.slice(8), 'no schema'])
      expect((await written(broken)).description.time).toMatchObject({ kind: 'absolute' });
  });

  test('refuses decimals that its reader would take for other numbers', async () => {
    // One row of `v`, 1.23 as a decimal of 50 digits, as pyarrow writes it.
    const file =
      'UEFSMRUAFTYVNiwVAhUAFQYVBhwAAAACAAAAAgEAAAAAAAAAAAAAAAAAAAAAAAAB4HgVBBksNQAYBnNjaGVtYRUCABUOFSoVAhgBdiUKFQoVZCxc' +
      'FQoVZAAAABYCGRwZHCYAHBUOGSUGABkYAXYVABYCFlwWXCYISRwVABUAFQIAPCkGGSYAAgAAABZcFgImCBZcACggcGFycXVldC1jcHAtYXJyb3cg' +
      'dmVyc2lvbiAyNi4wLjEZHBwAAACKAAAAUEFSMQ==';
    const error = await bench.fails(Buffer.from(file, 'base64'));
    expect(error.message).toContain('Column "v": Decimals of more than 38 digits');
  });

  test('reads days without separators as days', async () => {
    const converted = await convert('SELECT 20240101 + i AS date, i AS v FROM range(3) r(i)');
    expect(converted.description.time).toMatchObject({
      from: Date.UTC(2024, 0, 1),
      to: Date.UTC(2024, 0, 3),
    });
  });

  test('finds texts that are times, and names the row of an invalid one', async () => {
    const query = (
      last: string,
    ) => `SELECT CASE WHEN i = 99 THEN '${last}' ELSE strftime(TIMESTAMP '2020-01-01' +
      INTERVAL (i) HOUR, '%d.%m.%Y %H:%M') END AS zeit, i AS v FROM range(100) r(i)`;
    const converted = await convert(query('09.01.2020 00:00'));
    expect(converted.description.time.to).toBe(Date.UTC(2020, 0, 9));
    await expect(convert(query('never'), { maxAutodetectSampleRows: 20 })).rejects.toThrow(
      /Row 100: "never"/,
    );
  });

  test('treats names that look like SQL as names', async () => {
    const converted = await convert(
      `SELECT 1 AS "a""; DROP TABLE x; --", 2 AS "A", {'x''y': 3} AS "s""", 4 AS "$1"`,
    );
    expect((await bench.rows(converted))[0]).toEqual({
      t: 0,
      'a"; DROP TABLE x; --': 1,
      A: 2,
      's".x\'y': 3,
      $1: 4,
    });
  });

  test('is sorted by time with bounded memory', async () => {
    const converted = await convert(
      `SELECT ((i * 7919) % 300000) / 10 AS time, i AS v, 'text ' || i AS s FROM range(300000) r(i)`,
      { timeColumn: 'time' },
    );
    expect(converted.description).toMatchObject({
      rowCount: 300_000,
      time: { from: 0, to: 29_999_900, sorted: true },
    });
    const rows = await bench.rows(converted);
    expect(
      rows.every((row, index) => row.t === index * 100 && (Number(row.v) * 7919) % 300_000 === index),
    ).toBe(true);
  });
});
