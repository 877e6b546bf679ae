/** The files that schedules of reports have written. */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { reportMediaTypes } from '../../domain/reports/schedule.ts';
import { downloadHeaders, downloadResponses } from '../../http/bodies/download.ts';
import { findDataSource } from '../../store/objects/data-sources.ts';
import { findReportFile, listReportFiles, type ReportFileRow } from '../../store/reports/scheduled-files.ts';
import { serveOutput } from '../output-data.ts';
import { defineRoute } from '../route.ts';
import { fileListSchema, fileParams, fileQuerySchema, fileSchema, presentFile } from './schedule-schema.ts';

const tags = ['Reports'] as const;
const path = '/api/v2/dashboard/report-files';

const files = defineRoute({
  id: 'listReportFiles',
  method: 'GET',
  path,
  summary: 'Lists the files that schedules have written',
  description: 'Newest first, with those that are being written and those that failed.',
  tags,
  access: access.reportRead,
  query: fileQuerySchema,
  responses: { 200: { description: 'One page.', schema: fileListSchema } },
  async handler({ services, query }) {
    const found = await listReportFiles(services.database, { ...query, limit: query.limit + 1 });
    const page = found.slice(0, query.limit);
    const next = found.length > query.limit ? (page.at(-1)?.position ?? null) : null;
    return { status: 200, body: { files: page.map(presentFile), next } };
  },
});

const file = defineRoute({
  id: 'getReportFile',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Returns a file of a schedule',
  description: 'Without its bytes.',
  tags,
  access: access.reportRead,
  params: fileParams,
  responses: { 200: { description: 'The file.', schema: fileSchema } },
  errors: ['reportFileNotFound'],
  refusals: { params: 'reportFileNotFound' },
  async handler({ services, params }) {
    const found = await findReportFile(services.database, params.id);
    if (found === undefined) throw new Problem('reportFileNotFound');
    return { status: 200, body: presentFile(found) };
  },
});

const data = defineRoute({
  id: 'getReportFileData',
  method: 'GET',
  path: `${path}/{id}/data`,
  summary: 'Downloads a file of a schedule',
  description: 'Only one that is `ready`.',
  tags,
  access: access.reportRead,
  params: fileParams,
  headers: downloadHeaders,
  responses: downloadResponses,
  errors: ['reportFileNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  refusals: { params: 'reportFileNotFound' },
  async handler({ services, params, request, signal }) {
    const found = await findReportFile(services.database, params.id);
    const dataSource =
      found?.dataSourceId == null ? undefined : await findDataSource(services.database, found.dataSourceId);
    if (found === undefined || dataSource === undefined) throw new Problem('reportFileNotFound');
    const { method, headers } = request;
    const options = { method, headers, signal };
    return await serveOutput(services, dataSource, bytesOf(found), options).catch((error) => {
      throw error instanceof Problem && error.key === 'nodeOutputNotFound'
        ? new Problem('reportFileNotFound', { cause: error })
        : error;
    });
  },
});

function bytesOf({ objectKey, fileName, format, sizeBytes, sha256 }: ReportFileRow) {
  return {
    objectKey: objectKey ?? '',
    objectOffset: null,
    outputIdentifier: fileName ?? 'report',
    contentType: reportMediaTypes[format],
    contentEncoding: null,
    sizeBytes: sizeBytes ?? 0,
    sha256,
    etag: sha256 ?? '',
  };
}

export const reportFileRoutes = [files, file, data];
