/** The kind of a column of texts, by a sample of its values. */

/** `empty`: no value in the sample. For `time` kinds see `time-column.ts`. */
type TextKind = 'number' | 'boolean' | 'text' | 'empty';

export interface ColumnSample {
  kind: TextKind;
  /** Texts in a column of numbers or truth values that mean a missing one, as spelled; blanks too. */
  nullTokens: string[];
}

const numberShape = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const commaNumberShape = /^[+-]?(?:\d+(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?$/;
/** Programs in C print a missing number as `-nan`, `-nan(ind)` or `-1.#IND` too, spreadsheets by its error. */
const missingShape =
  /^(?:[+-]?nan(?:\(ind\))?|[+-]?1\.#(?:ind|[qs]nan)0*|null|none|na|n\/a|#(?:n\/a|div\/0!|value!|ref!|name\?|num!|null!)|-+)$/i;
const infiniteShape = /^[+-]?inf(?:inity)?$/i;
const booleanShape = /^(?:true|false)$/i;
/** The engine takes blanks of ASCII alone from around a value. */
const beyondAscii = /\P{ASCII}/u;

/** True for a plain decimal number, with a point, or with a comma when `decimalComma`. */
export function isNumberText(value: string, decimalComma = false): boolean {
  const trimmed = value.trim();
  const isNumber = (decimalComma ? commaNumberShape : numberShape).test(trimmed);
  return (isNumber || infiniteShape.test(trimmed)) && !beyondAscii.test(value);
}

export function isMissingText(value: string): boolean {
  return missingShape.test(value.trim());
}

export function isBlank(value: string): boolean {
  return value.trim() === '';
}

export function blankAsNull(value: string | null): string | null {
  return value === null || isBlank(value) ? null : value;
}

export function looksLikeTime(value: string): boolean {
  return /^\s*\d{1,4}[-/.:]\d{1,2}(?:[-/.:]\d{1,4})?(?:[T ].*)?$/.test(value);
}

/** Kind of a column; null and blank values do not count. */
export function sampleColumn(values: readonly (string | null)[], decimalComma: boolean): ColumnSample {
  let numbers = 0;
  let booleans = 0;
  const missing = new Set<string>();
  const blanks = new Set<string>();
  for (const value of values) {
    if (value === null) continue;
    if (isBlank(value)) blanks.add(value);
    else if (isNumberText(value, decimalComma)) numbers++;
    else if (booleanShape.test(value.trim()) && !beyondAscii.test(value)) booleans++;
    else if (isMissingText(value)) missing.add(value);
    else return { kind: 'text', nullTokens: [] };
    if (numbers > 0 && booleans > 0) return { kind: 'text', nullTokens: [] };
  }
  const nullTokens = [...missing, ...blanks];
  if (numbers > 0) return { kind: 'number', nullTokens };
  if (booleans > 0) return { kind: 'boolean', nullTokens };
  return missing.size > 0 ? { kind: 'text', nullTokens: [] } : { kind: 'empty', nullTokens };
}

/** A number text as a number; NaN for other text. */
export function toNumber(value: string | null, decimalComma = false): number {
  if (value === null) return Number.NaN;
  const trimmed = value.trim();
  if (trimmed === '') return Number.NaN;
  return Number(decimalComma ? trimmed.replace(',', '.') : trimmed);
}

/** Whether a text is a number, with a decimal point or comma, or a time: no name of a column. */
export function isValueText(text: string): boolean {
  return isNumberText(text) || isNumberText(text, true) || looksLikeTime(text);
}
