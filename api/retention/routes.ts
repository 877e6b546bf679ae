/** Previews and removes what the projects' `retentionDays` no longer retains. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import { booleanParameter } from '../../http/schemas.ts';
import {
  listRetentionRuns,
  type RetentionRun,
  requestRetentionRun,
} from '../../store/administration/retention-runs.ts';
import { noteAudited } from '../../store/connection/audit-scope.ts';
import { defineRoute } from '../route.ts';
import { previewRetention } from './preview.ts';
import { retentionPreviewSchema, retentionRunSchema } from './schema.ts';

const path = '/api/v2/admin/retention';
const tags = ['Retention'] as const;
const shownRuns = 10;

const preview = defineRoute({
  id: 'previewRetention',
  method: 'GET',
  path,
  summary: 'Shows what retention would delete now, and what it last deleted',
  description:
    'A dry run: it deletes nothing. A session is deleted `retentionDays` of its project after its last ' +
    'activity (created, closed, end of its window, outputs, runs queued or ended). It is kept while it is ' +
    'frozen, backs a system dashboard, a runner holds one of its tasks, or an upload to it is queued or in progress. In kept ' +
    'sessions, outputs of that age are deleted, except the newest of each node and those that an open run or a later node has yet ' +
    'to read; dashboards no longer list them. Projects without `retentionDays` keep everything. Audit entries are always kept.',
  tags,
  access: access.adminOnly,
  query: z.object({
    orphans: booleanParameter().meta({
      type: 'boolean',
      example: true,
      description: "True: also lists the platform's bucket, to find objects without a row.",
    }),
  }),
  responses: { 200: { description: 'The preview.', schema: retentionPreviewSchema } },
  async handler({ services, query }) {
    const [found, runs] = await Promise.all([
      previewRetention(services, query.orphans),
      listRetentionRuns(services.database, shownRuns),
    ]);
    const { sessions, outputs, orphans, abandonedUploads, complete } = found;
    const sum = (rows: readonly { readonly bytes: number }[]) =>
      rows.reduce((total, row) => total + row.bytes, 0);
    const count = (rows: readonly { readonly outputs: number }[]) =>
      rows.reduce((total, row) => total + row.outputs, 0);
    const items = sessions
      .slice(0, limits.retentionSessionsShown)
      .map((session) => ({ ...session, createdAt: formatTimestamp(session.createdAt) }));
    return {
      status: 200,
      body: {
        sessions: { count: sessions.length, outputs: count(sessions), bytes: sum(sessions), items },
        outputs: { count: count(outputs), bytes: sum(outputs), sessions: outputs.length },
        orphans,
        abandonedUploads,
        complete,
        runs: runs.map(presentRun),
      },
    };
  },
});

const run = defineRoute({
  id: 'runRetention',
  method: 'POST',
  path,
  summary: 'Starts a retention run now',
  description:
    'A worker starts it within seconds; `GET` of the same path shows its progress. Otherwise it runs once a day. ' +
    'Objects without a row are deleted too if `RETENTION_REMOVES_ORPHANS` is set.',
  tags,
  access: access.adminOnly,
  audit: { object: 'retention' },
  responses: {
    202: { description: 'Requested.', schema: retentionRunSchema },
    200: { description: 'A run was already open.', schema: retentionRunSchema },
  },
  async handler({ services, principal }) {
    const { run: requested, isNew } = await requestRetentionRun(services.database, principal.userId);
    noteAudited(requested.id);
    return { status: isNew ? 202 : 200, body: presentRun(requested) };
  },
});

function presentRun(row: RetentionRun) {
  return {
    ...row,
    requestedAt: formatTimestamp(row.requestedAt),
    startedAt: formatTimestampOrNull(row.startedAt),
    endedAt: formatTimestampOrNull(row.endedAt),
  };
}

export const retentionRoutes = [preview, run];
