/** Whole numbers that a number of 64 bits with a fraction does not hold: identifiers of 17 and more digits. */
import { excerpt } from '../errors.ts';
import type { SourceColumn } from '../read/source.ts';
import type { ColumnFacts } from './block.ts';

const maxNamed = 3;

/**
 * What to remark about columns whose whole numbers were rounded; null when all of their digits were kept.
 * @param facts of the columns `c<index>`
 */
export function roundedRemark(
  columns: readonly SourceColumn[],
  facts: ReadonlyMap<string, ColumnFacts>,
): string | null {
  const names = columns
    .filter((column, index) => isRounded(column, facts.get(`c${index}`)))
    .map(({ heading }) => excerpt(heading));
  if (names.length === 0) return null;
  const listed = `${names.slice(0, maxNamed).join(', ')}${names.length > maxNamed ? ', …' : ''}`;
  return `Whole numbers beyond ${Number.MAX_SAFE_INTEGER} were rounded to the nearest that a chart can show, in ${listed}.`;
}

/** Large numbers with an exponent or a fraction are measured: they were rounded when they were written. */
function isRounded({ kind, sample }: SourceColumn, facts: ColumnFacts | undefined): boolean {
  if (facts === undefined || !facts.areIntegers || kind === 'integer') return false;
  const isBeyond = Math.max(-facts.min, facts.max) > Number.MAX_SAFE_INTEGER;
  return isBeyond && sample.every((text) => text === null || /^[+-]?\d*$/.test(text.trim()));
}
