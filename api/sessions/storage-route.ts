/** What the projects hold, for the people who list sessions. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import { timestampOut } from '../../http/schemas.ts';
import { measureStorage, projectStorage } from '../../store/search/project-storage.ts';
import { defineRoute } from '../route.ts';
import { sessionCountsQuerySchema } from './list-schema.ts';

const storageSchema = z
  .object({
    measuredAt: timestampOut().meta({ description: 'When the sessions were added up.' }),
    projects: z.array(
      z.object({
        projectId: z.int(),
        projectTitle: z.string(),
        sessions: z.int(),
        frozenSessions: z.int(),
        outputBytes: z.int().meta({ description: 'The bytes of the outputs as they are now, as stored.' }),
        newestSessionAt: timestampOut().nullable(),
      }),
    ),
  })
  .meta({
    id: 'ProjectStorage',
    example: {
      measuredAt: exampleValues.startedAt,
      projects: [
        {
          projectId: exampleValues.projectId,
          projectTitle: 'Formation training',
          sessions: 204,
          frozenSessions: 3,
          outputBytes: 16_214_318,
          newestSessionAt: exampleValues.startedAt,
        },
      ],
    },
  });

export const storageRoute = defineRoute({
  id: 'readSessionStorage',
  method: 'GET',
  path: '/api/v2/session/storage',
  summary: 'Shows how many sessions and bytes the projects hold, the largest first',
  description:
    `At most ${limits.storageProjects} projects. Of very many sessions the last sum is returned with its time, and made anew ` +
    'for the next reader when it has become old.',
  tags: ['Sessions'],
  access: access.sessionList,
  query: z.object({ projectId: sessionCountsQuerySchema.shape.projectId }),
  responses: { 200: { description: 'The projects.', schema: storageSchema } },
  async handler({ services, query }) {
    const { database, log } = services;
    const { measuredAt, projects, isOld } = await projectStorage(database, query.projectId);
    if (isOld)
      void measureStorage(database).catch((err: unknown) =>
        log.warn({ err }, 'storage could not be added up'),
      );
    return {
      status: 200,
      body: {
        measuredAt: formatTimestamp(measuredAt),
        projects: projects.map(({ newestSessionAt, ...project }) => ({
          ...project,
          newestSessionAt: formatTimestampOrNull(newestSessionAt),
        })),
      },
    };
  },
});
