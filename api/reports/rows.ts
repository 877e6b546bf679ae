/** The rows of a report, batch by batch, in the order of the dimension catalog. */
import type { Cell, ReportColumn, ReportFilter, ReportRow } from '../../domain/report.ts';
import {
  cellOf,
  celValue,
  compileExpression,
  type Evaluate,
  equalsValue,
} from '../../domain/report-expression.ts';
import type { Database } from '../../store/database.ts';
import {
  type CatalogDimension,
  type CatalogFilter,
  type CatalogScenario,
  pageOfDimensions,
  readDimensions,
} from '../../store/dimension-catalog.ts';
import { presentMember } from '../dashboards/catalog.ts';
import type { People } from '../participants.ts';
import { dashboardUrl } from '../sessions/present.ts';

const batchSize = 200;
/** A report goes over so many dimensions at most. */
const maxDimensions = 1_000_000;

/** A report's expressions, ready to run. */
export interface CompiledReport {
  readonly columns: ReadonlyArray<{ readonly column: ReportColumn; readonly evaluate: Evaluate }>;
  readonly filters: ReadonlyArray<{ readonly filter: ReportFilter; readonly evaluate: Evaluate }>;
}

/** A stored expression that this version refuses leaves its cells empty. */
export function compileReport(
  columns: readonly ReportColumn[],
  filters: readonly ReportFilter[],
): CompiledReport {
  const evaluateOf = ({ expression, source }: ReportColumn | ReportFilter): Evaluate => {
    const compiled = compileExpression(expression, source);
    return compiled.ok ? compiled.evaluate : () => undefined;
  };
  return {
    columns: columns.map((column) => ({ column, evaluate: evaluateOf(column) })),
    filters: filters.map((filter) => ({ filter, evaluate: evaluateOf(filter) })),
  };
}

export interface RowsRequest {
  readonly filter: CatalogFilter;
  /** Only rows of this user. */
  readonly userId: string | undefined;
  readonly people: People;
}

/** Batches of rows of cells. The first batch is read when the first `next` is awaited. */
export async function* reportRows(
  database: Database,
  report: CompiledReport,
  { filter, userId, people }: RowsRequest,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  // The ids as they stand now: what changes while a slow caller reads neither doubles nor skips a dimension.
  const { ids } = await pageOfDimensions(database, filter, {
    order: 'ascending',
    offset: 0,
    limit: maxDimensions,
  });
  for (let at = 0; at < ids.length; at += batchSize) {
    const dimensions = await readDimensions(database, ids.slice(at, at + batchSize));
    await people.foresee(dimensions.flatMap(({ members }) => members));
    const batch: Cell[][] = [];
    for (const dimension of dimensions) {
      for await (const row of rowsOf(dimension, userId, people)) {
        if (!report.filters.every(({ filter, evaluate }) => equalsValue(evaluate(row), filter.value)))
          continue;
        batch.push(report.columns.map(({ column, evaluate }) => cellOf(evaluate(row), column.type)));
      }
    }
    yield batch;
  }
}

async function* rowsOf(
  dimension: CatalogDimension,
  userId: string | undefined,
  people: People,
): AsyncGenerator<ReportRow> {
  const { scenarios, members, metadata, ...own } = dimension;
  const url = dashboardUrl(dimension.id);
  const shared = {
    dimension: celValue({ ...own, title: dimension.name, url }),
    metadata: celValue(metadata ?? {}),
    dashboard: celValue({
      id: dimension.id,
      name: dimension.dashboardName,
      version: dimension.dashboardVersion,
      url,
    }),
  } as Pick<ReportRow, 'dimension' | 'metadata' | 'dashboard'>;
  const shown = userId === undefined ? members : members.filter((member) => member === userId);
  const users = shown.length === 0 ? [{}] : await Promise.all(shown.map((id) => presentMember(id, people)));
  for (const scenario of scenarios.length === 0 ? [undefined] : scenarios) {
    const scenarioInstance = scenario === undefined ? {} : scenarioOf(scenario);
    for (const user of users) yield { ...shared, scenarioInstance, user };
  }
}

function scenarioOf({ from, to, ...rest }: CatalogScenario): Readonly<Record<string, unknown>> {
  // A missing time is a missing value.
  return { ...rest, ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
}
