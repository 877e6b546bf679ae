/** Wire forms of session lists (contract: Session list; decisions 5). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { sessionStates } from '../../domain/sessions/session-state.ts';
import {
  commaList,
  idParameter,
  jsonObjectOut,
  pageParameters,
  timestamp,
  timestampOut,
  uuid,
} from '../../http/schemas.ts';
import { overviewExample, overviewFields } from './overview-schema.ts';

const idFilter = (name: string, description: string, example: number) =>
  idParameter(`${name} must be a positive integer.`).meta({ description, example });

const stateList = commaList(
  z.enum(sessionStates),
  `state must be one or more of ${sessionStates.join(', ')}, separated by commas.`,
).meta({ example: 'failed,running' });

const maxIds = limits.sessionPageSizeMax;

/** No more characters than ids can have, with a space after each comma. */
const idList = commaList(uuid(), `ids must be 1 to ${maxIds} session ids, separated by commas.`, {
  items: maxIds,
  characters: maxIds * (exampleValues.sessionId.length + 2),
});

const ownerError = 'owner must be me or the id of a person.';

export const sessionCountsQuerySchema = z.object({
  projectId: idFilter('projectId', 'Only sessions of this project.', exampleValues.projectId),
  sessionTemplateId: idFilter(
    'sessionTemplateId',
    'Only sessions of this session template.',
    exampleValues.templateId,
  ),
  search: z
    .string()
    .max(limits.nameCharacters, { error: `search must hold at most ${limits.nameCharacters} characters.` })
    .optional()
    .meta({
      description: 'Part of the session name, simulation name or session id, case-insensitive.',
      example: 'flight',
    }),
  from: timestamp().optional().meta({ description: 'Only sessions created at this time or later.' }),
  to: timestamp().optional().meta({ description: 'Only sessions created before this time.' }),
});

export const sessionListQuerySchema = sessionCountsQuerySchema.extend({
  state: stateList.optional().meta({
    description: 'States, separated by commas. Default: all.',
    example: 'failed,running',
  }),
  owner: z
    .string()
    .regex(new RegExp(`^me$|${z.regexes.guid.source}`), { error: ownerError })
    .toLowerCase()
    .optional()
    .meta({ description: 'Only sessions of this creator: `me`, or an id.', example: 'me', type: 'string' }),
  ids: idList.optional().meta({
    description: `Only these sessions: at most ${limits.sessionPageSizeMax} ids, separated by commas, such as a session query found. Ids of no session are passed over.`,
    example: exampleValues.sessionId,
  }),
  sortBy: z
    .enum(['date', 'name'], { error: 'sortBy must be date or name.' })
    .default('date')
    .meta({ description: 'Sort key.' }),
  sortOrder: z
    .enum(['desc', 'asc'], { error: 'sortOrder must be desc or asc.' })
    .default('desc')
    .meta({ description: 'Sort order.' }),
  ...pageParameters('Sessions'),
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
          ...overviewFields,
        })
        .meta({
          id: 'SessionListRow',
          example: {
            id: exampleValues.sessionId,
            name: exampleValues.sessionName,
            simulationName: exampleValues.simulationName,
            projectId: exampleValues.projectId,
            projectTitle: 'Formation training',
            sessionTemplateId: exampleValues.templateId,
            sessionTemplateName: exampleValues.templateName,
            metadata: { vehicle: { type: 'glider', speed: 92 } },
            ...overviewExample,
          },
        }),
    ),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalCountIsExact: z.boolean().meta({
      description:
        `At most ${limits.sessionsCounted} are counted with a filter by state, owner or time and of the caller's own, and ` +
        `of more than ${limits.sessionsMatched} that a search matches so many may be; false: there are more. The count of a ` +
        'whole page is then at least one more than the sessions up to its end.',
    }),
    totalPages: z.int(),
  })
  .meta({
    id: 'SessionList',
    example: { page: 1, pageSize: 25, totalCount: 1, totalCountIsExact: true, totalPages: 1 },
  });

const countSchema = z
  .object({ count: z.int(), isExact: z.boolean().meta({ description: 'False: there are more.' }) })
  .meta({ id: 'SessionCount', example: { count: 7, isExact: true } });

export const sessionCountsSchema = z
  .object({ all: countSchema, running: countSchema, failed: countSchema, mine: countSchema })
  .meta({
    id: 'SessionCounts',
    example: {
      all: { count: 1204, isExact: true },
      running: { count: 3, isExact: true },
      failed: { count: 7, isExact: true },
      mine: { count: 41, isExact: true },
    },
  });

export const metadataKeysQuerySchema = z.object({ projectId: sessionCountsQuerySchema.shape.projectId });

export const metadataKeysSchema = z
  .object({
    keys: z.array(
      z
        .object({
          path: z.string().meta({ description: 'As a session query takes it.' }),
          sessions: z.int().meta({
            description: `How many of the newest ${limits.metadataKeySessions} sessions have a value there.`,
          }),
          samples: z.array(z.union([z.string(), z.number(), z.boolean()])),
        })
        .meta({
          id: 'SessionMetadataKey',
          example: { path: 'vehicle.type', sessions: 12, samples: ['glider', 'jet'] },
        }),
    ),
  })
  .meta({
    id: 'SessionMetadataKeys',
    example: { keys: [{ path: 'vehicle.type', sessions: 12, samples: ['glider'] }] },
  });
