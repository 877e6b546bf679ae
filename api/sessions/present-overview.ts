/** What lists and the page of a session show of its work. */
import type { z } from 'zod';
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { metadataAt } from '../../domain/sessions/metadata-keys.ts';
import type { JsonObject } from '../../domain/text.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { SessionListRow } from '../../store/search/session-list.ts';
import type { SessionOverview } from '../../store/search/session-overview.ts';
import type { Count } from '../../store/search/session-page.ts';
import type { People } from '../identity/participants.ts';
import type { sessionListSchema } from './list-schema.ts';
import type { overviewFields, sessionDetailsSchema } from './overview-schema.ts';

type Overview = Pick<z.input<typeof sessionDetailsSchema>, keyof typeof overviewFields>;

/** @param metadata as the reply shows them */
export async function presentOverview(
  overview: SessionOverview,
  metadata: JsonObject | null,
  people: People,
): Promise<Overview> {
  const { ownerId, pinnedPaths, dimensionId } = overview;
  return {
    state: overview.state,
    frozen: overview.isFrozen,
    priority: overview.priority,
    nodeCounts: overview.nodeCounts,
    outputBytes: overview.outputBytes,
    lastActivityAt: formatTimestamp(overview.lastActivityAt),
    owner: { id: ownerId, name: await nameOf(ownerId, people) },
    pinnedMetadata: pinnedPaths
      .map((path) => ({ path, value: metadataAt(metadata, path) }))
      .filter(({ value }) => value !== undefined),
    dashboardUrl: dimensionId === null ? null : dashboardUrl(dimensionId),
  };
}

/** Never an address: lists show none. */
async function nameOf(userId: string, people: People): Promise<string | null> {
  const name = await people.nameOf(userId);
  return name?.includes('@') ? null : name;
}

async function presentListRow(
  row: SessionListRow,
  people: People,
): Promise<z.input<typeof sessionListSchema>['sessions'][number]> {
  return {
    id: row.id,
    name: row.name,
    simulationName: row.simulationName,
    projectId: row.projectId,
    projectTitle: row.projectTitle,
    sessionTemplateId: row.sessionTemplateId,
    sessionTemplateName: row.sessionTemplateName,
    createdAt: formatTimestamp(row.createdAt),
    metadata: row.metadata,
    ...(await presentOverview(row, row.metadata, people)),
  };
}

/** One page of a list of sessions. */
export async function presentListPage(
  { rows, total }: { readonly rows: readonly SessionListRow[]; readonly total: Count },
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
  people: People,
): Promise<z.input<typeof sessionListSchema>> {
  await people.prefetch(rows.map((row) => row.ownerId));
  return {
    sessions: await Promise.all(rows.map((row) => presentListRow(row, people))),
    page,
    pageSize,
    totalCount: total.count,
    totalCountIsExact: total.isExact,
    totalPages: Math.ceil(total.count / pageSize),
  };
}
