/** Wire forms of the session list (contract: Session list; decisions 5). */
import { z } from 'zod';
import { story } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { idParameter, integerParameter, jsonObjectOut, timestampOut } from '../../http/schemas.ts';

const idFilter = (name: string, example: number) =>
  idParameter(`${name} must be a positive integer.`).meta({
    description: 'Only sessions of this one.',
    example,
  });

const pageMessage = 'page must be 1 or greater.';
const pageSizeMessage = `pageSize must be between 1 and ${limits.sessionPageSizeMax}.`;

export const sessionListQuerySchema = z.object({
  projectId: idFilter('projectId', story.projectId),
  sessionTemplateId: idFilter('sessionTemplateId', story.templateId),
  search: z
    .string()
    .max(limits.nameCharacters, { error: `search must hold at most ${limits.nameCharacters} characters.` })
    .optional()
    .meta({
      description: 'Part of session name, simulation name or session id, in any case.',
      example: 'flight',
    }),
  sortBy: z
    .enum(['date', 'name'], { error: 'sortBy must be date or name.' })
    .default('date')
    .meta({ description: 'What the order goes by.' }),
  sortOrder: z
    .enum(['desc', 'asc'], { error: 'sortOrder must be desc or asc.' })
    .default('desc')
    .meta({ description: 'Newest or last first, or the other way round.' }),
  page: integerParameter({ min: 1, initial: 1, message: pageMessage }).meta({
    description: 'Number of the page, from 1.',
  }),
  pageSize: integerParameter({
    min: 1,
    max: limits.sessionPageSizeMax,
    initial: limits.sessionPageSizeDefault,
    message: pageSizeMessage,
  }).meta({ description: 'Sessions on a page.' }),
});

export const sessionListSchema = z
  .object({
    sessions: z.array(
      z
        .object({
          id: z.guid(),
          name: z.string(),
          simulationName: z.string().nullable(),
          projectId: z.int(),
          projectTitle: z.string(),
          sessionTemplateId: z.int(),
          sessionTemplateName: z.string(),
          createdAt: timestampOut(),
          metadata: jsonObjectOut().nullable(),
        })
        .meta({
          id: 'SessionListRow',
          example: {
            id: story.sessionId,
            name: story.sessionName,
            simulationName: story.simulationName,
            projectId: story.projectId,
            projectTitle: 'Formation training',
            sessionTemplateId: story.templateId,
            sessionTemplateName: story.templateName,
            metadata: { vehicle: { type: 'glider', speed: 92 } },
          },
        }),
    ),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int(),
  })
  .meta({ id: 'SessionList', example: { page: 1, pageSize: 25, totalCount: 1, totalPages: 1 } });
