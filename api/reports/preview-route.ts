/** The first rows of a definition that is being written. */
import { access } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { compileReport, reportRows } from '../../store/reports/rows.ts';
import { defineRoute } from '../route.ts';
import { checkExpressions, withOrder } from './check.ts';
import { reportPeople } from './people.ts';
import { presentCell, reportPreviewRequestSchema, reportPreviewSchema } from './schema.ts';

export const previewRoute = defineRoute({
  id: 'previewReport',
  method: 'POST',
  path: '/api/v2/dashboard/reports/preview',
  summary: 'Shows the first rows that a definition would have',
  description: `Nothing is saved. At most ${limits.reportPreviewRows} rows, of the first ${limits.reportPreviewDimensions} dashboards and sessions.`,
  tags: ['Reports'],
  access: access.reportRead,
  share: 'reports',
  audit: { notHere: 'It changes nothing.' },
  body: reportPreviewRequestSchema,
  responses: { 200: { description: 'The rows.', schema: reportPreviewSchema } },
  async handler(context) {
    const { body, services } = context;
    const { dimensionNameFilter = '', covers = 'dashboards' } = body;
    const columns = withOrder(body.columns);
    checkExpressions(columns, body.filters);
    const rows = await firstRows(
      reportRows(services.reports, compileReport(columns, body.filters), {
        covers,
        filter: { nameContains: dimensionNameFilter === '' ? undefined : dimensionNameFilter },
        people: reportPeople(context),
        annotationsFrom: services.database,
        subjectLimit: limits.reportPreviewDimensions,
      }),
      limits.reportPreviewRows,
    );
    return {
      status: 200,
      body: { columns: columns.map(({ name }) => name), rows: rows.map((row) => row.map(presentCell)) },
    };
  },
});

async function firstRows<Row>(batches: AsyncGenerator<readonly Row[]>, most: number): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of batches) {
    rows.push(...batch.slice(0, most - rows.length));
    if (rows.length >= most) break;
  }
  return rows;
}
