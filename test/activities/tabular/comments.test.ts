/** Lines of comment (`#`) between the rows of a table. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());
const rowsOf = async (text: string) => bench.rows(await bench.convert(text));

describe('lines of comment between rows', () => {
  const rows = [
    { t: 0, v: 1, w: 2 },
    { t: 1000, v: 3, w: 4 },
    { t: 2000, v: 5, w: 6 },
  ];
  const tables: [string, string][] = [
    ['with fewer fields', 't,v,w\n0,1,2\n# lap 2\n1,3,4\n2,5,6\n'],
    ['with as many fields', 't,v,w\n0,1,2\n# lap 2, 11:00, dry\n1,3,4\n2,5,6\n'],
    ['with a quote that is not closed', 't,v,w\n0,1,2\n# he said "go\n1,3,4\n2,5,6\n'],
    ['with carriage returns', 't,v,w\r\n0,1,2\r\n# lap 2, a, b\r\n1,3,4\r\n2,5,6\r\n'],
    ['below a line of units', 't,v,w\n[s],[m],[m]\n0,1,2\n# lap 2\n1,3,4\n2,5,6\n'],
    ['at the end', 't,v,w\n0,1,2\n1,3,4\n2,5,6\n# end of the recording'],
    ['below the heading', 't,v,w\n# x, y, z\n0,1,2\n1,3,4\n2,5,6\n'],
    ['without a heading of names', '# t,v,w\n0,1,2\n1,3,4\n# lap 2\n2,5,6\n'],
  ];
  test.each(tables)('are left out: %s', async (_, text) => {
    const converted = await bench.convert(text);
    expect(await bench.rows(converted)).toEqual(rows);
    expect(converted.description.warnings).toContain('Lines of comment between the rows were not read: 1.');
  });

  test.each([
    ['numbers', (row: number) => String(row)],
    ['times', (row: number) => `2026-11-28T10:00:${String(row % 60).padStart(2, '0')}Z`],
  ])('are left out where they appear only after the sample, beside %s', async (_, time) => {
    const lines = Array.from({ length: 50 }, (_, row) => `${time(row)},${row}`);
    const text = `time,v\n${lines.join('\n')}\n# one\n${time(50)},50\n# two, 2\n${time(51)},51\n`;
    const converted = await bench.convert(text, { maxAutodetectSampleRows: 20 });
    expect(converted.description).toMatchObject({ rowCount: 52, channels: [{ type: 'integer', max: 51 }] });
    expect(converted.description.warnings).toContain('Lines of comment between the rows were not read: 2.');
  });

  test('leave the lines of faults as they are in the file', async () => {
    const fault = await bench.fails('t,v\n0,1\n# one\n1,2\n# two, 2\n2,3,4\n');
    expect(fault).toMatchObject({ line: 6, message: expect.stringContaining('3 fields, not 2') });
  });
});

test('texts that begin with # are values', async () => {
  const rows = await rowsOf('id,v\ncar,1\n#7,2\n#8,3\n');
  expect(rows.map(({ id }) => id)).toEqual(['car', '#7', '#8']);
  const quoted = await rowsOf('t,note\n0,"a\n#b"\n1,#c\n2,d\n');
  expect(quoted.map(({ note }) => note)).toEqual(['a\n#b', '#c', 'd']);
});
