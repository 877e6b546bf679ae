/** The rows of a report, batch by batch, in the order of the dimension catalog. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { channelTable } from '../../domain/reports/channel-use.ts';
import type {
  Cell,
  ReportColumn,
  ReportCoverage,
  ReportFilter,
  ReportRow,
} from '../../domain/reports/report.ts';
import { cellOf, equalsValue } from '../../domain/reports/report-cell.ts';
import { compileExpression, type Evaluate } from '../../domain/reports/report-expression.ts';
import { annotationList, reportFields } from '../../domain/reports/report-names.ts';
import type { Reader } from '../connection/database.ts';
import {
  type CatalogFilter,
  idsOfDimensions,
  idsOfSessions,
  overlaps,
  readSubjects,
  type Subject,
  subjectsStatement,
} from '../dashboards/dimension-catalog.ts';
import type { SessionScenarioRow } from '../sessions/sessions.ts';
import { annotationsOf, type ReportAnnotation } from './annotations.ts';
import { type ChannelStatistics, channelsOf } from './channels.ts';

const batchSize = 200;
/** The same where expressions read metadata, of which a session may have 64 KB. */
const batchSizeOfMetadata = 100;
/** A dashboard of many scenarios and members has a row for each pair. */
const maxRowsAtOnce = 1_000;
/** Texts of rows that are written at once. */
const maxCharactersAtOnce = 256 * 1024;
/** Then other work of the process comes in between: an expression over much metadata takes milliseconds for a row. */
const maxSliceMs = 20;
/** The largest number of dashboards and sessions in a report. */
const maxSubjects = 1_000_000;

/** A report's expressions, ready to run. */
export interface CompiledReport {
  readonly columns: ReadonlyArray<{ readonly column: ReportColumn; readonly evaluate: Evaluate }>;
  readonly filters: ReadonlyArray<{ readonly filter: ReportFilter; readonly evaluate: Evaluate }>;
  /** Whether an expression may read this field of a row, its metadata, or its annotations. */
  readonly reads: (name: string) => boolean;
  /** The fields of the dimension that an expression may read. */
  readonly dimensionFields: readonly string[];
  /** The channels whose statistics expressions read. */
  readonly channels: ReadonlySet<string>;
}

/** How the members of a session are shown to the reader of the report. */
export interface ReportPeople {
  /** Each of these people, by identifier. */
  shown(identifiers: ReadonlySet<string>): Promise<ReadonlyMap<string, User>>;
}

/** The cells of a stored expression that this version refuses stay empty. */
export function compileReport(
  columns: readonly ReportColumn[],
  filters: readonly ReportFilter[],
): CompiledReport {
  const channels = new Set<string>();
  const names = new Set<string>();
  let readsAll = false;
  const evaluateOf = ({ expression, source }: ReportColumn | ReportFilter): Evaluate => {
    const compiled = compileExpression(expression, source);
    if (!compiled.ok) return () => undefined;
    for (const name of compiled.channels) channels.add(name);
    for (const name of compiled.reads.names) names.add(name);
    if (compiled.reads.bareNames) names.add(source);
    readsAll ||= compiled.reads.wholeSource;
    return compiled.evaluate;
  };
  return {
    columns: columns.map((column) => ({ column, evaluate: evaluateOf(column) })),
    filters: filters.map((filter) => ({ filter, evaluate: evaluateOf(filter) })),
    // A source as a whole may be gone through by names that no expression has; the two large parts have their own.
    reads: (name) => names.has(name) || (readsAll && name !== 'metadata' && name !== annotationList),
    dimensionFields: [...(reportFields.dimension ?? [])].filter((name) => names.has(name) || readsAll),
    channels,
  };
}

/** Reads nothing else of the database than what the report reads of its rows. */
function statementOf({ reads }: CompiledReport, { from, to }: CatalogFilter): string {
  const ofDashboards = reads('dashboard');
  const ofDates = from !== undefined || to !== undefined;
  return subjectsStatement(
    (field) =>
      reads(field) ||
      (field === 'name' && reads('title')) ||
      (/^dashboard/.test(field) && ofDashboards) ||
      (/^(?:from|to)$/.test(field) && ofDates),
  );
}

export interface RowsRequest {
  readonly covers: ReportCoverage;
  /** With a user it leaves out the rows of other members, with dates those of scenarios outside of them. */
  readonly filter: CatalogFilter;
  readonly people: ReportPeople;
  /** The role of report downloads may not read them. */
  readonly annotationsFrom: Reader;
  /** The most dashboards and sessions; default: all. */
  readonly subjectLimit?: number;
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** However many reports are written at once, all other work of the process comes between any two of their slices. */
function ownTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

/** Batches of rows of cells. The first batch is read when the first `next` is awaited. */
export async function* reportRows(
  database: Reader,
  report: CompiledReport,
  { covers, filter, people, annotationsFrom, subjectLimit = maxSubjects }: RowsRequest,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  // The ids of this moment: a change while a slow caller reads neither repeats nor skips one.
  const ids =
    covers === 'sessions'
      ? await idsOfSessions(database, bySession(filter), subjectLimit)
      : await idsOfDimensions(database, filter, { order: 'ascending', offset: 0, limit: subjectLimit });
  const statement = statementOf(report, filter);
  const size = report.reads('metadata') ? batchSizeOfMetadata : batchSize;
  const read = async (at: number) => {
    const subjects = await readSubjects(database, ids.slice(at, at + size), statement);
    const members = new Set(subjects.flatMap((subject) => membersOf(subject, filter.user)));
    const sessions = report.reads(annotationList) ? subjects.map(({ sessionId }) => sessionId) : [];
    const dashboards = subjects.flatMap(({ id }) => (id === null ? [] : [id]));
    return {
      subjects,
      users: await people.shown(members),
      annotations: await annotationsOf(annotationsFrom, sessions),
      channels: await channelsOf(database, dashboards, report.channels),
    };
  };
  // The next batch is read while this one is processed.
  let next = ids.length === 0 ? undefined : read(0);
  for (let at = 0; next !== undefined; at += size) {
    const found = await next;
    next = at + size < ids.length ? read(at + size) : undefined;
    // It is never awaited when the caller is gone.
    next?.catch(() => undefined);
    yield* batchesOf(found, report, filter);
  }
}

/** What was read of some subjects. */
interface Found {
  readonly subjects: readonly Subject[];
  readonly users: ReadonlyMap<string, User>;
  readonly annotations: Awaited<ReturnType<typeof annotationsOf>>;
  readonly channels: Awaited<ReturnType<typeof channelsOf>>;
}

async function* batchesOf(
  { subjects, users, annotations, channels }: Found,
  report: CompiledReport,
  filter: CatalogFilter,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  let batch: Cell[][] = [];
  let characters = 0;
  let sinceMs = performance.now();
  for (const subject of subjects) {
    const parts = {
      users: usersOf(membersOf(subject, filter.user), users),
      scenarios: scenariosOf(subject, filter),
      annotations: annotations.get(subject.sessionId) ?? [],
      channels: channels.get(subject.id ?? 0) ?? {},
    };
    for (const row of rowsOf(subject, report, parts)) {
      if (performance.now() - sinceMs > maxSliceMs) {
        await ownTurn();
        sinceMs = performance.now();
      }
      if (!report.filters.every(({ filter, evaluate }) => equalsValue(evaluate(row), filter.value))) continue;
      const cells = report.columns.map(({ column, evaluate }) => cellOf(evaluate(row), column.type));
      batch.push(cells);
      characters += charactersOf(cells);
      if (batch.length < maxRowsAtOnce && characters < maxCharactersAtOnce) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
  }
  yield batch;
}

const charactersOf = (cells: readonly Cell[]) =>
  cells.reduce((sum, cell) => sum + (cell.type === 'string' ? cell.value.length : 0), 0);

/** A session without a dashboard has but its own name. */
const bySession = ({ nameContains, ...filter }: CatalogFilter): CatalogFilter => ({
  ...filter,
  search: nameContains,
});

type User = ReportRow['user'];

/** The members of a session that the report covers. */
const membersOf = ({ members }: Subject, user: CatalogFilter['user']): readonly string[] =>
  user === undefined
    ? members
    : members.filter((member) => member === user.identifier || member === user.key);

/** One empty member when there is none. */
const usersOf = (members: readonly string[], users: ReadonlyMap<string, User>): readonly User[] =>
  members.length === 0 ? [{}] : members.map((member) => users.get(member) ?? {});

/** The scenarios that the report covers; a single undefined one when the session has none. */
const scenariosOf = ({ scenarios }: Subject, filter: CatalogFilter) =>
  scenarios.length === 0 ? [undefined] : scenarios.filter((scenario) => overlaps(scenario, filter));

/** What all rows of a subject have, and what they are made of. */
interface Parts {
  readonly users: readonly User[];
  readonly scenarios: readonly (SessionScenarioRow | undefined)[];
  readonly annotations: readonly ReportAnnotation[];
  readonly channels: Readonly<Record<string, ChannelStatistics>>;
}

function* rowsOf(
  subject: Subject,
  report: CompiledReport,
  { users, scenarios, annotations, channels }: Parts,
): Generator<ReportRow> {
  const dimension = dimensionOf(subject, report);
  const metadata = report.reads('metadata') ? (JSON.parse(subject.metadata ?? 'null') ?? {}) : {};
  const dashboard = report.reads('dashboard') ? dashboardOf(subject) : {};
  const shared = {
    [annotationList]: annotations,
    [channelTable]: Object.fromEntries(
      Object.entries(channels).map(([key, one]) => [key, channelValue(one)]),
    ),
  };
  for (const scenario of scenarios) {
    const scenarioInstance = scenario === undefined ? {} : scenarioOf(scenario);
    for (const user of users) yield { ...shared, dimension, metadata, dashboard, scenarioInstance, user };
  }
}

/** Ids are CEL integers, numbers of metadata are doubles; the other fields are texts and times. */
function dimensionOf(subject: Subject, { dimensionFields }: CompiledReport): ReportRow['dimension'] {
  const { id, projectId, name } = subject;
  const fields: Record<string, unknown> = {};
  for (const field of dimensionFields) {
    if (field === 'id') fields.id = id === null ? null : BigInt(id);
    else if (field === 'projectId') fields.projectId = BigInt(projectId);
    else if (field === 'title') fields.title = name;
    else if (field !== 'url') fields[field] = subject[field as keyof Subject];
    else if (id !== null) fields.url = dashboardUrl(id);
  }
  return fields;
}

function dashboardOf({ id, dashboardName, dashboardVersion }: Subject): ReportRow['dashboard'] {
  if (id === null) return {};
  return { id: BigInt(id), name: dashboardName, version: dashboardVersion, url: dashboardUrl(id) };
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

function scenarioOf(scenario: SessionScenarioRow): Readonly<Record<string, unknown>> {
  const { from, to, ...rest } = scenario;
  if (from !== null && to !== null) return { ...scenario };
  // A missing time is a missing value.
  return { ...rest, ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
}
