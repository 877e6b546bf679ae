/** The session list: search, order and pages (contract: Session list; decisions 5). */
import type { JsonObject } from '../domain/text.ts';
import type { Queryable } from './database.ts';

export interface SessionListQuery {
  readonly projectId?: number | undefined;
  readonly sessionTemplateId?: number | undefined;
  /** Part of name, simulation name or id, in any case; every character stands for itself. */
  readonly search?: string | undefined;
  readonly sortBy: 'date' | 'name';
  readonly sortOrder: 'asc' | 'desc';
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

export interface SessionListRow {
  readonly id: string;
  readonly name: string;
  readonly simulationName: string | null;
  readonly projectId: number;
  readonly projectTitle: string;
  readonly sessionTemplateId: number;
  readonly sessionTemplateName: string;
  readonly createdAt: Date;
  /** With identifiers, never joined to addresses. */
  readonly metadata: JsonObject | null;
}

/** One statement for each set of filters, so that PostgreSQL plans each by its own index. */
function whereClause({ projectId, sessionTemplateId, search }: SessionListQuery): {
  text: string;
  parameters: unknown[];
} {
  const conditions: string[] = [];
  const parameters: unknown[] = [];
  if (projectId !== undefined) conditions.push(`s.project_id = $${parameters.push(projectId)}`);
  if (sessionTemplateId !== undefined) {
    conditions.push(`s.session_template_id = $${parameters.push(sessionTemplateId)}`);
  }
  if (search !== undefined && search !== '') {
    const wanted = `lower($${parameters.push(search)}::text)`;
    conditions.push(
      `(strpos(lower(s.name), ${wanted}) > 0 or strpos(lower(s.simulation_name), ${wanted}) > 0
        or strpos(s.id::text, ${wanted}) > 0)`,
    );
  }
  return { text: conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`, parameters };
}

const orders = {
  'date asc': 's.created_at, s.id',
  'date desc': 's.created_at desc, s.id desc',
  'name asc': 's.name, s.id',
  'name desc': 's.name desc, s.id desc',
} as const;

/** One page, and how many sessions there are in all. Ties are broken by id. */
export async function listSessions(
  database: Queryable,
  query: SessionListQuery,
): Promise<{ rows: SessionListRow[]; totalCount: number }> {
  const where = whereClause(query);
  const next = where.parameters.length;
  const [rows, counts] = await Promise.all([
    database.query<SessionListRow>(
      `select s.id, s.name, s.simulation_name as "simulationName", s.project_id as "projectId",
              p.title as "projectTitle", s.session_template_id as "sessionTemplateId",
              t.name as "sessionTemplateName", s.created_at as "createdAt", session_shown_metadata(s) as metadata
         from session s
         join project p on p.id = s.project_id
         join session_template t on t.id = s.session_template_id
         ${where.text}
        order by ${orders[`${query.sortBy} ${query.sortOrder}`]}
        limit $${next + 1}::bigint offset $${next + 2}::bigint`,
      [...where.parameters, query.pageSize, (query.page - 1) * query.pageSize],
    ),
    database.query<{ count: number }>(
      `select count(*) as count from session s ${where.text}`,
      where.parameters,
    ),
  ]);
  return { rows, totalCount: Number(counts[0]?.count ?? 0) };
}
