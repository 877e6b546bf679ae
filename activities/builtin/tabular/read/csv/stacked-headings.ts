/** Headings of several lines, as motion capture, oscilloscopes and data loggers write them. */

import { isMissingText, isValueText } from '../../text/text-values.ts';
import { type CsvRecord, maxHeadings } from './records.ts';

export interface StackedHeadings {
  /** How many records they are. */
  readonly lines: number;
  readonly names: string[];
  readonly units: string[] | null;
  /** Lines above the names are left out. */
  readonly hasSettings: boolean;
}

/** The values begin where this many rows of values follow each other. */
const rowsOfValues = 3;

/**
 * The names are the first line with a text in every field. Where they repeat, the lines above them name what they belong
 * to; the line below them has the units. Null for a table with one line of names, and one of units at the most.
 */
export function stackedHeadings(records: readonly CsvRecord[]): StackedHeadings | null {
  const lines = firstRow(records);
  const head = records.slice(0, lines).map(({ cells }) => cells.map((cell) => cell.trim()));
  if (head.some((cells) => cells.length !== records[lines]?.cells.length)) return null;
  const at = head.findIndex((cells) => cells.length > 1 && !cells.includes(''));
  const [names, ...below] = head.slice(at);
  if (names === undefined || below.flat().some(isValueText)) return null;
  // Numbers of channels are names where units stand below them.
  const areNumbered = names.some(isValueText) && below.length > 0 && !isValueText(names[0] as string);
  if (at === -1 || (names.some(isValueText) ? !areNumbered : at === 0 && lines <= 2)) return null;
  const areUnique = new Set(names).size === names.length;
  const groups = areUnique ? [] : head.slice(0, at).map(filledToTheRight);
  return {
    lines,
    names: names.map((name, column) => longName([...groups.map((group) => group[column] ?? ''), name])),
    units: below[0] ?? null,
    hasSettings: at > 0 && areUnique,
  };
}

/** The index of the record at which the values begin; 0 where it is too far below, or nowhere. */
function firstRow(records: readonly CsvRecord[]): number {
  const hasValues = ({ cells }: CsvRecord) => {
    const filled = cells.filter((cell) => cell.trim() !== '');
    const values = filled.filter((cell) => isValueText(cell) || isMissingText(cell));
    return values.some(isValueText) && values.length * 2 >= filled.length;
  };
  const from = records.findIndex((_, at) => records.slice(at, at + rowsOfValues).every(hasValues));
  return from > maxHeadings ? 0 : Math.max(from, 0);
}

/** A name that stands for several columns is written above the first of them. */
function filledToTheRight(cells: readonly string[]): string[] {
  let last = '';
  return cells.map((cell) => {
    if (cell !== '') last = cell;
    return last;
  });
}

function longName(parts: readonly string[]): string {
  return [...new Set(parts.filter((part) => part !== ''))].join('.');
}
