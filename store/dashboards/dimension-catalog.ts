/**
 * Dimensions of all sessions, as the catalog lists them and reports read them (contract: Dimension catalog rules). Reports
 * also read sessions without one.
 */
import type { Person } from '../../domain/sessions/participant.ts';
import type { Queryable, Reader } from '../connection/database.ts';
import { milliseconds, readTimes } from '../connection/json-times.ts';
import { isMember } from '../search/membership.ts';
import type { SessionScenarioRow } from '../sessions/sessions.ts';

export interface CatalogFilter {
  /** Dimensions that have a scenario with a window, none of which overlaps from ... to, are left out. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Only those of which this person is a member. */
  readonly member?: Person | undefined;
  /** The person is a member of them, too. */
  readonly user?: Person | undefined;
  /** Case-insensitive part of the dimension's name. */
  readonly nameContains?: string | undefined;
  /** Case-insensitive part of the dimension's name or its session's. */
  readonly search?: string | undefined;
  readonly projectId?: number | undefined;
}

type CatalogOrder = 'ascending' | 'descending';

export interface CatalogDimension {
  readonly id: number;
  readonly name: string;
  readonly dashboardName: string;
  readonly dashboardVersion: string;
  readonly createdAt: Date;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly simulationName: string | null;
  readonly sessionCreatedAt: Date;
  readonly sessionTemplateName: string;
  readonly projectId: number;
  readonly projectTitle: string;
  /** The metadata with identifiers in place of people's addresses. */
  readonly metadata: Record<string, unknown> | null;
  /** The newest last. */
  readonly scenarios: readonly SessionScenarioRow[];
  /** Identifiers of the session's creator and participants. */
  readonly members: readonly string[];
}

/**
 * $1 from, $2 to, $3 member's identifier, $4 and key, $5 user's identifier, $6 and key, $7 part of the name, $8 part of a
 * name, $9 project
 */
const condition = `
  ($7::text is null or ${contains('d.name', '$7')})
  and ($8::text is null or ${contains('d.name', '$8')} or ${contains('s.name', '$8')})
  and ($9::bigint is null or s.project_id = $9)
  and ($3::text is null or ${isMember('$3', '$4')})
  and ($5::text is null or ${isMember('$5', '$6')})
  and (($1::timestamptz is null and $2::timestamptz is null)
       or not exists (select from scenario_instance i where i.session_id = s.id
                        and (i.from_at is not null or i.to_at is not null))
       or exists (select from scenario_instance i where i.session_id = s.id
                    and (i.from_at is not null or i.to_at is not null)
                    and ($2::timestamptz is null or i.from_at is null or i.from_at <= $2)
                    and ($1::timestamptz is null or i.to_at is null or i.to_at >= $1)))`;

/** Whether a scenario is within from ... to of a filter, by the rule of `condition`; one without a window always is. */
export function overlaps(
  { from, to }: Pick<SessionScenarioRow, 'from' | 'to'>,
  filter: Pick<CatalogFilter, 'from' | 'to'>,
): boolean {
  const beginsInTime = filter.to === undefined || from === null || from <= filter.to;
  return beginsInTime && (filter.from === undefined || to === null || to >= filter.from);
}

/** In any case; an accent counts as the same where it is apart from its letter, as in names of files on macOS. */
function contains(name: string, part: string): string {
  return `strpos(lower(normalize(${name})), lower(normalize(${part}::text))) > 0`;
}

const newest = `
  left join lateral (
    select i.from_at from scenario_instance i where i.session_id = s.id
     order by i.created_at desc, i.id desc limit 1) newest on true`;
const from = `from dimension d join session s on s.id = d.session_id ${newest}`;
const fromSessions = `from session s left join dimension d on d.session_id = s.id ${newest}`;

const orders: Record<CatalogOrder, string> = {
  ascending: 'newest.from_at asc nulls last, d.created_at asc, d.id asc',
  descending: 'newest.from_at desc nulls last, d.created_at desc, d.id desc',
};

const valuesOf = ({ from, to, member, user, nameContains, search, projectId }: CatalogFilter) => [
  from ?? null,
  to ?? null,
  member?.identifier ?? null,
  member?.key ?? null,
  user?.identifier ?? null,
  user?.key ?? null,
  nameContains ?? null,
  search ?? null,
  projectId ?? null,
];

type Page = { readonly order: CatalogOrder; readonly offset: number; readonly limit: number };

/** Ids of one page, by the start of the newest scenario, then creation. */
export async function idsOfDimensions(
  database: Reader,
  filter: CatalogFilter,
  { order, offset, limit }: Page,
): Promise<readonly number[]> {
  const ids = await joined(
    database,
    `select d.id ${from} where ${condition} order by ${orders[order]} limit $10 offset $11`,
    [...valuesOf(filter), limit, offset],
  );
  return ids.map(Number);
}

/** The only column of a statement. As one text: a million rows of the driver are garbage that has grown old. */
async function joined(database: Reader, statement: string, parameters: unknown[]): Promise<string[]> {
  const [row] = await database.queryUnprepared<{ ids: string }>(
    `select array_to_string(array(${statement}), ',') as ids`,
    parameters,
  );
  return row?.ids ? row.ids.split(',') : [];
}

/** The id of a dashboard, or that of a session without one. */
export type SubjectId = number | string;

/** For each session the ids of its dashboards, or its own id without any; in the order of the catalog. */
export async function idsOfSessions(
  database: Reader,
  filter: CatalogFilter,
  limit: number,
): Promise<readonly SubjectId[]> {
  const ids = await joined(
    database,
    `select coalesce(d.id::text, s.id::text) ${fromSessions} where ${condition}
      order by newest.from_at asc nulls last, coalesce(d.created_at, s.created_at) asc, d.id asc, s.id asc limit $10`,
    [...valuesOf(filter), limit],
  );
  return ids.map((id) => (id.includes('-') ? id : Number(id)));
}

/** The ids of one page, and how many there are. */
export async function pageOfDimensions(
  database: Reader,
  filter: CatalogFilter,
  page: Page,
): Promise<{ readonly ids: readonly number[]; readonly totalCount: number }> {
  const [ids, [total]] = await Promise.all([
    idsOfDimensions(database, filter, page),
    database.queryUnprepared<{ count: number }>(
      `select count(*) as count from dimension d join session s on s.id = d.session_id where ${condition}`,
      valuesOf(filter),
    ),
  ]);
  return { ids, totalCount: total?.count ?? 0 };
}

/** The dimensions with these ids that are still there, in the order of the ids. */
export async function readDimensions(
  database: Queryable,
  ids: readonly number[],
): Promise<readonly CatalogDimension[]> {
  // An id of a dashboard finds nothing else.
  const found = await readSubjects(database, ids);
  return found.map(
    (one) => ({ ...one, metadata: one.metadata && JSON.parse(one.metadata) }) as CatalogDimension,
  );
}

type DimensionField = 'id' | 'name' | 'dashboardName' | 'dashboardVersion' | 'createdAt';

/** A dashboard with its session, or a session without one. */
export type Subject = Omit<CatalogDimension, DimensionField | 'metadata'> & {
  readonly [Field in DimensionField]: CatalogDimension[Field] | null;
} & {
  /** JSON: as objects, those of hundreds of sessions would take many times the room. */
  readonly metadata: string | null;
};

const subjectFields = {
  name: 'd.name',
  dashboardName: 'd.dashboard_name',
  dashboardVersion: 'd.dashboard_version',
  createdAt: 'd.created_at',
  sessionName: 's.name as session_name',
  simulationName: 's.simulation_name',
  sessionCreatedAt: 's.created_at as session_created_at',
  sessionTemplateName: 't.name as session_template_name',
  projectId: 's.project_id',
  projectTitle: 'p.title as project_title',
  metadata: 'session_shown_metadata(s)::text as metadata',
};
const scenarioFields = {
  id: 'i.id',
  simulationId: 'i.simulation_id',
  scenarioName: 'i.scenario_name',
  from: milliseconds('i.from_at'),
  to: milliseconds('i.to_at'),
  createdAt: milliseconds('i.created_at'),
};
type OptionalField = keyof typeof subjectFields | keyof typeof scenarioFields;

/** @param isNeeded fields for which it is false are left out: each costs time, the metadata the most */
export function subjectsStatement(isNeeded: (field: OptionalField) => boolean): string {
  const needed = (fields: Partial<Record<OptionalField, string>>) =>
    Object.entries(fields).filter(([name]) => isNeeded(name as OptionalField));
  const own = needed(subjectFields).map(([, column]) => `${column}, `);
  const ofScenario = needed(scenarioFields).map(([name, value]) => `'${name}', ${value}`);
  return `
     select d.id, s.id as session_id, ${own.join('')}
            coalesce((
              select json_agg(json_build_object(${ofScenario.join(', ')}) order by i.created_at, i.id)
                from scenario_instance i where i.session_id = s.id), '[]') as scenarios,
            array(select u.identifier from session_member u where u.session_id = s.id order by u.id) as members
       from unnest($1::bigint[], $2::uuid[]) with ordinality as wanted (id, session_id, place)
       left join dimension d on d.id = wanted.id
       join session s on s.id = coalesce(d.session_id, wanted.session_id)
       join project p on p.id = s.project_id join session_template t on t.id = s.session_template_id
      order by wanted.place`;
}

const wholeSubjects = subjectsStatement(() => true);

/**
 * Those with these ids that are still there, in the order of the ids.
 * @param statement of {@link subjectsStatement}
 */
export async function readSubjects(
  database: Queryable,
  ids: readonly SubjectId[],
  statement = wholeSubjects,
): Promise<readonly Subject[]> {
  if (ids.length === 0) return [];
  const rows = await database.query<Subject>(statement, [
    ids.map((id) => (typeof id === 'number' ? id : null)),
    ids.map((id) => (typeof id === 'string' ? id : null)),
  ]);
  for (const { scenarios } of rows) readTimes(scenarios, ['from', 'to', 'createdAt']);
  return rows;
}
