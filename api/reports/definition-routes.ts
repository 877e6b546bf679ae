/** Definitions of reports (contract: Dashboard support; decisions 12). */
import type { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { channelFields } from '../../domain/reports/channel-use.ts';
import { configurationKeyOf, mergeByKey, orderedColumns } from '../../domain/reports/report.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { ReportDefinition } from '../../store/entities/report-definition.ts';
import { createReport, findReport, type ReportWrite, updateReport } from '../../store/reports/definitions.ts';
import { etagHeader, etagOf, expectedRevision, ifMatchHeaders } from '../entity-tag.ts';
import { defineRoute } from '../route.ts';
import { checkExpressions, withOrder } from './check.ts';
import { newReportSchema, reportChangeSchema, reportParams, reportSchema } from './schema.ts';

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

The fields of the \`source\` that a column names are also available without its name in front. A name that is not in the table is refused with its position; a
missing value is an empty cell, as all of \`dashboard\`, \`channels\` and the own fields of \`dimension\` are for a session without a dashboard. Numbers of
\`metadata\` and statistics are doubles, whole or not, and are computed with beside integers: \`metadata.laps / 2\` of 7 laps is 3.5, while \`7 / 2\`
is 3. An expression has at most 64 KB, no loop inside a loop, and 2,000 characters of text in its loops; the pattern of \`matches\` is a literal.`;

const one = defineRoute({
  id: 'getReport',
  method: 'GET',
  path: `${path}/{key}`,
  summary: 'Returns the definition of a report',
  description: 'With its columns and filters, in the form that an update accepts.',
  tags,
  access: access.reportRead,
  params: reportParams,
  responses: { 200: { description: 'The definition.', schema: reportSchema, headers: etagHeader } },
  errors: ['reportNotFound'],
  refusals: { params: 'reportNotFound' },
  async handler({ params, services }) {
    const report = await findReport(services.database, params.key);
    if (report === undefined) throw new Problem('reportNotFound');
    return { status: 200, ...tagged(present(report)) };
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
  responses: { 201: { description: 'Defined.', schema: reportSchema, headers: etagHeader } },
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
    const write = await createReport(services.database, key, fields, setAsDefault);
    return { status: 201, ...tagged(saved(write)) };
  },
});

const update = defineRoute({
  id: 'updateReport',
  method: 'PUT',
  path: `${path}/{key}`,
  summary: 'Updates a report',
  description:
    'An absent field does not change. Columns and filters that a sent list omits are removed, unless `replaceConfiguration` is ' +
    'false. `setAsDefault` makes it the default report; false changes nothing. With `If-Match` it is refused when another change ' +
    'came between.',
  tags,
  access: access.reportWrite,
  audit: { object: 'report', from: 'key' },
  params: reportParams,
  headers: ifMatchHeaders,
  body: reportChangeSchema,
  responses: { 200: { description: 'Changed.', schema: reportSchema, headers: etagHeader } },
  errors: ['reportNotFound', 'reportExists', 'reportOvertaken'],
  refusals: { params: 'reportNotFound' },
  async handler({ params, headers, body, services }) {
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
    const target = {
      key: params.key,
      isExpected: expectedRevision(headers),
      setAsDefault: body.setAsDefault,
    };
    return { status: 200, ...tagged(saved(await updateReport(services.database, target, change))) };
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
  throw new Problem(problems[write.outcome]);
}

const problems = {
  missing: 'reportNotFound',
  overtaken: 'reportOvertaken',
  taken: 'reportExists',
} as const;

const tagged = (body: ReturnType<typeof present>) => ({ body, headers: etagOf(body.revision) });

function present(report: ReportDefinition): z.input<typeof reportSchema> {
  return {
    ...report,
    columns: [...orderedColumns(report.columns)],
    filters: [...report.filters],
    createdAt: formatTimestamp(report.createdAt),
    updatedAt: formatTimestamp(report.updatedAt),
  };
}

export const definitionRoutes = [one, create, update];
