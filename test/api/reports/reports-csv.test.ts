/** Readers of a csv report: programs by RFC 4180, and spreadsheets that split columns otherwise. */
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cell } from '../../../domain/reports/report.ts';
import { guardedText } from '../../../domain/reports/spreadsheet-text.ts';
import { writeCsv } from '../../../store/reports/csv.ts';

async function csvOf(header: readonly string[], rows: readonly (readonly string[])[]): Promise<string> {
  const cells = rows.map((row) => row.map((value): Cell => ({ type: 'string', value })));
  async function* batches() {
    yield cells;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of writeCsv(header, batches())) chunks.push(chunk);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\ufeff/, '');
}

/** By the grammar of RFC 4180 alone; throws for what is outside of it. */
function readStrictly(text: string): string[][] {
  const records: string[][] = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (field.lastIndex < text.length) {
    const found = field.exec(text);
    if (found === null) throw new Error(`not by RFC 4180: ${JSON.stringify(text)}`);
    const [, inQuotes, bare = '', end] = found;
    records.at(-1)!.push(inQuotes?.replaceAll('""', '"') ?? bare);
    if (end === '\r\n') records.push([]);
  }
  return records.slice(0, -1);
}

/** As spreadsheets do: a quote opens a cell only at its beginning, what follows the closing one is appended. */
function cellsBySpreadsheet(text: string, delimiter: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        if (text[at] === '"' && text[at + 1] !== '"') break;
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    }
    for (; at < text.length && text[at] !== delimiter && !/[\r\n]/.test(text[at]!); at += 1) cell += text[at];
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1;
    cells.push(cell);
  }
  return cells;
}

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n;,"\'ab ') }),
  fc.string({ unit: 'grapheme' }),
);
const table = fc
  .integer({ min: 2, max: 4 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 4 }),
  );

test('every text comes back through a strict reader, but for the apostrophes that guard it', async () => {
  const bare = (rows: readonly (readonly string[])[]) =>
    rows.map((row) => row.map((value) => value.replaceAll("'", '')));
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      expect(bare(readStrictly(await csvOf(rows[0]!, rows)))).toEqual(bare([rows[0]!, ...rows]));
    }),
    { numRuns: 300 },
  );
  const plain = [['a', 'two\nlines', 'return\rhere', 'semi;colon', 'say "x"', '']];
  expect(readStrictly(await csvOf([], plain)).slice(1)).toEqual(plain);
});

test('no text becomes a formula, for any column separator of the spreadsheet', async () => {
  await fc.assert(
    fc.asyncProperty(table, fc.constantFrom(',', ';', '\t'), async (rows, delimiter) => {
      const cells = cellsBySpreadsheet(await csvOf(rows[0]!, rows), delimiter);
      expect(cells.filter((text) => /^[=+\-@\t\r]/.test(text))).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
  expect(await csvOf(['h'], [['x;=HYPERLINK("http://a")']])).toContain(`x;'=HYPERLINK`);
});

test('the bytes are those of the csv-stringify library, given the same guarded texts', async () => {
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      const guarded = [rows[0]!, ...rows].map((row) => row.map(guardedText));
      const written = stringify(guarded, { record_delimiter: 'windows', quoted_match: /[",\r\n]/ });
      expect(await csvOf(rows[0]!, rows)).toBe(written);
    }),
    { numRuns: 300 },
  );
});
