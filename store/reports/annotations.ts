/** The annotations of sessions, for reports. */
import { limits } from '../../domain/limits.ts';
import type { Reader } from '../connection/database.ts';

export interface ReportAnnotation {
  readonly label: string;
  readonly text: string;
  readonly tags: readonly string[];
  readonly from: Date;
  /** Absent: a moment. */
  readonly to?: Date;
}

/** The first ones of each session, in the order of time. */
export async function annotationsOf(
  database: Reader,
  sessionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ReportAnnotation[]>> {
  if (sessionIds.length === 0) return new Map();
  const rows = await database.query<Omit<ReportAnnotation, 'to'> & { sessionId: string; to: Date | null }>(
    `select a.session_id, a.label, a.body as text, a.tags, a.from_at as "from", a.to_at as "to"
       from unnest($1::uuid[]) as s (id)
       cross join lateral (
         select * from annotation own where own.session_id = s.id and not own.staged
          order by own.from_at, own.id limit $2) a`,
    [[...new Set(sessionIds)], limits.reportAnnotations],
  );
  return Map.groupBy(
    rows.map(({ to, ...row }) => ({ ...row, ...(to === null ? {} : { to }) })),
    ({ sessionId }) => sessionId,
  );
}
