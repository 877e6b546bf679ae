/** Reports: catalog and download (contract: Dashboard support; decisions 12). */
import { Readable } from 'node:stream';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { orderedColumns, reportFileName } from '../../domain/reports/report.ts';
import { reportMediaTypes } from '../../domain/reports/schedule.ts';
import { writeCsv } from '../../store/reports/csv.ts';
import { findReport, listReports } from '../../store/reports/definitions.ts';
import { compileReport, reportRows } from '../../store/reports/rows.ts';
import { sparingMemory } from '../../store/reports/spare-memory.ts';
import { writeXlsx } from '../../store/reports/xlsx.ts';
import { catalogFailsAs502 } from '../dashboards/catalog.ts';
import { peopleOf } from '../identity/participants.ts';
import { resumed } from '../resumed.ts';
import { defineRoute } from '../route.ts';
import { definitionRoutes } from './definition-routes.ts';
import { reportFileRoutes } from './file-routes.ts';
import { namesRoute } from './names-route.ts';
import { reportPeople } from './people.ts';
import { previewRoute } from './preview-route.ts';
import { scheduleRoutes } from './schedule-routes.ts';
import { downloadQuerySchema, reportCatalogSchema } from './schema.ts';

const tags = ['Reports'] as const;
const path = '/api/v2/dashboard/reports';

const catalog = defineRoute({
  id: 'listReports',
  method: 'GET',
  path: `${path}/catalog`,
  summary: 'Lists all reports and names the default',
  description: 'Sorted by key. A download without a key gets the default report.',
  tags,
  access: access.reportRead,
  responses: { 200: { description: 'The reports.', schema: reportCatalogSchema } },
  async handler({ services }) {
    const reports = await listReports(services.database);
    return {
      status: 200,
      body: {
        reports: reports.map(({ key, name, configurationKey }) => ({ key, name, configurationKey })),
        defaultReport: reports.find(({ isDefault }) => isDefault)?.key ?? '',
      },
    };
  },
});

const download = defineRoute({
  id: 'downloadReport',
  method: 'GET',
  path: `${path}/download`,
  summary: 'Downloads a report as xlsx or csv',
  description:
    'One row for each dashboard (and session without one, where the report covers sessions), scenario instance and ' +
    'member, in the order of the dimension catalog. The file is streamed. Text that a spreadsheet would run as a formula is escaped.',
  tags,
  access: access.reportRead,
  share: 'reports',
  query: downloadQuerySchema,
  responses: {
    200: {
      description: 'The file.',
      media: Object.values(reportMediaTypes),
      headers: {
        'content-disposition': '`attachment` with the name `{prefix}_{ddMMyyyy_HH.mm}.{xlsx|csv}`, in UTC.',
      },
    },
  },
  errors: ['reportNotFound', 'upstreamFailed'],
  async handler(context) {
    const { query, services } = context;
    const report = await catalogFailsAs502(() => findReport(services.reports, query.option ?? query.report));
    if (report === undefined) throw new Problem('reportNotFound');
    const columns = orderedColumns(report.columns);
    const batches = reportRows(services.reports, compileReport(columns, report.filters), {
      covers: report.covers,
      filter: {
        from: query.from,
        to: query.to,
        user: query.userId === undefined ? undefined : await peopleOf(context).member(query.userId),
        nameContains: report.dimensionNameFilter === '' ? undefined : report.dimensionNameFilter,
      },
      people: reportPeople(context),
      annotationsFrom: services.database,
    });
    // The first rows are read before the head is sent, so that an unreadable catalog gets its own status.
    const first = await catalogFailsAs502(() => batches.next());
    const rows = resumed(first, batches);
    const file =
      query.format === 'csv'
        ? writeCsv(
            columns.map(({ name }) => name),
            rows,
          )
        : writeXlsx(columns, rows);
    const name = reportFileName(report.fileName, query.format, new Date());
    return {
      status: 200,
      stream: Readable.from(sparingMemory(file), { objectMode: false }),
      headers: {
        'content-type': reportMediaTypes[query.format],
        'content-disposition': `attachment; filename="${asciiName(name)}"; filename*=UTF-8''${encodeURIComponent(name)}`,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      },
    };
  },
});

const asciiName = (name: string) => name.replace(/[^\x20-\x7e]/g, '_');

export const reportRoutes = [
  catalog,
  download,
  previewRoute,
  namesRoute,
  ...definitionRoutes,
  ...scheduleRoutes,
  ...reportFileRoutes,
];
