/** The catalog of dimensions (contract: Dimension catalog rules; decisions 12). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { idParameter, integerParameter, jsonObjectOut, timestampOut, uuid } from '../../http/schemas.ts';
import {
  type CatalogDimension,
  pageOfDimensions,
  readDimensions,
} from '../../store/dashboards/dimension-catalog.ts';
import { type People, peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { showAddresses } from '../sessions/metadata.ts';
import { dateRange } from './date-range.ts';

const catalogSchema = z
  .object({
    dimensions: z.array(
      z.object({
        id: z.int(),
        name: z.string().meta({
          description: 'Name of the first member; their identifier when the name cannot be resolved.',
        }),
        email: z
          .string()
          .meta({ description: 'Address of the first member; empty when it cannot be resolved.' }),
        title: z.string(),
        sessionId: z.guid(),
        sessionName: z.string(),
        projectId: z.int(),
        projectTitle: z.string(),
        dashboardName: z.string(),
        dashboardVersion: z.string(),
        url: z.string().meta({ description: 'Path in the console.' }),
        from: timestampOut().nullable(),
        to: timestampOut().nullable(),
        scenarioName: z.string().nullable().meta({ description: 'Name of the newest scenario.' }),
        scenarioInstanceId: z.guid().nullable().meta({ description: 'Id of the newest scenario.' }),
        metadata: jsonObjectOut().nullable(),
        users: z.array(z.object({ id: z.string(), name: z.string(), email: z.string() })),
        createdAt: timestampOut(),
      }),
    ),
    pageNumber: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int(),
  })
  .meta({
    id: 'DimensionCatalog',
    example: {
      dimensions: [
        {
          id: exampleValues.dimensionId,
          name: 'Per Lindqvist',
          email: exampleValues.email,
          title: 'Recording',
          sessionId: exampleValues.sessionId,
          sessionName: exampleValues.sessionName,
          projectId: exampleValues.projectId,
          projectTitle: 'Flight school',
          dashboardName: 'Recording',
          dashboardVersion: 'next',
          url: `/dashboards/${exampleValues.dimensionId}`,
          from: exampleValues.startedAt,
          to: exampleValues.closedAt,
          scenarioName: exampleValues.scenarioName,
          scenarioInstanceId: exampleValues.scenarioInstanceId,
          metadata: null,
          users: [{ id: exampleValues.userId, name: 'Per Lindqvist', email: exampleValues.email }],
          createdAt: exampleValues.processedAt,
        },
      ],
      pageNumber: 1,
      pageSize: limits.dimensionPageSize,
      totalCount: 1,
      totalPages: 1,
    },
  });

const catalog = defineRoute({
  id: 'listDimensions',
  method: 'GET',
  path: '/api/v2/dashboard/dimensions',
  summary: 'Lists the dashboards of all sessions that the caller may see',
  description:
    'A Trainee sees those of sessions of which they are a member. Sorted by the start of the newest scenario, then by ' +
    'creation. `from` and `to` select dashboards with an overlapping scenario, and those without a scenario window.',
  tags: ['Dashboards'],
  access: access.dashboardRead,
  query: dateRange(
    z.object({
      userId: uuid().optional().meta({ description: 'Only dashboards of which this user is a member.' }),
      projectId: idParameter('projectId must be a positive integer.').meta({
        description: 'Only dashboards of sessions of this project.',
        example: exampleValues.projectId,
      }),
      search: z
        .string()
        .max(limits.nameCharacters, {
          error: `search must hold at most ${limits.nameCharacters} characters.`,
        })
        .transform((text) => (text.trim() === '' ? undefined : text.trim()))
        .optional()
        .meta({
          type: 'string',
          description: "Part of the dashboard's or its session's name; upper and lower case are the same.",
          example: 'stint 2',
        }),
      pageNumber: integerParameter({
        min: 1,
        initial: 1,
        message: 'pageNumber must be a positive integer.',
      }).meta({ description: 'Page number, from 1.' }),
      orderBy: z
        .enum(['ascending', 'descending'], { error: 'orderBy must be ascending or descending.' })
        .default('ascending')
        .meta({ description: 'Oldest first or newest first.' }),
    }),
  ),
  responses: { 200: { description: 'One page of 50.', schema: catalogSchema } },
  errors: ['upstreamFailed'],
  async handler(context) {
    const { query, principal, services } = context;
    const people = peopleOf(context);
    const { pageNumber, orderBy } = query;
    const filter = {
      from: query.from,
      to: query.to,
      user: query.userId === undefined ? undefined : await people.member(query.userId),
      projectId: query.projectId,
      search: query.search,
      ...(principal.role === 'Trainee' ? { member: people.caller } : {}),
    };
    const { dimensions, totalCount } = await catalogFailsAs502(async () => {
      const page = await pageOfDimensions(services.database, filter, {
        order: orderBy,
        offset: (pageNumber - 1) * limits.dimensionPageSize,
        limit: limits.dimensionPageSize,
      });
      return {
        totalCount: page.totalCount,
        dimensions: await readDimensions(services.database, page.ids),
      };
    });
    await people.prefetch(dimensions.flatMap(({ members }) => members));
    return {
      status: 200,
      body: {
        dimensions: await Promise.all(dimensions.map((dimension) => present(dimension, people))),
        pageNumber,
        pageSize: limits.dimensionPageSize,
        totalCount,
        totalPages: Math.ceil(totalCount / limits.dimensionPageSize),
      },
    };
  },
});

/** A catalog that cannot be read is never an empty one. */
export async function catalogFailsAs502<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw cause instanceof Problem ? cause : new Problem('upstreamFailed', { cause });
  }
}

async function present(
  dimension: CatalogDimension,
  people: People,
): Promise<z.input<typeof catalogSchema>['dimensions'][number]> {
  const users = await Promise.all(dimension.members.map((id) => presentMember(id, people)));
  const newest = dimension.scenarios.at(-1);
  return {
    id: dimension.id,
    name: users[0]?.name ?? '',
    email: users[0]?.email ?? '',
    title: dimension.name,
    sessionId: dimension.sessionId,
    sessionName: dimension.sessionName,
    projectId: dimension.projectId,
    projectTitle: dimension.projectTitle,
    dashboardName: dimension.dashboardName,
    dashboardVersion: dimension.dashboardVersion,
    url: dashboardUrl(dimension.id),
    from: newest?.from ? formatTimestamp(newest.from) : null,
    to: newest?.to ? formatTimestamp(newest.to) : null,
    scenarioName: newest?.scenarioName ?? null,
    scenarioInstanceId: newest?.id ?? null,
    metadata: dimension.metadata === null ? null : await showAddresses(dimension.metadata, people),
    users,
    createdAt: formatTimestamp(dimension.createdAt),
  };
}

/** A member as the caller may see them, else the identifier alone. */
export async function presentMember(id: string, people: People) {
  const person = await people.find(id);
  return { id, name: person?.displayName || id, email: person?.email ?? '' };
}

export const catalogRoutes = [catalog];
