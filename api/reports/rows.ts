/** The rows of a report, batch by batch, in the order of the dimension catalog. */
import type { Cell, ReportColumn, ReportFilter, ReportRow } from '../../domain/reports/report.ts';
import {
  cellOf,
  celValue,
  compileExpression,
  type Evaluate,
  equalsValue,
} from '../../domain/reports/report-expression.ts';
import { annotationList } from '../../domain/reports/report-names.ts';
import type { Reader } from '../../store/connection/database.ts';
import {
  type CatalogDimension,
  type CatalogFilter,
  type CatalogScenario,
  idsOfDimensions,
  readDimensions,
} from '../../store/dashboards/dimension-catalog.ts';
import { annotationsOf, type ReportAnnotation } from '../../store/dashboards/report-annotations.ts';
import { presentMember } from '../dashboards/catalog.ts';
import type { People } from '../identity/participants.ts';
import { dashboardUrl } from '../sessions/present.ts';

const batchSize = 200;
/** A dimension of many scenarios and members has a row for each pair. */
const mostRowsAtOnce = 1_000;
/** The largest number of dimensions in a report. */
const maxDimensions = 1_000_000;

/** A report's expressions, ready to run. */
export interface CompiledReport {
  readonly columns: ReadonlyArray<{ readonly column: ReportColumn; readonly evaluate: Evaluate }>;
  readonly filters: ReadonlyArray<{ readonly filter: ReportFilter; readonly evaluate: Evaluate }>;
  /** Whether an expression reads the metadata, the larger part of a dimension. */
  readonly needsMetadata: boolean;
  /** Whether an expression reads the annotations of the session. */
  readonly needsAnnotations: boolean;
}

/** The cells of a stored expression that this version refuses stay empty. */
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
    needsMetadata: [...columns, ...filters].some(
      ({ expression, source }) => source === 'metadata' || expression.includes('metadata'),
    ),
    needsAnnotations: [...columns, ...filters].some(({ expression }) => expression.includes(annotationList)),
  };
}

export interface RowsRequest {
  readonly filter: CatalogFilter;
  /** Only rows of this user. */
  readonly userId: string | undefined;
  readonly people: People;
  /** The role of report downloads may not read them. */
  readonly annotationsFrom: Reader;
  /** Default: all. */
  readonly mostDimensions?: number;
}

/** Batches of rows of cells. The first batch is read when the first `next` is awaited. */
export async function* reportRows(
  database: Reader,
  report: CompiledReport,
  { filter, userId, people, annotationsFrom, mostDimensions = maxDimensions }: RowsRequest,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  // The ids of this moment: a change while a slow caller reads neither repeats nor skips a dimension.
  const ids = await idsOfDimensions(database, filter, {
    order: 'ascending',
    offset: 0,
    limit: mostDimensions,
  });
  const read = async (at: number) => {
    const dimensions = await readDimensions(database, ids.slice(at, at + batchSize));
    await people.prefetch(dimensions.flatMap(({ members }) => members));
    const sessions = report.needsAnnotations ? dimensions.map(({ sessionId }) => sessionId) : [];
    return { dimensions, annotations: await annotationsOf(annotationsFrom, sessions) };
  };
  // The next batch is read while this one is processed.
  let next = ids.length === 0 ? undefined : read(0);
  for (let at = 0; next !== undefined; at += batchSize) {
    const { dimensions, annotations } = await next;
    next = at + batchSize < ids.length ? read(at + batchSize) : undefined;
    // It is never awaited when the caller is gone.
    next?.catch(() => undefined);
    let batch: Cell[][] = [];
    for (const dimension of dimensions) {
      const users = await usersOf(dimension, userId, people);
      const own = annotations.get(dimension.sessionId) ?? [];
      for (const row of rowsOf(dimension, report, users, own)) {
        if (!report.filters.every(({ filter, evaluate }) => equalsValue(evaluate(row), filter.value)))
          continue;
        batch.push(report.columns.map(({ column, evaluate }) => cellOf(evaluate(row), column.type)));
        if (batch.length < mostRowsAtOnce) continue;
        yield batch;
        batch = [];
      }
    }
    yield batch;
  }
}

type User = ReportRow['user'];

/** The members of a dimension that the report covers; one empty member when there is none. */
async function usersOf(
  { members }: CatalogDimension,
  userId: string | undefined,
  people: People,
): Promise<readonly User[]> {
  const shown = userId === undefined ? members : members.filter((member) => member === userId);
  return shown.length === 0 ? [{}] : await Promise.all(shown.map((id) => presentMember(id, people)));
}

function* rowsOf(
  dimension: CatalogDimension,
  { needsMetadata }: CompiledReport,
  users: readonly User[],
  annotations: readonly ReportAnnotation[],
): Generator<ReportRow> {
  const { scenarios, members: _, metadata, ...own } = dimension;
  const url = dashboardUrl(dimension.id);
  const shared = {
    dimension: celValue({ ...own, title: dimension.name, url }),
    metadata: needsMetadata ? celValue(metadata ?? {}) : {},
    dashboard: celValue({
      id: dimension.id,
      name: dimension.dashboardName,
      version: dimension.dashboardVersion,
      url,
    }),
    [annotationList]: celValue(annotations),
  } as Pick<ReportRow, 'dimension' | 'metadata' | 'dashboard'>;
  for (const scenario of scenarios.length === 0 ? [undefined] : scenarios) {
    const scenarioInstance = scenario === undefined ? {} : scenarioOf(scenario);
    for (const user of users) yield { ...shared, scenarioInstance, user };
  }
}

function scenarioOf({ from, to, ...rest }: CatalogScenario): Readonly<Record<string, unknown>> {
  // A missing time is a missing value.
  return { ...rest, ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
}
