/** How the numbers of a delimited text are written: with a point or a comma, with or without marks of thousands. */

import { isNumberText } from '../text/text-values.ts';
import type { CsvRecord } from './csv-records.ts';

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
