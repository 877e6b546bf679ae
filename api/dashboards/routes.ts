/** One dashboard, its series and statistics (decisions 11, 12). */
import { createHash } from 'node:crypto';
import { access } from '../../domain/access/access.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { matchesTag } from '../../http/bodies/download.ts';
import type { DimensionRow } from '../../store/dashboards/dimension-reads.ts';
import {
  type DimensionSource,
  type ShownSource,
  sourcePages,
  sourcesVersion,
} from '../../store/dashboards/dimension-sources.ts';
import { ifNoneMatchHeaders } from '../entity-tag.ts';
import { inDashboardReads } from '../long-reads.ts';
import { defineRoute } from '../route.ts';
import { catalogRoutes } from './catalog.ts';
import { exportRoutes } from './export.ts';
import type { AskedChannels } from './find-channels.ts';
import { loadDimension, loadQuestion } from './load-dimension.ts';
import { navigationRoutes } from './navigation.ts';
import { presentDashboard, presentRest, presentSource, SuggestedLayout } from './present.ts';
import { type QuestionContext, questionRoute } from './question-route.ts';
import {
  seriesQuerySchema,
  seriesQuestionSchema,
  statisticsQuerySchema,
  statisticsQuestionSchema,
} from './question-schema.ts';
import { readSeries, readStatistics } from './read-series.ts';
import { dashboardSchema, dimensionParams, seriesSchema, statisticsSchema } from './schema.ts';

const tags = ['Dashboards'] as const;
const params = dimensionParams;

const tagHeader = { etag: 'Another one when the dashboard or its recordings are others.' };

function tagOf(dimension: DimensionRow, version: string | null): string {
  const digest = createHash('sha256').update(JSON.stringify([dimension, version]));
  return `"${digest.digest('base64url').slice(0, 22)}"`;
}

const one = defineRoute({
  id: 'getDashboard',
  method: 'GET',
  path: '/api/v2/dashboard/dimensions/{id}',
  summary: 'Returns a dashboard with its sources, channels and layout',
  description: 'A Trainee sees the dashboards of sessions of which they are a member.',
  tags,
  access: access.dashboardRead,
  params,
  headers: ifNoneMatchHeaders,
  responses: {
    200: { description: 'The dashboard.', schema: dashboardSchema, listed: 'sources', headers: tagHeader },
    304: { description: "The caller's copy is current.", headers: tagHeader },
  },
  errors: ['dimensionNotFound'],
  refusals: { params: 'dimensionNotFound' },
  async handler(context) {
    const { services, params, headers, principal, signal } = context;
    const known = headers['if-none-match'];
    if (known !== undefined) {
      const version = sourcesVersion(services.database, params.id);
      const [dimension, sources] = await Promise.all([loadDimension(context), version]);
      const etag = tagOf(dimension, sources);
      if (matchesTag(known, etag)) return { status: 304, headers: { etag } };
    }
    const inTurn = <T>(read: () => Promise<T>) => inDashboardReads(principal.userId, signal, read);
    const pages = sourcePages(services.database, params.id);
    const [dimension, first] = await inTurn(() => Promise.all([loadDimension(context), pages.next()]));
    const suggested = new SuggestedLayout();
    return {
      status: 200,
      headers: { etag: tagOf(dimension, first.value?.[0]?.version ?? null) },
      body: presentDashboard(dimension),
      items: shownSources(first, () => inTurn(() => pages.next()), suggested),
      rest: () => presentRest(dimension, suggested.layout),
    };
  },
});

async function* shownSources(
  next: IteratorResult<readonly ShownSource[], void>,
  read: () => Promise<IteratorResult<readonly ShownSource[], void>>,
  suggested: SuggestedLayout,
) {
  for (; next.done !== true; next = await read()) {
    for (const source of next.value) suggested.add(source);
    yield next.value.map(presentSource);
  }
}

const series = defineRoute({
  id: 'getDashboardSeries',
  method: 'GET',
  path: '/api/v2/dashboard/dimensions/{id}/series',
  share: 'series',
  summary: "Returns points of a dashboard's channels between two times",
  description:
    'Downsampling keeps minima and maxima. Without `from` and `to` the whole recordings are covered. With `x` points are over ' +
    'a channel of the same recording, and with `split` there is one trace for each value of a channel; the points of a ' +
    'recording are then at most 640,000, so many traces have fewer each. It is 400 when `x` falls or holds no numbers, ' +
    'when `split` has over 200 values or changes over 10,000 times, when either is of another recording than a channel, ' +
    'and when a channel holds text. With `sameRows` all channels of a recording have points of the same rows.',
  tags,
  access: access.dashboardRead,
  params,
  query: seriesQuerySchema,
  responses: {
    200: { description: 'Points of each channel, in the order of the request.', schema: seriesSchema },
  },
  errors: ['dimensionNotFound', 'upstreamFailed'],
  refusals: { params: 'dimensionNotFound' },
  handler: (context) => answerSeries(context, context.query),
});

const askSeries = defineRoute({
  id: 'askDashboardSeries',
  method: 'POST',
  path: '/api/v2/dashboard/dimensions/{id}/series',
  share: 'series',
  summary: "Returns points of a dashboard's channels and of derived channels between two times",
  description:
    'As GET, with the parameters as a JSON body and `derived` beside them. A fault of an expression names its position.',
  ...questionRoute,
  body: seriesQuestionSchema,
  responses: {
    200: {
      description: 'Points of each channel, in the order of the request, then of derived ones.',
      schema: seriesSchema,
    },
  },
  handler: (context) => answerSeries(context, context.body),
});

const statistics = defineRoute({
  id: 'getDashboardStatistics',
  method: 'GET',
  path: '/api/v2/dashboard/dimensions/{id}/statistics',
  share: 'series',
  summary: "Returns statistics of a dashboard's channels between two times",
  description:
    'Numbers: lowest and highest value with their times, mean and standard deviation. Texts and truth values: how long ' +
    'each value lasts. All rows of the window count. Without `from` and `to` the whole recordings are covered.',
  tags,
  access: access.dashboardRead,
  params,
  query: statisticsQuerySchema,
  responses: {
    200: {
      description: 'Statistics of each channel, in the order of the request.',
      schema: statisticsSchema,
    },
  },
  errors: ['dimensionNotFound', 'upstreamFailed'],
  refusals: { params: 'dimensionNotFound' },
  handler: (context) => answerStatistics(context, context.query),
});

const askStatistics = defineRoute({
  id: 'askDashboardStatistics',
  method: 'POST',
  path: '/api/v2/dashboard/dimensions/{id}/statistics',
  share: 'series',
  summary: "Returns statistics of a dashboard's channels and of derived channels between two times",
  description:
    'As GET, with the parameters as a JSON body and `derived` beside them. A fault of an expression names its position.',
  ...questionRoute,
  body: statisticsQuestionSchema,
  responses: {
    200: {
      description: 'Statistics of each channel, in the order of the request, then of derived ones.',
      schema: statisticsSchema,
    },
  },
  handler: (context) => answerStatistics(context, context.body),
});

async function answerSeries(
  context: QuestionContext,
  wanted: AskedChannels & { readonly maxPoints: number },
) {
  const { services } = context;
  const { dimension, question } = await loadQuestion(context, wanted);
  const { answers, sources } = await readSeries(services, question);
  const body = { dimensionId: dimension.id, ...windowOf(wanted, sources), series: answers };
  return { status: 200 as const, body };
}

async function answerStatistics(context: QuestionContext, wanted: AskedChannels) {
  const { services } = context;
  const { dimension, question } = await loadQuestion(context, wanted);
  const { answers, sources } = await readStatistics(services, question);
  const body = { dimensionId: dimension.id, ...windowOf(wanted, sources), statistics: answers };
  return { status: 200 as const, body };
}

/**
 * The times asked for, else those that the recordings cover; null where they have none. A window beside all recordings
 * is the moment asked for.
 */
function windowOf(
  { from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined },
  sources: readonly DimensionSource[],
): { from: string | null; to: string | null } {
  const starts = sources.map((source) => source.time.from).filter((time) => time !== null);
  const ends = sources.map((source) => source.time.to).filter((time) => time !== null);
  const [start = null, end = null] = [starts.sort()[0], ends.sort().at(-1)];
  const [first, last] = [from, to].map((time) => (time === undefined ? null : formatTimestamp(time)));
  return {
    from: first ?? (last && start && start > last ? last : start),
    to: last ?? (first && end && end < first ? first : end),
  };
}

export const dashboardRoutes = [
  ...navigationRoutes,
  ...catalogRoutes,
  one,
  series,
  askSeries,
  statistics,
  askStatistics,
  ...exportRoutes,
];
