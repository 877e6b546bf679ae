/** How many sessions there are, without counting them: see the table's comment in its migration. */
import type { Queryable } from '../connection/database.ts';

export async function countSessions(
  database: Queryable,
  {
    projectId,
    sessionTemplateId,
  }: { projectId?: number | undefined; sessionTemplateId?: number | undefined },
): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select coalesce(sum(sessions), 0)::bigint as count from session_count
      where ($1::bigint is null or project_id = $1) and ($2::bigint is null or session_template_id = $2)`,
    [projectId ?? null, sessionTemplateId ?? null],
  );
  return row?.count ?? 0;
}
