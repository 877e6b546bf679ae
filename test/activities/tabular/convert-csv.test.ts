import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDescription } from '../../../activities/builtin/tabular/recording/describe.ts';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const simple = 'time [s],speed [m/s],mode\n0,1.5,idle\n0.5,2,run\n1,,run\n';
const simpleRows = [
  { t: 0, speed: 1.5, mode: 'idle' },
  { t: 500, speed: 2, mode: 'run' },
  { t: 1000, speed: null, mode: 'run' },
];

describe('delimited text', () => {
  test('becomes rows in milliseconds with units, types and a full description', async () => {
    const converted = await bench.convert(simple);
    expect(await bench.rows(converted)).toEqual(simpleRows);
    expect(converted.description).toEqual({
      version: 1,
      source: { outputId: 7, outputIdentifier: 'upload-1' },
      format: 'csv',
      realms: ['default'],
      groups: [{ id: 'default', name: 'default' }],
      channels: [
        {
          id: 'speed',
          name: 'speed',
          unit: 'm/s',
          type: 'number',
          group: 'default',
          realm: 'default',
          column: 'c1',
          nullCount: 1,
          min: 1.5,
          max: 2,
          mean: 1.75,
          standardDeviation: Math.sqrt(0.125),
        },
        {
          id: 'mode',
          name: 'mode',
          unit: null,
          type: 'text',
          group: 'default',
          realm: 'default',
          column: 'c2',
          nullCount: 0,
        },
      ],
      time: {
        column: 't',
        kind: 'relative',
        from: 0,
        to: 1000,
        name: 'time [s]',
        basis: 'column',
        sorted: true,
      },
      rowCount: 3,
      columnCount: 3,
      warnings: [],
    });
    expect(converted.rowCount).toBe(3);
  });

  test('carries its description in the file itself', async () => {
    const converted = await bench.convert(simple, { emitSuggestedLayout: true });
    expect(await readDescription(bench.outputPath)).toEqual(converted.description);
    expect(converted.description.suggestedLayout).toEqual({
      version: 1,
      panels: [
        { title: 'default [m/s]', group: 'default', unit: 'm/s', channels: ['speed'] },
        { title: 'default: states', group: 'default', unit: null, channels: ['mode'] },
      ],
    });
  });

  const unitsBelow = simple.replace(/ \[[^\]]*\]/g, '').replace('mode\n', 'mode\ns,m/s,\n');
  const same: [string, string | Uint8Array][] = [
    ['with tabs', simple.replaceAll(',', '\t')],
    ['with semicolons', simple.replaceAll(',', ';')],
    ['with semicolons and decimal commas', simple.replaceAll(',', ';').replaceAll('.', ',')],
    ['with bars', simple.replaceAll(',', '|')],
    ['with carriage returns and line feeds', simple.replaceAll('\n', '\r\n')],
    ['with carriage returns alone', simple.replaceAll('\n', '\r')],
    ['with mixed line ends', simple.replace('mode\n', 'mode\r\n').replace('run\n', 'run\r')],
    ['without a last line end', simple.trimEnd()],
    ['with blank lines', simple.replace('\n0.5', '\n\n0.5').concat('\n\n')],
    ['with comments before the heading', `# made by a test, "quoted\n\n#x\n${simple}`],
    ['with a line that names the delimiter', `sep=;\n${simple.replaceAll(',', ';')}`],
    ['with a byte order mark', `\ufeff${simple}`],
    ['in UTF-16, little endian', Buffer.from(`\ufeff${simple}`, 'utf16le')],
    ['in UTF-16, big endian', Buffer.from(`\ufeff${simple}`, 'utf16le').swap16()],
    ['packed with gzip that nobody declared', gzipSync(simple)],
    [
      'packed with gzip in two members',
      Buffer.concat([gzipSync(simple.slice(0, 30)), gzipSync(simple.slice(30))]),
    ],
    ['with quotes around everything', simple.replace(/[^,\n]+/g, (cell) => `"${cell}"`)],
    ['with blanks around numbers', simple.replace('0.5,2,', ' 0.5 , 2 ,')],
    ['with units in a line of their own', unitsBelow],
    ['with words for missing numbers', simple.replace('1,,run', '1,NaN,run')],
    ['with both', unitsBelow.replace('1,,run', '1,NaN,run')],
    ['with missing numbers as C prints them', simple.replace('1,,run', '1,-nan,run')],
    ['with missing numbers as C prints them on Windows', simple.replace('1,,run', '1,-nan(ind),run')],
    ['with missing numbers as old C libraries print them', simple.replace('1,,run', '1,-1.#IND00,run')],
    ['with the errors of a spreadsheet', simple.replace('1,,run', '1,#DIV/0!,run')],
    ['with dashes for a missing number', simple.replace('1,,run', '1,-----,run')],
  ];
  test.each(same)('gives the same rows %s', async (_, content) => {
    const converted = await bench.convert(content);
    expect(await bench.rows(converted)).toEqual(simpleRows);
    expect(converted.description.channels[0]).toMatchObject({ name: 'speed', unit: 'm/s', type: 'number' });
  });

  test('is read as declared when the format is configured', async () => {
    const text = 'a;b,c\n1;2,5\n2;3,5\n';
    const semicolon = await bench.convert(text, { inputFormat: 'semicolon' });
    expect((await bench.rows(semicolon)).map(({ t: _t, ...row }) => row)).toEqual([
      { a: 1, b_c: 2.5 },
      { a: 2, b_c: 3.5 },
    ]);
    const tsv = await bench.convert('a\tb;c\n1\t2\n', { inputFormat: 'tsv' });
    expect(tsv.description.channels.map((channel) => channel.name)).toEqual(['a', 'b;c']);
  });

  test('keeps commas, quotes and line ends within quoted values', async () => {
    const converted = await bench.convert('t,text\n1,"a, ""b""\nc"\n2,5" pipe\n');
    expect(await bench.rows(converted)).toEqual([
      { t: 1000, text: 'a, "b"\nc' },
      { t: 2000, text: '5" pipe' },
    ]);
  });

  test('without a heading gets names by position', async () => {
    const converted = await bench.convert('0,1.5,x\n1,2.5,y\n2,3.5,z\n');
    expect(await bench.rows(converted)).toEqual([
      { t: 0, column_2: 1.5, column_3: 'x' },
      { t: 1000, column_2: 2.5, column_3: 'y' },
      { t: 2000, column_2: 3.5, column_3: 'z' },
    ]);
  });

  test('of one column is a series over row numbers, and says so', async () => {
    const converted = await bench.convert('value\n3\n1\n2\n');
    expect(await bench.rows(converted)).toEqual([
      { t: 0, value: 3 },
      { t: 1, value: 1 },
      { t: 2, value: 2 },
    ]);
    expect(converted.description.time).toMatchObject({ kind: 'relative', basis: 'row-number', name: null });
    expect(converted.description.warnings).toHaveLength(1);
  });

  test('never rounds a decimal number that comes after many whole ones', async () => {
    const lines = Array.from({ length: 300 }, (_, row) => `${row},${row}`);
    const converted = await bench.convert(`t,v\n${lines.join('\n')}\n300,0.5\n`, {
      maxAutodetectSampleRows: 20,
    });
    expect((await bench.rows(converted)).at(-1)).toEqual({ t: 300_000, v: 0.5 });
    expect(converted.description.channels[0]?.type).toBe('number');
  });

  test('accepts texts, and words for missing numbers, that appear only after the sample', async () => {
    const lines = Array.from({ length: 300 }, (_, row) => `${row},${row},,`);
    const text = `t,v,late,later\n${lines.join('\n')}\n300,N/A,hello,5\n`;
    const converted = await bench.convert(text, { maxAutodetectSampleRows: 20 });
    expect((await bench.rows(converted)).at(-1)).toEqual({ t: 300_000, v: null, late: 'hello', later: 5 });
  });

  test('counts a missing number as missing however it is spelled after the sample', async () => {
    const lines = Array.from({ length: 300 }, (_, row) => `${row},${row}`);
    const text = `t,v\n${lines.join('\n')}\n300,-nan\n301,Nan\n302,+nan\n303,-nan(ind)\n`;
    const converted = await bench.convert(text, { maxAutodetectSampleRows: 20 });
    expect((await bench.rows(converted)).slice(299).map((row) => row.v)).toEqual([
      299,
      null,
      null,
      null,
      null,
    ]);
    expect(converted.description.channels[0]).toMatchObject({ max: 299, nullCount: 4 });
  });

  test('remarks that whole numbers were rounded, and only these', async () => {
    const { description } = await bench.convert(
      't,id,count,mass,code\n0,12345678901234567891,9007199254740991,1e22,A12345678901234567891\n1,2,2,3e22,B\n',
    );
    expect(description.warnings).toEqual([
      'Whole numbers beyond 9007199254740991 were rounded to the nearest that a chart can show, in "id".',
    ]);
  });

  test('skips infinite numbers', async () => {
    const converted = await bench.convert('t,v\n0,1\n1,inf\n2,-Infinity\n3,1e400\n4,2\n');
    expect((await bench.rows(converted)).map((row) => row.v)).toEqual([1, null, null, null, 2]);
    expect(converted.description.channels[0]).toMatchObject({ min: 1, max: 2, nullCount: 3 });
    expect(converted.description.warnings.join()).toContain('Infinite');
  });

  test('reads true and false as booleans', async () => {
    const converted = await bench.convert('t,on\n0,true\n1,FALSE\n2,\n');
    expect((await bench.rows(converted)).map((row) => row.on)).toEqual([true, false, null]);
    expect(converted.description.channels[0]?.type).toBe('boolean');
  });
});

describe('order of rows', () => {
  test('follows the time, and the file for equal times', async () => {
    const converted = await bench.convert('t,v\n2,a\n1,b\n2,c\n0,d\n1,e\n', { timeColumn: 't' });
    expect((await bench.rows(converted)).map((row) => row.v)).toEqual(['d', 'b', 'e', 'a', 'c']);
    expect(converted.description.time.sorted).toBe(true);
    expect(converted.description.warnings).toEqual(['The rows were sorted by time.']);
  });

  test('skips rows without a time, and counts them', async () => {
    const converted = await bench.convert('t,v\n0,1\n,2\n2,3\n', { timeColumn: 't' });
    expect((await bench.rows(converted)).map((row) => row.v)).toEqual([1, 3]);
    expect(converted.description.warnings).toEqual(['1 rows without a time were skipped.']);
  });
});

describe('names', () => {
  test('that a database could mistake for commands are plain names', async () => {
    const headings = ['a"; DROP TABLE x; --', "b'); COPY x TO '/tmp/x'; --", 'c0', '$1', '\\', 'a,b', ''];
    const line = headings.map((heading) => `"${heading.replaceAll('"', '""')}"`).join(',');
    const converted = await bench.convert(`time,${line}\n0,1,2,3,4,5,6,7\n1,2,3,4,5,6,7,8\n`);
    expect(converted.description.channels.map((channel) => channel.name)).toEqual([
      ...headings.slice(0, -1),
      'column_7',
    ]);
    expect(converted.description.channels[5]?.id).toBe('a_b');
    expect(Object.values((await bench.rows(converted))[1] as object)).toEqual([1000, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('that occur twice get ids that do not', async () => {
    const converted = await bench.convert('t,v,v,v [m],v#2\n0,1,2,3,4\n1,1,2,3,4\n');
    expect(converted.description.channels.map((channel) => channel.id)).toEqual(['v', 'v#2', 'v#3', 'v#2#2']);
  });

  test('of absurd length are cut', async () => {
    const long = 'x'.repeat(10_000);
    const converted = await bench.convert(`t,${long},${long}\n0,1,2\n1,2,3\n`);
    const ids = converted.description.channels.map((channel) => channel.id);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => id.length <= 255)).toBe(true);
  });

  test('of groups come from the configuration: by list, by prefix, else the default', async () => {
    const text = 't,engine.rpm,Engine_temp,brake/front,speed,aux\n0,1,2,3,4,5\n1,1,2,3,4,5\n';
    const converted = await bench.convert(text, {
      groups: [
        { id: 'engine' },
        { id: 'b', name: 'Brake' },
        { id: 'motion', name: 'Motion', channels: ['SPE*'] },
      ],
      defaultGroupId: 'rest',
    });
    expect(converted.description.channels.map((channel) => channel.group)).toEqual([
      'engine',
      'engine',
      'b',
      'motion',
      'rest',
    ]);
    expect(converted.description.groups).toEqual([
      { id: 'engine', name: 'engine' },
      { id: 'b', name: 'Brake' },
      { id: 'motion', name: 'Motion' },
      { id: 'rest', name: 'rest' },
    ]);
  });

  test('of groups come from prefixes when nothing is configured', async () => {
    const converted = await bench.convert('t,engine.rpm,engine.temp (degC),speed\n0,1,2,3\n1,2,3,4\n');
    expect(converted.description.groups.map((group) => group.id)).toEqual(['engine', 'default']);
    expect(converted.description.channels[1]).toMatchObject({
      name: 'engine.temp',
      unit: 'degC',
      group: 'engine',
    });
  });

  test('of realms are the upload, or as configured', async () => {
    const perFile = await bench.convert(simple, { realmPerFile: true, defaultRealm: 'car' });
    expect(perFile.description.realms).toEqual(['upload-1']);
    const fixed = await bench.convert(simple, { defaultRealm: 'car' });
    expect(fixed.description.channels.every((channel) => channel.realm === 'car')).toBe(true);
  });
});
