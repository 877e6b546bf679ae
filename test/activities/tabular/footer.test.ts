/** Lines below a table. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const rows = [
  { t: 0, v: 1, w: 2 },
  { t: 1000, v: 3, w: 4 },
  { t: 2000, v: 5, w: 6 },
];
const table = 't,v,w\n0,1,2\n1,3,4\n2,5,6\n';

describe('lines below a table are left out, with a remark', () => {
  const footers: [string, string, number][] = [
    ['End of file', 'End of file', 1],
    ['"Total"', 'Total,9,12', 1],
    ['"End of file"', '\nEnd of file\n', 1],
    ['"Samples: 3"', '\r\nSamples: 3\r\nChecked by I. Berg, Rig 5\r\n', 2],
    ['"Statistics"', '\n\nStatistics\nMin,1,2\nMax,5,6\nMean;3\n', 4],
    ['",,,"', ',,,\nEOF', 2],
  ];
  test.each(footers)('%s', async (_, footer, lines) => {
    const converted = await bench.convert(table + footer);
    expect(await bench.rows(converted)).toEqual(rows);
    expect(converted.description.time.name).toBe('t');
    expect(converted.description.warnings).toHaveLength(1);
    expect(converted.description.warnings[0]).toMatch(
      new RegExp(`^Lines below the table, from ".*" on, were not read: ${lines}\\.$`),
    );
  });

  test.each([
    ['semicolons and decimal commas', 't;v;w\n0;1,0;2\n1;3,0;4\n2;5,0;6\nSumme;9,0;12\n'],
    ['a line of units', 't;v;w\n[s];[m];[m]\n0;1;2\n1;3;4\n2;5;6\nEnde der Datei\n'],
    ['blanks', 't v w\n0 1 2\n1 3 4\n2 5 6\nEnd of the recording now\n'],
    ['settings above', 'Rig 5\nOperator "I. Berg"\n\nt,v,w\n0,1,2\n1,3,4\n2,5,6\nEnd\n'],
    ['comments between', 't,v,w\n0,1,2\n# lap 2\n1,3,4\n2,5,6\n# done\nEnd of file\n'],
  ])('beside %s', async (_, text) => {
    expect(await bench.rows(await bench.convert(text))).toEqual(rows);
  });

  test('of a long file, far behind the sample', async () => {
    const lines = Array.from({ length: 300_000 }, (_, row) => `${row},${row * 2},some text of row ${row}`);
    const text = `time,v,s\n${lines.join('\n')}\nEnd of file: 300000 samples\n`;
    expect(text.length).toBeGreaterThan(8 * 1024 * 1024);
    const { description } = await bench.convert(text);
    expect(description).toMatchObject({ rowCount: 300_000, channels: [{ max: 599_998 }, { type: 'text' }] });
    expect(description.warnings).toEqual([
      'Lines below the table, from "End of file: 300000 samples" on, were not read: 1.',
    ]);
  });
});

describe('a last line that a recorder left half written is left out, and remarked', () => {
  test.each([
    ['with fewer fields', `${table}3,7`, '3,7'],
    ['with half a time', 'time,v,w\n0:00:01,2,3\n0:00:02,3,4\n0:00:03,4,5\n0:0', '0:0'],
    ['in an open quote', 't,s,w\n0,a,2\n1,b,4\n2,c,6\n3,"d', '3,d'],
    ['between blanks', 't v w\n0 1 2\n1 3 4\n2 5 6\n3 7', '3 7'],
    ['below texts', 'name,v\ncar,1\nbus,2\ntram,3\ntr', 'tr'],
  ])('%s', async (_, text, line) => {
    const { description } = await bench.convert(text);
    expect(description).toMatchObject({ rowCount: 3 });
    expect(description.warnings).toContainEqual(
      `The last line breaks off, and was not read: ${JSON.stringify(line)}.`,
    );
  });

  test('of a long file, far behind the sample, beside lines of comment', async () => {
    const lines = Array.from({ length: 300_000 }, (_, row) => `${row},${row * 2},some text of row ${row}`);
    const text = `time,v,s\n${lines.join('\n')}\n# power lost\n300000,60`;
    const { description } = await bench.convert(text);
    expect(description).toMatchObject({ rowCount: 300_000, channels: [{ max: 599_998 }, { type: 'text' }] });
    expect(description.warnings).toEqual([
      'Lines of comment between the rows were not read: 1.',
      'The last line breaks off, and was not read: "300000,60".',
    ]);
  });
});

describe('what may be a row with a fault is refused', () => {
  test.each([
    ['a last row with too few fields that has ended', `${table}3,7\n`, 5],
    ['a last line with too many fields', `${table}3,7,8,9`, 5],
    ['a row with too few fields, also where the last line breaks off', `t,v,w\n0,1\n1,3,4\n2,5,6\n3,7`, 2],
    ['a text among times', `${table}broken,7,8\n`, null],
    ['a line of text between rows', 't,v,w\n0,1,2\nPause\n1,3,4\n2,5,6\n', 3],
    ['a second table', `${table}Statistics\nname,min\n1,2\n`, 5],
  ])('%s', async (_, text, line) => {
    if (line !== null) expect((await bench.fails(text)).line).toBe(line);
    else expect((await bench.convert(text)).rowCount).toBe(4);
  });

  test('and texts in the first column are rows, the last one too', async () => {
    const converted = await bench.convert('name,v\ncar,1\nbus,2\ntotal,3\n');
    expect((await bench.rows(converted)).map(({ name }) => name)).toEqual(['car', 'bus', 'total']);
  });
});
