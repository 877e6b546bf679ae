/** Reports: catalog, definitions, download (contract: Dashboard support; decisions 12). */
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { channelFields } from '../../domain/reports/channel-use.ts';
import {
  configurationKeyOf,
  mergeByKey,
  orderedColumns,
  reportFileName,
} from '../../domain/reports/report.ts';
import { reportMediaTypes } from '../../domain/reports/schedule.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { ReportDefinition } from '../../store/entities/report-definition.ts';
import { writeCsv } from '../../store/reports/csv.ts';
import {
  createReport,
  findReport,
  listReports,
  type ReportWrite,
  updateReport,
} from '../../store/reports/definitions.ts';
import { compileReport, reportRows } from '../../store/reports/rows.ts';
import { sparingMemory } from '../../store/reports/spare-memory.ts';
import { writeXlsx } from '../../store/reports/xlsx.ts';
import { catalogFailsAs502 } from '../dashboards/catalog.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { checkExpressions, withOrder } from './check.ts';
import { reportFileRoutes } from './file-routes.ts';
import { namesRoute } from './names-route.ts';
import { reportPeople } from './people.ts';
import { previewRoute } from './preview-route.ts';
import { scheduleRoutes } from './schedule-routes.ts';
import {
  downloadQuerySchema,
  newReportSchema,
  reportCatalogSchema,
  reportChangeSchema,
  reportParams,
  reportSchema,
} from './schema.ts';

const tags = ['Reports'] as const;
const path = '/api/v2/dashboard/reports';

const expressions = `Expressions of columns and filters are CEL (Common Expression Language) over one row: a dashboard or a
session without one, one of the session's scenario instances and one of its members.

| name | holds |
|---|---|
| \`dimension\` | \`id\`, \`name\`, \`title\`, \`url\`, \`dashboardName\`, \`dashboardVersion\`, \`createdAt\`, \`sessionId\`, \`sessionName\`, \`simulationName\`, \`sessionCreatedAt\`, \`sessionTemplateName\`, \`projectId\`, \`projectTitle\` |
| \`metadata\` | the session's metadata, with identifiers for people |
| \`scenarioInstance\` | \`id\`, \`simulationId\`, \`scenarioName\`, \`from\`, \`to\`, \`createdAt\` |
| \`user\` | \`id\`, \`name\`, \`email\` of the member, as the caller may see them |
| \`dashboard\` | \`id\`, \`name\`, \`version\`, \`url\` |
| \`annotations\` | the first 100 annotations of the session, each with \`label\`, \`text\`, \`tags\`, \`from\`, \`to\`: \`annotations.map(a, a.label).join(', ')\` |
| \`channels\` | statistics of the channels of the dashboard's recordings, by name: \`${channelFields.join('`, `')}\`. A name is a literal: \`channels.speed.max\`, \`channels["engine speed"].mean\`. Where recordings of the dashboard have a name in several units, it has \`count\` and \`missing\` alone |

The fields of the \`source\` are also available by their own names. A name that is not in the table is refused with its position; a
missing value is an empty cell, as all of \`dashboard\`, \`channels\` and the own fields of \`dimension\` are for a session without a dashboard. Numbers of
\`metadata\` and statistics are doubles, whole or not, and are computed with beside integers: \`metadata.laps / 2\` of 7 laps is 3.5, while \`7 / 2\`
is 3. An expression has at most 64 KB, no loop inside a loop, and 2,000 characters of text in its loops; the pattern of \`matches\` is a literal.`;

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

async function* resumed<Item>(first: IteratorResult<Item>, rest: AsyncGenerator<Item>): AsyncGenerator<Item> {
  if (!first.done) yield first.value;
  yield* rest;
}

const one = defineRoute({
  id: 'getReport',
  method: 'GET',
  path: `${path}/{key}`,
  summary: 'Returns the definition of a report',
  description: 'With its columns and filters, in the form that an update accepts.',
  tags,
  access: access.reportRead,
  params: reportParams,
  responses: { 200: { description: 'The definition.', schema: reportSchema } },
  errors: ['reportNotFound'],
  refusals: { params: 'reportNotFound' },
  async handler({ params, services }) {
    const report = await findReport(services.database, params.key);
    if (report === undefined) throw new Problem('reportNotFound');
    return { status: 200, body: present(report) };
  },
});

const create = defineRoute({
  id: 'createReport',
  method: 'POST',
  path,
  summary: 'Creates a report',
  description: expressions,
  tags,
  access: access.reportWrite,
  audit: { object: 'report' },
  idempotent: 'plain',
  body: newReportSchema,
  responses: { 201: { description: 'Defined.', schema: reportSchema } },
  errors: ['reportExists'],
  async handler({ body, services }) {
    const {
      key,
      setAsDefault,
      name,
      dimensionNameFilter = '',
      fileName = 'SessionList',
      covers = 'dashboards',
    } = body;
    const columns = withOrder(body.columns);
    checkExpressions(columns, body.filters);
    const configurationKey = body.configurationKey ?? configurationKeyOf(key);
    const fields = {
      name,
      configurationKey,
      fileName,
      dimensionNameFilter,
      covers,
      columns,
      filters: body.filters,
    };
    return { status: 201, body: saved(await createReport(services.database, key, fields, setAsDefault)) };
  },
});

const update = defineRoute({
  id: 'updateReport',
  method: 'PUT',
  path: `${path}/{key}`,
  summary: 'Updates a report',
  description:
    'An absent field does not change. Columns and filters that a sent list omits are removed, unless `replaceConfiguration` is ' +
    'false. `setAsDefault` makes it the default report; false changes nothing.',
  tags,
  access: access.reportWrite,
  audit: { object: 'report', from: 'key' },
  params: reportParams,
  body: reportChangeSchema,
  responses: { 200: { description: 'Changed.', schema: reportSchema } },
  errors: ['reportNotFound', 'reportExists'],
  refusals: { params: 'reportNotFound' },
  async handler({ params, body, services }) {
    const columns = body.columns && withOrder(body.columns);
    checkExpressions(columns ?? [], body.filters);
    const change = (stored: ReportDefinition) => ({
      name: body.name ?? stored.name,
      configurationKey: body.configurationKey ?? stored.configurationKey,
      fileName: body.fileName ?? stored.fileName,
      dimensionNameFilter: body.dimensionNameFilter ?? stored.dimensionNameFilter,
      covers: body.covers ?? stored.covers,
      columns: changedList(stored.columns, columns, body.replaceConfiguration, ({ columnKey }) => columnKey),
      filters: changedList(
        stored.filters,
        body.filters,
        body.replaceConfiguration,
        ({ filterKey }) => filterKey,
      ),
    });
    return {
      status: 200,
      body: saved(await updateReport(services.database, params.key, change, body.setAsDefault)),
    };
  },
});

function changedList<Item>(
  stored: readonly Item[],
  given: readonly Item[] | undefined,
  replaces: boolean,
  keyOf: (item: Item) => string,
): readonly Item[] {
  if (given === undefined) return stored;
  return replaces ? given : mergeByKey(stored, given, keyOf);
}

function saved(write: ReportWrite) {
  if (write.outcome === 'saved') return present(write.report);
  throw new Problem(write.outcome === 'missing' ? 'reportNotFound' : 'reportExists');
}

function present(report: ReportDefinition): z.input<typeof reportSchema> {
  return {
    ...report,
    columns: [...orderedColumns(report.columns)],
    filters: [...report.filters],
    createdAt: formatTimestamp(report.createdAt),
    updatedAt: formatTimestamp(report.updatedAt),
  };
}

export const reportRoutes = [
  catalog,
  download,
  previewRoute,
  namesRoute,
  one,
  create,
  update,
  ...scheduleRoutes,
  ...reportFileRoutes,
];
