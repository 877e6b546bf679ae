/** How the numbers of a delimited text are written: with a point or a comma, with or without marks of thousands. */

import type { Engine } from '../engine.ts';
import { excerpt, type TabularError } from '../errors.ts';
import { isNumberText } from '../text/text-values.ts';
import type { CsvRecord } from './csv/records.ts';
import type { ReadPlan, TableSource } from './source.ts';

export interface NumberStyle {
  /** Numbers have a decimal comma. */
  decimalComma: boolean;
  /** What stands between thousands. */
  thousands: ',' | '.' | null;
}

const grouped = {
  ',': /^\s*[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?\s*$/,
  '.': /^\s*[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?\s*$/,
};

/** Marks of thousands are only seen where some number has both marks: `1,200` and `1.200` alone may be either. */
export function numberStyle(delimiter: string, records: readonly CsvRecord[]): NumberStyle {
  const cells = records.flatMap((record) => record.cells);
  const thousands = ([',', '.'] as const).find((mark) => usesThousands(cells, mark)) ?? null;
  if (thousands !== null) return { decimalComma: thousands === '.', thousands };
  const points = cells.filter((cell) => cell.includes('.') && isNumberText(cell, false));
  const commas = cells.filter((cell) => cell.includes(',') && isNumberText(cell, true));
  // Where commas divide the fields, `"1,200"` is more often a number of thousands than one with three decimals.
  const areDecimal = delimiter === ',' ? commas.some((cell) => !grouped[','].test(cell)) : commas.length > 0;
  // In one file both may stand: a column of versions (`1.2`) beside one of decimal commas.
  return { decimalComma: areDecimal && commas.length > points.length, thousands: null };
}

function usesThousands(cells: readonly string[], mark: ',' | '.'): boolean {
  const decimal = mark === ',' ? '.' : ',';
  return (
    cells.some((cell) => cell.includes(decimal) && grouped[mark].test(cell)) &&
    cells.every(
      (cell) => grouped[mark].test(cell) || !cell.includes(mark) || !isNumberText(cell, mark === ','),
    )
  );
}

/** The record with plain numbers, without marks of thousands. */
export function withoutThousands(record: CsvRecord, { thousands }: NumberStyle): CsvRecord {
  if (thousands === null) return record;
  const plain = (cell: string) => (grouped[thousands].test(cell) ? cell.replaceAll(thousands, '') : cell);
  return { ...record, cells: record.cells.map(plain) };
}

/** Options of the strict reader. */
export function numberOptions({ decimalComma, thousands }: NumberStyle): string[] {
  const decimal = `decimal_separator = '${decimalComma ? ',' : '.'}'`;
  return thousands === null ? [decimal] : [decimal, `thousands = '${thousands}'`];
}

/**
 * The first number whose mark is none of thousands, as a fault with its place; null when there is none. The strict reader
 * takes such a mark out wherever it stands, and would read `1,5` as 15.
 */
export async function findWrongMark(
  engine: Engine,
  source: TableSource,
  { readAs }: ReadPlan,
): Promise<TabularError | null> {
  const mark = source.thousands;
  const numbers = [...readAs.keys()].filter((index) => readAs[index] === 'DOUBLE');
  if (mark === null || numbers.length === 0) return null;
  const { sql, parameters } = source.select({
    readAs: readAs.map((type) => (type === 'DOUBLE' ? 'VARCHAR' : null)),
    timestampFormat: null,
  });
  const isWrong = (index: number) =>
    `contains(c${index}, '${mark}') AND NOT regexp_full_match(c${index}, '${grouped[mark].source}')`;
  const [found] = await engine.rows({
    sql: `SELECT * FROM (SELECT row_number() OVER (), * FROM (${sql})) WHERE ${numbers.map(isWrong).join(' OR ')} LIMIT 1`,
    parameters,
  });
  if (found === undefined) return null;
  const [row, ...values] = found.map(String);
  const at = values.findIndex((value) => value.includes(mark) && !grouped[mark].test(value));
  const name = mark === ',' ? 'comma' : 'point';
  const fault = `The ${name} of ${excerpt(values[at] as string)} is no mark of thousands, as it is in the first rows.`;
  return source.faultAt(Number(row), numbers[at] as number, fault);
}
