/** What expressions compute of the numbers in metadata. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { reportWorld } from './report-world.ts';

const { as, column, dimension } = await reportWorld();

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
