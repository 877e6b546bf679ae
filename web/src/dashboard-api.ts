/** The routes of dashboards, annotations, layouts and reports that the console uses. */

import type { Query } from '../../client/api-client.ts';
import type {
  Annotation,
  AnnotationChange,
  AnnotationList,
  Dashboard,
  DimensionCatalog,
  ExportQuestion,
  FittingLayouts,
  Layout,
  NewAnnotation,
  NewLayout,
  NewReport,
  Report,
  ReportCatalog,
  ReportChange,
  ReportNames,
  ReportPreview,
  ReportPreviewRequest,
  SeriesQuestion,
  SeriesReply,
  StatisticsQuestion,
  StatisticsReply,
} from '../../client/types.ts';
import { platform } from './http.ts';

export type CatalogDimension = DimensionCatalog['dimensions'][number];

export interface CatalogQuery {
  search: string;
  /** Null: any. */
  projectId: number | null;
  /** Days as `2026-03-01`, or times; empty for none. */
  from: string;
  to: string;
  page: number;
  order: 'ascending' | 'descending';
}

export function listDimensions(asked: CatalogQuery, signal: AbortSignal): Promise<DimensionCatalog> {
  const query: Query<'GET /api/v2/dashboard/dimensions'> = {
    pageNumber: asked.page,
    orderBy: asked.order,
    search: asked.search || undefined,
    projectId: asked.projectId ?? undefined,
    from: asked.from || undefined,
    to: asked.to || undefined,
  };
  return platform.call('GET /api/v2/dashboard/dimensions', { query, signal });
}

export function listReports(signal: AbortSignal): Promise<ReportCatalog> {
  return platform.call('GET /api/v2/dashboard/reports/catalog', { signal });
}

export function readReport(key: string, signal: AbortSignal): Promise<Report> {
  return platform.call('GET /api/v2/dashboard/reports/{key}', { params: { key }, signal });
}

/** @throws {ApiError} 400 with column key, position and reason for an invalid expression */
export async function createReport(body: NewReport): Promise<void> {
  await platform.call('POST /api/v2/dashboard/reports', { body });
}

/** @param revision the one that was changed; null: whichever it is */
export async function changeReport(key: string, revision: number | null, body: ReportChange): Promise<void> {
  await platform.call('PUT /api/v2/dashboard/reports/{key}', {
    params: { key },
    headers: ifMatch(revision),
    body,
  });
}

const ifMatch = (revision: number | null) => (revision === null ? {} : { 'if-match': `"${revision}"` });

/** What expressions can name. */
export function listReportNames(signal: AbortSignal): Promise<ReportNames> {
  return platform.call('GET /api/v2/dashboard/report-names', { signal });
}

/** The first rows that a definition would have. */
export function previewReport(body: ReportPreviewRequest, signal: AbortSignal): Promise<ReportPreview> {
  return platform.call('POST /api/v2/dashboard/reports/preview', { body, signal });
}

export function downloadReport(
  key: string,
  format: 'xlsx' | 'csv',
  range: { from: string; to: string },
  signal?: AbortSignal,
): Promise<Response> {
  const query = { option: key, format, from: range.from || undefined, to: range.to || undefined };
  return platform.open('GET /api/v2/dashboard/reports/download', {
    query,
    headers: { accept: '*/*' },
    signal,
  });
}

const dashboardTags = new WeakMap<Dashboard, string>();

/** @param known what was read before: it is an error of status 304 where it is current */
export async function readDashboard(
  dimensionId: string,
  signal?: AbortSignal,
  known: Dashboard | null = null,
): Promise<Dashboard> {
  const knownTag = known === null ? undefined : dashboardTags.get(known);
  let tag: string | null = null;
  const dashboard = await platform.call('GET /api/v2/dashboard/dimensions/{id}', {
    params: { id: dimensionId },
    headers: knownTag === undefined ? {} : { 'if-none-match': knownTag },
    onHeaders: (headers) => {
      tag = headers.get('etag');
    },
    signal,
  });
  if (tag !== null) dashboardTags.set(dashboard, tag);
  return dashboard;
}

/** The first page holds as many as a person looks through. */
export function listAnnotations(sessionId: string, signal: AbortSignal): Promise<AnnotationList> {
  const query = { pageSize: 1000 };
  return platform.call('GET /api/v2/session/{id}/annotations', { params: { id: sessionId }, query, signal });
}

export function createAnnotation(sessionId: string, body: NewAnnotation): Promise<Annotation> {
  return platform.call('POST /api/v2/session/{id}/annotations', { params: { id: sessionId }, body });
}

export function changeAnnotation(
  sessionId: string,
  annotationId: string,
  body: AnnotationChange,
): Promise<Annotation> {
  const params = { id: sessionId, annotationId };
  return platform.call('PATCH /api/v2/session/{id}/annotations/{annotationId}', { params, body });
}

export async function deleteAnnotation(sessionId: string, annotationId: string): Promise<void> {
  const params = { id: sessionId, annotationId };
  await platform.call('DELETE /api/v2/session/{id}/annotations/{annotationId}', { params });
}

/** Times in milliseconds since 1970. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const askedOf = (channelKeys: readonly string[], { fromMs, toMs }: Span) => ({
  channels: channelKeys.join(','),
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

export function readStatistics(
  dimensionId: string,
  channelKeys: readonly string[],
  span: Span,
  signal: AbortSignal,
): Promise<StatisticsReply> {
  const query = askedOf(channelKeys, span);
  return platform.call('GET /api/v2/dashboard/dimensions/{id}/statistics', {
    params: { id: dimensionId },
    query,
    signal,
  });
}

/** Every row of stored and of derived channels, as a file. */
export function exportRows(dimensionId: string, body: ExportQuestion): Promise<Response> {
  return platform.open('POST /api/v2/dashboard/dimensions/{id}/export', {
    params: { id: dimensionId },
    body,
  });
}

/** Points that keep each minimum and maximum. */
export function readSeries(
  dimensionId: string,
  channelKeys: readonly string[],
  span: Span,
  maxPoints: number,
  signal: AbortSignal,
): Promise<SeriesReply> {
  const query = { ...askedOf(channelKeys, span), maxPoints };
  return platform.call('GET /api/v2/dashboard/dimensions/{id}/series', {
    params: { id: dimensionId },
    query,
    signal,
  });
}

/** Points or statistics of channels and of derived ones. */
export function askSeries(
  dimensionId: string,
  body: SeriesQuestion,
  signal: AbortSignal,
): Promise<SeriesReply> {
  return platform.call('POST /api/v2/dashboard/dimensions/{id}/series', {
    params: { id: dimensionId },
    body,
    signal,
  });
}

export function askStatistics(
  dimensionId: string,
  body: StatisticsQuestion,
  signal?: AbortSignal,
): Promise<StatisticsReply> {
  return platform.call('POST /api/v2/dashboard/dimensions/{id}/statistics', {
    params: { id: dimensionId },
    body,
    signal,
  });
}

/** The layouts that fit a dashboard, and the one that it opens with. */
export function listFittingLayouts(dimensionId: string, signal: AbortSignal): Promise<FittingLayouts> {
  return platform.call('GET /api/v2/dashboard/dimensions/{id}/layouts', {
    params: { id: dimensionId },
    signal,
  });
}

export function readLayout(id: number, signal?: AbortSignal): Promise<Layout> {
  return platform.call('GET /api/v2/dashboard/layouts/{id}', { params: { id: String(id) }, signal });
}

export function createLayout(body: NewLayout): Promise<Layout> {
  return platform.call('POST /api/v2/dashboard/layouts', { body });
}

/** @param revision the one that was changed; null: whichever it is */
export function replaceLayout(id: number, revision: number | null, body: NewLayout): Promise<Layout> {
  return platform.call('PUT /api/v2/dashboard/layouts/{id}', {
    params: { id: String(id) },
    headers: ifMatch(revision),
    body,
  });
}

export async function deleteLayout(id: number): Promise<void> {
  await platform.call('DELETE /api/v2/dashboard/layouts/{id}', { params: { id: String(id) } });
}
