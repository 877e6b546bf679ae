/** The heading again between rows. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const remark = 'The heading stands again between the rows, and was left out: 1.';

describe('a heading that stands again between rows is left out, with a remark', () => {
  test.each([
    ['at once', 't,v [°C]\n0,1\n1,2\nt,v [°C]\n2,3\n'],
    ['with carriage returns, in quotes', '"t","v [°C]"\r\n0,1\r\n1,2\r\n"t","v [°C]"\r\n2,3\r\n'],
    [
      'below settings, above a footer',
      'Rig 5\nOperator Berg\nt;v [°C]\n0;1\n1;2\nt;v [°C]\n2;3\nEnd of file\n',
    ],
    ['at the end', 't,v [°C]\n0,1\n1,2\n2,3\nt,v [°C]'],
  ])('%s', async (_, text) => {
    const converted = await bench.convert(text);
    expect((await bench.rows(converted)).map((row) => Object.values(row))).toEqual([
      [0, 1],
      [1000, 2],
      [2000, 3],
    ]);
    expect(converted.description.warnings).toContain(remark);
  });

  test('far behind the sample', async () => {
    const lines = Array.from({ length: 200_000 }, (_, row) => `${row},${row * 2},ä`).join('\n');
    const { rowCount, description } = await bench.convert(`t,v,s\n${lines}\nt,v,s\n200000,1,ä\n`);
    expect(rowCount).toBe(200_001);
    expect(description.warnings).toEqual([remark]);
  });

  test('but not in a line of many megabytes, which is named', async () => {
    const error = await bench.fails(`t,v\n0,1\nt,v\n1,${'x'.repeat(40_000_000)}\nt,v\n2,3\n`);
    expect(error).toMatchObject({ line: 4, message: expect.stringContaining('longer') });
  });

  test('and faults are named with their lines', async () => {
    expect((await bench.fails('t,v\n0,1\nt,v\n1,2,3\n')).line).toBe(4);
  });
});

test('texts alike are rows where none of the first line is a name', async () => {
  expect((await bench.convert('0,idle\n0,idle\n1,run\n')).rowCount).toBe(3);
});
