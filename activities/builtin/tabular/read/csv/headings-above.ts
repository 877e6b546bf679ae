/** Finds names and units above the rows of a text, and distinguishes them from its values. */

import { isMissingText, isNumberText, looksLikeTime } from '../../text/text-values.ts';
import type { CsvRecord } from './records.ts';

/** How many values decide whether a column holds numbers. */
const probedRecords = 200;

/** Whether texts of a comment may be headings: values, settings and sentences are not. */
export function areNames(names: readonly string[], decimalComma: boolean): boolean {
  return names.every((name, index) => {
    if (name === '') return index === 0;
    return !isNumberText(name, decimalComma) && !looksLikeTime(name) && !/:\s|=|[.!?]$/.test(name);
  });
}

/** Common units, alone or in brackets: `s`, `km/h`, `[m/s^2]`, `1/min`, and what stands for none. */
export function isCommonUnit(cell: string): boolean {
  const one =
    /^(?:1|%|°[CF]?|[nµumckMG]?(?:m|s|g|A|V|W|J|N|Pa|Hz|rad|bar|l|L|Wh|Nm|Ω|eV)|t|h|min|d|K|deg|rpm|mph|psi|ft|in|mi|kn|kt|lb|gal)(?:\^?-?\d|[²³])?$/;
  return /^[[(].*[\])]$|^-?$/.test(cell) || cell.split(/[/*·]/).every((part) => one.test(part));
}

/** A line of units: short texts without any number, one of them at least over a column of numbers. */
export function isUnitsLine(cells: string[], rest: CsvRecord[], decimalComma: boolean): boolean {
  const sample = rest.slice(0, probedRecords);
  if (sample.length === 0) return false;
  let overNumbers = 0;
  for (const [index, raw] of cells.entries()) {
    const cell = raw.trim();
    const below = sample
      .map((record) => record.cells[index] ?? '')
      .filter((value) => value.trim() !== '' && !isMissingText(value));
    const numeric = below.length > 0 && below.every((value) => isNumberText(value, decimalComma));
    if (isNumberText(cell, decimalComma) || looksLikeTime(cell) || cell.length > 24) return false;
    // A missing value in a column of numbers is data, not a unit.
    if (numeric && isMissingText(cell) && cell !== '-') return false;
    if (numeric && cell !== '' && cell !== '-') overNumbers++;
    if (!numeric && cell !== '' && below.length > 0 && !/^[[(].*[\])]$/.test(cell)) return false;
  }
  return overNumbers > 0;
}

/** The names above rows of LabVIEW, whose last one is that of a comment that the rows do not have. */
export function labviewNames(heading: CsvRecord | undefined, first: CsvRecord): string[] | null {
  const names = heading?.cells.slice(0, -1) ?? [];
  const isOfRows = names.length === first.cells.length && heading?.cells.at(-1) === 'Comment';
  return isOfRows && names[0] === 'X_Value' ? names : null;
}

/**
 * The first line is a heading unless it holds a number, above columns that hold numbers too. A number over a column
 * of texts, or a text over a column of numbers, decides for a heading.
 */
export function isHeading(first: string[], rest: CsvRecord[], decimalComma: boolean): boolean {
  const isValue = (cell: string) =>
    isNumberText(cell, decimalComma) || isMissingText(cell) || looksLikeTime(cell);
  const filled = first.filter((cell) => cell.trim() !== '');
  if (filled.length === 0) return false;
  if (filled.every((cell) => !isValue(cell))) return true;
  const sample = rest.slice(0, probedRecords);
  return first.some((cell, index) => {
    if (cell.trim() === '' || isValue(cell)) return false;
    const below = sample.map((record) => record.cells[index] ?? '').filter((value) => value.trim() !== '');
    return below.length > 0 && below.every((value) => isValue(value));
  });
}
