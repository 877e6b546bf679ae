import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const records = [
  { time: 0, speed: 1.5, engine: { rpm: 900, state: 'idle' }, on: true, tags: ['a', 1] },
  { time: 1, speed: null, engine: { rpm: 1000.5 }, on: false, tags: [] },
  { time: 2, engine: null, extra: 'x' },
];
const expected = [
  { t: 0, speed: 1.5, 'engine.rpm': 900, 'engine.state': 'idle', on: true, tags: '["a",1]', extra: null },
  { t: 1000, speed: null, 'engine.rpm': 1000.5, 'engine.state': null, on: false, tags: '[]', extra: null },
  { t: 2000, speed: null, 'engine.rpm': null, 'engine.state': null, on: null, tags: null, extra: 'x' },
];

describe('JSON', () => {
  const lines = records.map((record) => JSON.stringify(record)).join('\n');
  const same: [string, string][] = [
    ['as a list', JSON.stringify(records)],
    ['as an indented list', JSON.stringify(records, null, 2)],
    ['as lines', lines],
    ['as lines with blank ones and carriage returns', `${lines.replaceAll('\n', '\r\n\r\n')}\r\n`],
    [
      'as indented objects one after another',
      records.map((record) => JSON.stringify(record, null, 1)).join('\n'),
    ],
    ['as the one table of an object', JSON.stringify({ title: 'x', data: records })],
    ['behind a byte order mark', `\ufeff${JSON.stringify(records)}`],
  ];
  test.each(same)('gives the same rows %s', async (_, text) => {
    const converted = await bench.convert(text);
    const rows = await bench.rows(converted);
    expect(rows).toEqual(expected);
    expect(converted.description.groups.map((group) => group.id).sort()).toEqual(['default', 'engine']);
  });

  test('as columns gives rows', async () => {
    const converted = await bench.convert(JSON.stringify({ unit: 'm', t: [0, 1], v: [5, 6.5] }));
    expect(await bench.rows(converted)).toEqual([
      { t: 0, v: 5 },
      { t: 1000, v: 6.5 },
    ]);
  });

  test('as lists of values gives rows, with or without a heading', async () => {
    const rows = [
      { t: 0, v: 'a' },
      { t: 1000, v: 'b' },
    ];
    expect(await bench.rows(await bench.convert('[["t","v"],[0,"a"],[1,"b"]]'))).toEqual(rows);
    const twice = await bench.convert('[["t","v","v"],[0,1,2],[1,3,4]]');
    expect((await bench.rows(twice))[1]).toEqual({ t: 1000, v: 3, 'v#2': 4 });
    const plain = await bench.convert('[5,6,7.5]');
    expect((await bench.rows(plain)).map((row) => row.value)).toEqual([5, 6, 7.5]);
  });

  test('keeps values that come late, whatever the size of the sample', async () => {
    const many = Array.from({ length: 5000 }, (_, row) => ({ time: row, v: row }));
    const text = [...many, { time: 5000, v: 0.5, late: 'yes', deep: { x: 1 } }]
      .map((row) => JSON.stringify(row))
      .join('\n');
    const converted = await bench.convert(text, { maxAutodetectSampleRows: 20 });
    expect((await bench.rows(converted)).at(-1)).toEqual({ t: 5_000_000, v: 0.5, late: 'yes', 'deep.x': 1 });
  });

  test('keeps columns of mixed kinds as text', async () => {
    const converted = await bench.convert('[{"a":1,"b":{"x":1}},{"a":"one","b":2},{"a":true,"b":null}]');
    expect((await bench.rows(converted)).map(({ a, b }) => [a, b])).toEqual([
      ['1', '{"x":1}'],
      ['one', '2'],
      ['true', null],
    ]);
  });

  test('keeps odd names unchanged', async () => {
    const name = `a"'; DROP /~0.b$[0]`;
    const converted = await bench.convert(
      JSON.stringify([{ [name]: 1, '': 2, __proto__x: 3 }, { [name]: 2 }]),
    );
    expect(converted.description.channels.map((channel) => channel.name)).toEqual([
      name,
      'column_2',
      '__proto__x',
    ]);
    expect((await bench.rows(converted))[1]).toMatchObject({ [name]: 2 });
  });

  test("reads numbers outside JSON's range as missing or as the nearest", async () => {
    const converted = await bench.convert('{"v":NaN,"w":12345678901234567890123}\n{"v":1,"w":1e999}\n');
    expect((await bench.rows(converted)).map(({ v, w }) => [v, w])).toEqual([
      [null, 1.2345678901234568e22],
      [1, null],
    ]);
  });

  test('finds ISO times, and names the record with an invalid time', async () => {
    const rows = Array.from({ length: 100 }, (_, row) => ({
      time: new Date(row * 1000).toISOString(),
      v: row,
    }));
    const converted = await bench.convert(JSON.stringify(rows));
    expect(converted.description.time).toMatchObject({ kind: 'absolute', from: 0, to: 99_000 });
    const bad = [...rows, { time: 'tomorrow', v: 1 }];
    const settings = { maxAutodetectSampleRows: 20 };
    expect((await bench.fails(JSON.stringify(bad), settings)).message).toMatch(/Record 101: "tomorrow"/);
    const lines = bad.map((row) => JSON.stringify(row)).join('\n');
    expect(await bench.fails(lines, settings)).toMatchObject({ line: 101, columnName: 'time' });
    const spaced = lines.replaceAll('\n', '\n\n');
    expect(await bench.fails(spaced, settings)).toMatchObject({ line: 201, columnName: 'time' });
    const within = await bench.fails(JSON.stringify({ data: bad }), settings);
    expect(within.line).toBeUndefined();
    expect(within.message).toContain('Record 101: ');
  });
});

describe('broken JSON is refused with its place', () => {
  const cases: [string, string, { line?: number; column?: number }, RegExp][] = [
    ['a list with a missing bracket', '[{"a":1},\n{"a":2\n,{"a":3}]', { line: 3, column: 2 }, /malformed/],
    ['a list that ends too early', '[{"a":1},\n{"a":2}', { line: 2 }, /too early/],
    ['a line that is broken', '{"a":1}\n{"a":2}\n{"a":\n{"a":4}\n', { line: 3 }, /malformed|early/],
    [
      'a list with a value that is none',
      '[{"a":1},\n{"b":",]","a":None},\n{"a":3}]',
      { line: 2, column: 15 },
      /malformed/,
    ],
    ['a list with a comma too many', '[{"a":1},\n{"a":2},\n ]', { line: 3, column: 2 }, /malformed/],
    ['a line with a value that is none', '{"a":1}\n{"a":x}\n{"a":3}\n', { line: 2, column: 6 }, /malformed/],
    [
      'a list with NaN that ends too early',
      '[{"a":NaN},\n{"a":-Infinity},\n{"a":2',
      { line: 3, column: 7 },
      /early/,
    ],
    [
      'a broken line after many',
      `${'{"a":1}\n'.repeat(5000)}{"a" 1}\n`,
      { line: 5001, column: 6 },
      /malformed/,
    ],
    ['an object that is broken', '{"data":[{"a":1},\n{"a":x}]}', { line: 2, column: 6 }, /malformed/],
    ['lists that end too early', '[[0,1],\n[1,2]', { line: 2, column: 6 }, /early/],
    [
      'objects one after another, one of them broken',
      '{\n"a":1\n} {"a":2}\n{\n"a" 3\n}\n{"a":4}',
      { line: 5, column: 5 },
      /malformed/,
    ],
    [
      'records that are no objects',
      '{"a":1}\n\n{"a":1}\n  [1]\n5\n',
      { line: 4, column: 3 },
      /not an object/,
    ],
    ['records that are plain values', '[{"a":1},5]', {}, /^Record 2: .*not an object/],
    ['an object without a table', '{"type":"Topology","arcs":[[[1,2],[3,4]]]}', {}, /no table/],
    ['an object with several tables', '{"a":[{"x":1}],"b":[{"x":1}]}', {}, /"a", "b"/],
    ['lists of different lengths', '[[1,2],[1,2,3]]', {}, /Record 2/],
  ];
  test.each(cases)('%s', async (_, text, place, message) => {
    const error = await bench.fails(text);
    expect(error).toMatchObject(place);
    expect(error.message).toMatch(message);
  });

  test('nesting that would exhaust the stack', async () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const deep = `{"ok":1}\n{"a":${open.repeat(300_000)}1${close.repeat(300_000)}}\n`;
      expect((await bench.fails(deep)).message).toMatch(/nested deeper/);
    }
  });

  test('a record of more than 16 MB', async () => {
    const error = await bench.fails(`{"a":1}\n{"a":"${'x'.repeat(40_000_000)}"}\n`);
    expect(error.message).toMatch(/16 MB/);
  });

  test('more different names than a recording may have', async () => {
    const lines = Array.from({ length: 20_000 }, (_, row) => JSON.stringify({ [`n${row}`]: row }));
    expect((await bench.fails(lines.join('\n'))).message).toMatch(/more than 5000/);
  });

  test('large values within bounds are kept', async () => {
    const converted = await bench.convert(`{"time":0,"a":"${'x'.repeat(5_000_000)}"}\n{"time":1,"a":"y"}\n`);
    expect((await bench.rows(converted)).map((row) => String(row.a).length)).toEqual([5_000_000, 1]);
  });
});
