/** The rows of a report, batch by batch, in the order of the dimension catalog. */
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { channelTable } from '../../domain/reports/channel-use.ts';
import type {
  Cell,
  ReportColumn,
  ReportCoverage,
  ReportFilter,
  ReportRow,
} from '../../domain/reports/report.ts';
import {
  cellOf,
  celValue,
  compileExpression,
  type Evaluate,
  equalsValue,
} from '../../domain/reports/report-expression.ts';
import { annotationList } from '../../domain/reports/report-names.ts';
import type { Reader } from '../connection/database.ts';
import {
  type CatalogFilter,
  type CatalogScenario,
  idsOfDimensions,
  idsOfSessions,
  readSubjects,
  type Subject,
} from '../dashboards/dimension-catalog.ts';
import { annotationsOf, type ReportAnnotation } from './annotations.ts';
import { type ChannelStatistics, channelsOf } from './channels.ts';

const batchSize = 200;
/** A dashboard of many scenarios and members has a row for each pair. */
const mostRowsAtOnce = 1_000;
/** The largest number of dashboards and sessions in a report. */
const maxSubjects = 1_000_000;

/** A report's expressions, ready to run. */
export interface CompiledReport {
  readonly columns: ReadonlyArray<{ readonly column: ReportColumn; readonly evaluate: Evaluate }>;
  readonly filters: ReadonlyArray<{ readonly filter: ReportFilter; readonly evaluate: Evaluate }>;
  /** Whether an expression reads the metadata, the larger part of a dimension. */
  readonly needsMetadata: boolean;
  /** Whether an expression reads the annotations of the session. */
  readonly needsAnnotations: boolean;
  /** The channels whose statistics expressions read. */
  readonly channels: ReadonlySet<string>;
}

/** How the members of a session are shown to the reader of the report. */
export interface ReportPeople {
  prefetch(identifiers: Iterable<string>): Promise<void>;
  show(identifier: string): Promise<ReportRow['user']>;
}

/** The cells of a stored expression that this version refuses stay empty. */
export function compileReport(
  columns: readonly ReportColumn[],
  filters: readonly ReportFilter[],
): CompiledReport {
  const channels = new Set<string>();
  const evaluateOf = ({ expression, source }: ReportColumn | ReportFilter): Evaluate => {
    const compiled = compileExpression(expression, source);
    if (!compiled.ok) return () => undefined;
    for (const name of compiled.channels) channels.add(name);
    return compiled.evaluate;
  };
  return {
    columns: columns.map((column) => ({ column, evaluate: evaluateOf(column) })),
    filters: filters.map((filter) => ({ filter, evaluate: evaluateOf(filter) })),
    needsMetadata: [...columns, ...filters].some(
      ({ expression, source }) => source === 'metadata' || expression.includes('metadata'),
    ),
    needsAnnotations: [...columns, ...filters].some(({ expression }) => expression.includes(annotationList)),
    channels,
  };
}

export interface RowsRequest {
  readonly covers: ReportCoverage;
  readonly filter: CatalogFilter;
  /** Only rows of this user. */
  readonly userId: string | undefined;
  readonly people: ReportPeople;
  /** The role of report downloads may not read them. */
  readonly annotationsFrom: Reader;
  /** Of dashboards and sessions; default: all. */
  readonly mostSubjects?: number;
}

/** Batches of rows of cells. The first batch is read when the first `next` is awaited. */
export async function* reportRows(
  database: Reader,
  report: CompiledReport,
  { covers, filter, userId, people, annotationsFrom, mostSubjects = maxSubjects }: RowsRequest,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  // The ids of this moment: a change while a slow caller reads neither repeats nor skips one.
  const ids =
    covers === 'sessions'
      ? await idsOfSessions(database, bySession(filter), mostSubjects)
      : await idsOfDimensions(database, filter, { order: 'ascending', offset: 0, limit: mostSubjects });
  const read = async (at: number) => {
    const subjects = await readSubjects(database, ids.slice(at, at + batchSize), report.needsMetadata);
    await people.prefetch(subjects.flatMap(({ members }) => members));
    const sessions = report.needsAnnotations ? subjects.map(({ sessionId }) => sessionId) : [];
    const dashboards = subjects.flatMap(({ id }) => (id === null ? [] : [id]));
    return {
      subjects,
      annotations: await annotationsOf(annotationsFrom, sessions),
      channels: await channelsOf(database, dashboards, report.channels),
    };
  };
  // The next batch is read while this one is processed.
  let next = ids.length === 0 ? undefined : read(0);
  for (let at = 0; next !== undefined; at += batchSize) {
    const { subjects, annotations, channels } = await next;
    next = at + batchSize < ids.length ? read(at + batchSize) : undefined;
    // It is never awaited when the caller is gone.
    next?.catch(() => undefined);
    let batch: Cell[][] = [];
    for (const subject of subjects) {
      const parts = {
        users: await usersOf(subject, userId, people),
        annotations: annotations.get(subject.sessionId) ?? [],
        channels: channels.get(subject.id ?? 0) ?? {},
      };
      for (const row of rowsOf(subject, report, parts)) {
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

/** A session without a dashboard has but its own name. */
const bySession = ({ nameContains, ...filter }: CatalogFilter): CatalogFilter => ({
  ...filter,
  search: nameContains,
});

type User = ReportRow['user'];

/** The members of a session that the report covers; one empty member when there is none. */
async function usersOf(
  { members }: Subject,
  userId: string | undefined,
  people: ReportPeople,
): Promise<readonly User[]> {
  const shown = userId === undefined ? members : members.filter((member) => member === userId);
  return shown.length === 0 ? [{}] : await Promise.all(shown.map((id) => people.show(id)));
}

/** What all rows of a subject have. */
interface Parts {
  readonly users: readonly User[];
  readonly annotations: readonly ReportAnnotation[];
  readonly channels: Readonly<Record<string, ChannelStatistics>>;
}

function* rowsOf(
  subject: Subject,
  { needsMetadata }: CompiledReport,
  { users, annotations, channels }: Parts,
): Generator<ReportRow> {
  const { scenarios, members: _, metadata, ...own } = subject;
  const { name, dashboardName, dashboardVersion } = subject;
  // Whole numbers are CEL integers; the other fields are texts and times, which stay as they are.
  const id = subject.id === null ? null : BigInt(subject.id);
  const url = subject.id === null ? undefined : dashboardUrl(subject.id);
  const shared = {
    dimension: {
      ...own,
      id,
      projectId: BigInt(subject.projectId),
      title: name,
      ...(url !== undefined && { url }),
    },
    metadata: needsMetadata ? celValue(metadata ?? {}) : {},
    dashboard: id === null ? {} : { id, name: dashboardName, version: dashboardVersion, url },
    [annotationList]: celValue(annotations),
    [channelTable]: Object.fromEntries(
      Object.entries(channels).map(([key, one]) => [key, channelValue(one)]),
    ),
  } as Pick<ReportRow, 'dimension' | 'metadata' | 'dashboard'>;
  for (const scenario of scenarios.length === 0 ? [undefined] : scenarios) {
    const scenarioInstance = scenario === undefined ? {} : scenarioOf(scenario);
    for (const user of users) yield { ...shared, scenarioInstance, user };
  }
}

/** Statistics are fractions, also where they happen to be whole; numbers of values are whole. */
function channelValue({
  count,
  missing,
  ...statistics
}: ChannelStatistics): Readonly<Record<string, unknown>> {
  const known = Object.entries(statistics).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(known), count: BigInt(count), missing: BigInt(missing) };
}

function scenarioOf({ from, to, ...rest }: CatalogScenario): Readonly<Record<string, unknown>> {
  // A missing time is a missing value.
  return { ...rest, ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
}
