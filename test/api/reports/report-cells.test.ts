/** What expressions compute of the numbers in metadata, and what stands in the cells of date and duration columns. */
import { randomUUID } from 'node:crypto';
import { UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import type { ColumnType } from '../../../domain/reports/report.ts';
import { cellOf } from '../../../domain/reports/report-cell.ts';
import { reportWorld } from './report-world.ts';

const { as, column, dimension, report, file, csvLines, database } = await reportWorld();

/** One row: expressions over metadata in columns of one type, in a preview, as csv and as the sheet of xlsx. */
async function filesOf(metadata: object, type: ColumnType, expressions: readonly string[]) {
  const name = `cells-${randomUUID().slice(0, 8)}`;
  await dimension(name, { metadata });
  const columns = expressions.map((expression, index) => column(`c${index}`, expression, { type }));
  const made = report({ dimensionNameFilter: name, columns });
  expect((await as('Developer', 'POST', '', made)).status).toBe(201);
  const { body } = await as('Instructor', 'POST', '/preview', { columns, dimensionNameFilter: name });
  const { bytes } = await file(`report=${made.key}&format=xlsx`);
  const sheet = Buffer.from(unzipSync(bytes)['xl/worksheets/sheet1.xml']!).toString();
  return { row: body.rows[0] as unknown[], csv: (await csvLines(made.key))[1], sheet };
}

test('a duration is a number of seconds that a spreadsheet can show; anything else is text', async () => {
  const metadata = {
    lap: { seconds: 'abc' },
    named: { seconds: 5, temperature: 1 },
    much: 1e300,
    some: 90.5,
  };
  const { row, csv, sheet } = await filesOf(metadata, 'duration', [
    'metadata.some',
    'duration("-1m")',
    'metadata.lap',
    'metadata.named',
    '1.0 / 0.0',
    '0.0 / 0.0',
    'metadata.much',
  ]);
  expect(row).toEqual([
    90.5,
    -60,
    '{"seconds":"abc"}',
    '{"seconds":5,"temperature":1}',
    'Infinity',
    'NaN',
    '1e+300',
  ]);
  expect(csv).toBe(
    '00:01:30.500,-00:01:00,"{""seconds"":""abc""}","{""seconds"":5,""temperature"":1}",Infinity,NaN,1e+300',
  );
  const values = [...sheet.matchAll(/<v>([^<]*)<\/v>/g)].map(([, value]) => Number(value));
  expect(values.every(Number.isFinite)).toBe(true);
  expect(sheet).toContain('>Infinity</t>');
});

test('what has no JSON of its own is text or a number too: unsigned integers, bytes, optional values', async () => {
  const expressions = ['5u + 3u', 'b"abc"', 'bytes("abc")', 'metadata.?lap', 'metadata.?none'];
  const { row } = await filesOf({ lap: 7 }, 'string', expressions);
  expect(row).toEqual(['8', 'YWJj', 'YWJj', '7', null]);
  expect(cellOf(new UnsignedInt(5n), 'number')).toEqual({ type: 'number', value: 5 });
});

test('within a list or a map each value is written as it is alone', async () => {
  const { row } = await filesOf({ lap: 7 }, 'string', [
    '[5u, uint(3)]',
    '[b"abc", bytes("abc")]',
    '{"lap": metadata.?lap, "none": metadata.?none}',
    '[metadata.?none, optional.of([bytes("abc")])]',
    '[duration("4194303999.123456789s"), timestamp("2026-03-01T12:00:00Z")]',
    'duration("4194303999.123456789s")',
  ]);
  expect(row).toEqual([
    '[5,3]',
    '["YWJj","YWJj"]',
    '{"lap":7}',
    '[null,["YWJj"]]',
    '["4194303999.123456789s","2026-03-01T12:00:00.000Z"]',
    '4194303999.123456789s',
  ]);
});

test('a text that looks like an escape of spreadsheets is read as it is', async () => {
  const { csv, sheet } = await filesOf({ bus: 'bus_x0041_log, _X00e4_' }, 'string', ['metadata.bus']);
  expect(csv).toBe('"bus_x0041_log, _X00e4_"');
  expect(sheet).toContain('>bus_x005F_x0041_log, _x005F_X00e4_</t>');
});

test('a text column has the whole of an object, also of one that has seconds', async () => {
  const { csv } = await filesOf({ lap: { seconds: 5, temperature: 1 } }, 'string', [
    'metadata.lap',
    'duration("1.5s")',
    '[duration("1.5s")]',
  ]);
  expect(csv).toBe('"{""seconds"":5,""temperature"":1}",1.5s,"[""1.5s""]"');
});

test('a date is read as strictly as everywhere, in UTC; any other text stays text', async () => {
  const texts = [
    'Run 12',
    '1',
    '2026-02-30',
    '2026-02-30T10:00:00Z',
    '1969-12-31',
    '12026-01-01',
    'March 2026',
  ];
  const dates: [string, string][] = [
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01 12:30', '2026-03-01T12:30:00.000Z'],
    ['2026-03-01T12:00:00+01:00', '2026-03-01T11:00:00.000Z'],
  ];
  const written = [...texts, ...dates.map(([text]) => text)];
  const { row, csv, sheet } = await filesOf(
    { written },
    'date',
    written.map((_, index) => `metadata.written[${index}]`),
  );
  const read = [...texts, ...dates.map(([, date]) => date)];
  expect(row).toEqual(read);
  expect(csv).toBe(read.join(','));
  expect(sheet.match(/<v>\d+(\.\d+)?<\/v>/g)).toHaveLength(dates.length);
});

test('a time outside of the years 1970 to 9999 is text in a column of dates, and one that is none is empty', async () => {
  const { row, sheet } = await filesOf({}, 'date', [
    'timestamp("1969-12-31T23:59:59Z")',
    'timestamp("9999-12-31T23:59:59Z") + duration("1s")',
    'timestamp("2026-03-01T12:00:00Z") + duration("99999999999h")',
    'timestamp("2026-03-01T12:00:00Z")',
  ]);
  expect(row).toEqual([
    '1969-12-31T23:59:59.000Z',
    '+010000-01-01T00:00:00.000Z',
    null,
    '2026-03-01T12:00:00.000Z',
  ]);
  expect(sheet.match(/<v>\d+(\.\d+)?<\/v>/g)).toHaveLength(1);
});

test('a date without an offset is the same in every time zone of a server', () => {
  const { TZ: zone } = process.env;
  try {
    for (const other of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
      process.env.TZ = other;
      expect(cellOf('2026-03-01 12:30', 'date')).toEqual({
        type: 'date',
        value: new Date('2026-03-01T12:30:00Z'),
      });
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test('a format that Excel does not understand is refused, and one of an earlier version is left out of the file', async () => {
  const columns = [column('speed', 'metadata.speed', { type: 'number', format: '0.0 km/h' })];
  const message =
    "Column 'speed': format, position 4: 'k' is not part of a format; text stands in double quotes.";
  const made = report({ columns });
  for (const path of ['', '/preview']) {
    const { status, body } = await as('Developer', 'POST', path, made);
    expect([path, status, body]).toEqual([path, 400, { status: 'error', message }]);
  }
  const quoted = [{ ...columns[0], format: '0.0 "km/h"' }];
  expect((await as('Developer', 'POST', '', { ...made, columns: quoted })).status).toBe(201);
  expect((await as('Developer', 'PUT', `/${made.key}`, { columns })).status).toBe(400);
  const styles = async () => {
    const { bytes } = await file(`report=${made.key}&format=xlsx`);
    return Buffer.from(unzipSync(bytes)['xl/styles.xml']!).toString();
  };
  expect(await styles()).toContain('formatCode="0.0 &quot;km/h&quot;"');
  const stored = JSON.stringify(columns.map((one) => ({ ...one, source: 'metadata', order: 10 })));
  await database.query('update report_definition set columns = $2 where key = $1', [made.key, stored]);
  expect(await styles()).toContain('formatCode="General"');
});

async function preview(name: string, columns: readonly object[], filters: readonly object[] = []) {
  const asked = { columns, filters, dimensionNameFilter: name };
  const { status, body } = await as('Instructor', 'POST', '/preview', asked);
  expect([status, body.message]).toEqual([200, undefined]);
  return body.rows as unknown[][];
}

/** A recording with this metadata, and the cells of expressions over it. */
async function cellsOf(metadata: object, expressions: readonly string[], type = 'string') {
  const name = `numbers-${randomUUID().slice(0, 8)}`;
  await dimension(name, { metadata });
  const columns = expressions.map((expression, index) => column(`c${index}`, expression, { type }));
  const [row] = await preview(name, columns);
  return row;
}

test('a number of metadata is computed with in the same way whether it is whole or not', async () => {
  const name = `speeds-${randomUUID().slice(0, 8)}`;
  for (const speed of [2, 2.5, 2.0, -3]) await dimension(name, { metadata: { speed } });
  const expressions = ['speed * 3.6', 'speed + 1', '1 - speed', 'speed / 2', 'speed % 2', 'speed'];
  const columns = expressions.map((expression, index) =>
    column(`c${index}`, expression, { type: 'number', source: 'metadata' }),
  );
  expect(await preview(name, columns)).toEqual([
    [7.2, 3, -1, 1, 0, 2],
    [9, 3.5, -1.5, 1.25, 0.5, 2.5],
    [7.2, 3, -1, 1, 0, 2],
    [expect.closeTo(-10.8), -2, 4, -1.5, -1, -3],
  ]);
  const filtered = (expression: string, value: unknown) =>
    preview(
      name,
      [column('speed', 'metadata.speed', { type: 'number' })],
      [{ filterKey: 'f', expression, value }],
    );
  expect(await filtered('metadata.speed*2.0', 4)).toEqual([[2], [2]]);
  expect(await filtered('metadata.speed * 2', 5)).toEqual([[2.5]]);
  expect(await filtered('string(metadata.speed)', '2')).toEqual([[2], [2]]);
  expect(await filtered('metadata.speed', -3)).toEqual([[-3]]);
});

test('an integer stands beside numbers of metadata wherever an expression can have one', async () => {
  const metadata = {
    n: 2,
    half: 0.5,
    list: [1, 2, 3],
    names: { '2': 'two' },
    at: 1_700_000_000,
    text: 'abcdef',
  };
  const values: [string, string][] = [
    ['metadata.n == 2', 'true'],
    ['2 != metadata.n', 'false'],
    ['metadata.n > 1 && 1 < metadata.n && metadata.half <= 1', 'true'],
    ['metadata.n % 2', '0'],
    ['metadata.n * 1.5 == 3', 'true'],
    ['metadata.list[0]', '1'],
    ['metadata.list[metadata.n]', '3'],
    ['metadata.names[string(metadata.n)]', 'two'],
    ['{1: "one", 2: "two"}[metadata.n]', 'two'],
    ['metadata.n in [1, 2]', 'true'],
    ['2 in metadata.list', 'true'],
    ['metadata.list == [1, 2, 3]', 'true'],
    ['metadata.n > 1 ? metadata.half * 2.0 : 0', '1'],
    ['metadata.n > 1 ? 1 : metadata.half', '1'],
    ['metadata.list.filter(x, x >= 2).size() * metadata.half', '1'],
    ['metadata.list.map(x, x + 1)', '[2,3,4]'],
    ['metadata.n + size(metadata.list)', '5'],
    ['string(metadata.n)', '2'],
    ['int(metadata.half + 1)', '1'],
    ['-metadata.n', '-2'],
    ['7 / 2', '3'],
    ['metadata.text.substring(metadata.n)', 'cdef'],
    ['metadata.text.substring(1, metadata.n)', 'b'],
    ['metadata.text.indexOf("c", metadata.n)', '2'],
    ['"a,b,c".split(",", metadata.n)', '["a","b,c"]'],
    ['timestamp(metadata.at)', '2023-11-14T22:13:20.000Z'],
    ['timestamp(metadata.at).getHours() + metadata.half', '22.5'],
  ];
  const cells = await cellsOf(
    metadata,
    values.map(([expression]) => expression),
  );
  expect(values.map(([expression], index) => [expression, cells?.[index]])).toEqual(values);
});

test('what has no whole number where one is needed, or divides by the integer 0, is an empty cell', async () => {
  const expressions = [
    'metadata.text.substring(metadata.half)',
    'metadata.list[metadata.half]',
    'metadata.n / 0',
    'metadata.n % 0',
    'metadata.n / size(metadata.none)',
    '1 / metadata.zero',
    'metadata.n % metadata.zero',
  ];
  const metadata = { n: 2, half: 0.5, zero: 0, none: [], list: [1], text: 'abc' };
  expect(await cellsOf(metadata, expressions, 'number')).toEqual(expressions.map(() => null));
});
