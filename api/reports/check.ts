/** What is checked of a report's definition beyond its form. */
import type { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import { numberFormatFault } from '../../domain/reports/number-format.ts';
import type { ReportColumn, ReportFilter } from '../../domain/reports/report.ts';
import { compileExpression } from '../../domain/reports/report-expression.ts';
import type { newReportSchema } from './schema.ts';

type GivenColumn = z.output<typeof newReportSchema>['columns'][number];

export const withOrder = (columns: readonly GivenColumn[]): ReportColumn[] =>
  columns.map((column, index) => ({ ...column, order: column.order ?? (index + 1) * 10 }));

/** Throws 400 for a duplicate key, and for an invalid expression or number format with its key, position and reason. */
export function checkExpressions(
  columns: readonly ReportColumn[],
  filters: readonly ReportFilter[] = [],
): void {
  for (const { columnKey, format } of columns) {
    const fault = numberFormatFault(format);
    if (fault === undefined) continue;
    const message = `Column '${columnKey}': format, position ${fault.position}: ${fault.reason}.`;
    throw new Problem('invalidRequest', { message });
  }
  const items = [
    ...columns.map((column) => ({ ...column, what: 'Column', key: column.columnKey })),
    ...filters.map((filter) => ({ ...filter, what: 'Filter', key: filter.filterKey })),
  ];
  const seen = new Set<string>();
  for (const { what, key, expression, source } of items) {
    if (seen.has(`${what} ${key}`)) {
      throw new Problem('invalidRequest', { message: `${what} '${key}' appears more than once.` });
    }
    seen.add(`${what} ${key}`);
    const compiled = compileExpression(expression, source, { checksNames: true });
    if (compiled.ok) continue;
    const message = `${what} '${key}': ${compiled.reason} at position ${compiled.position}.`;
    throw new Problem('invalidRequest', { message });
  }
}
