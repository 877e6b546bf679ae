/** One dashboard and its series (decisions 11, 12). */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { type DimensionRow, findDimension } from '../../store/dashboards/dimension-reads.ts';
import type { DimensionSource } from '../../store/dashboards/dimensions.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { catalogRoutes } from './catalog.ts';
import { navigationRoutes } from './navigation.ts';
import { presentDashboard } from './present.ts';
import { readSeries } from './read-series.ts';
import { dashboardSchema, dimensionParams, seriesQuerySchema, seriesSchema } from './schema.ts';

const tags = ['Dashboards'] as const;
const params = dimensionParams;

const one = defineRoute({
  id: 'getDashboard',
  method: 'GET',
  path: '/api/v2/dashboard/dimensions/{id}',
  summary: 'One dashboard: its sources, channels and layout',
  description: 'A Trainee sees the dashboards of sessions of which they are a member.',
  tags,
  access: access.dashboardRead,
  params,
  responses: { 200: { description: 'The dashboard.', schema: dashboardSchema } },
  errors: ['dimensionNotFound'],
  refusals: { params: 'dimensionNotFound' },
  async handler(context) {
    return { status: 200, body: presentDashboard(await existing(context)) };
  },
});

const series = defineRoute({
  id: 'getDashboardSeries',
  method: 'GET',
  path: '/api/v2/dashboard/dimensions/{id}/series',
  summary: 'Points of channels of a dashboard between two times',
  description:
    'Downsampled so that lows and highs stay. Without `from` and `to` the whole of the recordings that are asked for.',
  tags,
  access: access.dashboardRead,
  params,
  query: seriesQuerySchema,
  responses: {
    200: { description: 'Points of each channel, in the order asked for.', schema: seriesSchema },
  },
  errors: ['dimensionNotFound', 'upstreamFailed'],
  refusals: { params: 'dimensionNotFound' },
  async handler(context) {
    const { query, services, signal } = context;
    const dimension = await existing(context);
    const answers = await readSeries(services, { ...query, sources: dimension.sources, signal });
    const outputs = new Set(query.channels.map((key) => Number(key.slice(0, key.indexOf(':')))));
    const range = rangeOf(dimension.sources.filter((source) => outputs.has(source.outputId)));
    return {
      status: 200,
      body: {
        dimensionId: dimension.id,
        from: query.from === undefined ? range.from : formatTimestamp(query.from),
        to: query.to === undefined ? range.to : formatTimestamp(query.to),
        series: answers,
      },
    };
  },
});

async function existing(context: {
  readonly params: { readonly id: number };
  readonly services: Services;
}): Promise<DimensionRow> {
  const dimension = await findDimension(context.services.database, context.params.id);
  if (dimension === undefined) throw new Problem('dimensionNotFound');
  return dimension;
}

/** The time that these recordings cover; null where they have none. */
function rangeOf(sources: readonly DimensionSource[]): { from: string | null; to: string | null } {
  const starts = sources.map((source) => source.time.from).filter((time) => time !== null);
  const ends = sources.map((source) => source.time.to).filter((time) => time !== null);
  return { from: starts.sort()[0] ?? null, to: ends.sort().at(-1) ?? null };
}

export const dashboardRoutes = [...navigationRoutes, ...catalogRoutes, one, series];
