/** Wire forms of session queries (contract: Session query model; decisions 13). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { errorSchema } from '../../http/errors.ts';
import { timestampOut } from '../../http/schemas.ts';
import { documentIssueSchema } from '../document-issue.ts';

const aboutCount =
  `With a filter, of more than ${limits.sessionsMatched} sessions so many may be counted; false: there are more. The ` +
  'count of a whole page is then at least one more than the sessions up to its end, so that a caller that reads page ' +
  'after page reaches the last.';

/** Faults of a query are reported with the path of the node by the handler, so the schema only describes it. */
export const sessionQuerySchema = z
  .unknown()
  .optional()
  .meta({
    id: 'SessionQueryRequest',
    type: 'object',
    description:
      `\`filter\`: a node {path, op, value}, {and: [...]} or {or: [...]}; at most ${limits.queryFilterLeaves} conditions ` +
      `and ${limits.queryFilterLevels} levels. A path is a session property (id, name, email, projectId, ` +
      'sessionTemplateId, simulationName, logoUrl, userId, createdAt, state, lastActivityAt, owner) or a dot-notation path ' +
      'into the metadata as shown. owner is the id of the creator, or me. ' +
      'Operators: eq and ne; gt, gte, lt, lte for numbers and times; contains, startsWith, endsWith for text. Metadata ' +
      'accept all of these, in (a list of values) and exists (true or false). Metadata compare by the type of the value: ' +
      'numbers with numbers, text with text. contains also finds an element of a list. eq null also matches ' +
      'missing values; ne is the negation of eq. A whole address as a value of email, openedBy, closedBy or participants ' +
      'means the person, also for contains, startsWith and endsWith. `orderBy`: {path, direction}. Metadata sort as numbers, then texts, then booleans, then ' +
      'missing values. Ties and the default: newest first.',
    properties: {
      filter: { type: 'object' },
      orderBy: {
        type: 'array',
        maxItems: limits.queryOrderings,
        items: {
          type: 'object',
          required: ['path'],
          properties: { path: { type: 'string' }, direction: { enum: ['asc', 'desc'], default: 'asc' } },
        },
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: limits.queryLimitMax,
        default: limits.queryLimitDefault,
      },
      offset: { type: 'integer', minimum: 0, maximum: limits.queryOffsetMax, default: 0 },
    },
    example: {
      filter: {
        and: [
          { path: 'projectId', op: 'eq', value: exampleValues.projectId },
          { path: 'vehicle.speed', op: 'gte', value: 80 },
          {
            or: [
              { path: 'tags', op: 'contains', value: 'night' },
              { path: 'weather.rain', op: 'exists', value: false },
            ],
          },
        ],
      },
      orderBy: [{ path: 'vehicle.speed', direction: 'desc' }],
      limit: 50,
      offset: 0,
    },
  });

export const sessionQueryReplySchema = z
  .object({
    status: z.literal(true),
    message: z.literal('OK'),
    template: z
      .object({
        sessions: z.array(
          z
            .object({
              id: z.guid(),
              name: z.string(),
              email: z.string().meta({
                description: 'The address if the caller may see the person, else an identifier.',
              }),
              projectId: z.int(),
              sessionTemplateId: z.int(),
              simulationName: z.string().nullable(),
              logoUrl: z.string(),
              userId: z.guid(),
              createdAt: timestampOut(),
              metadataJson: z.string().nullable().meta({ description: 'A JSON document as text.' }),
            })
            .meta({
              id: 'SessionQueryRow',
              example: {
                id: exampleValues.sessionId,
                name: exampleValues.sessionName,
                email: exampleValues.email,
                projectId: exampleValues.projectId,
                sessionTemplateId: exampleValues.templateId,
                simulationName: exampleValues.simulationName,
                logoUrl: '',
                userId: exampleValues.userId,
                metadataJson: '{"vehicle":{"type":"glider","speed":92},"tags":["night"]}',
              },
            }),
        ),
        totalCount: z.int(),
        totalCountIsExact: z.boolean().meta({ description: aboutCount }),
        limit: z.int(),
        offset: z.int(),
      })
      .meta({ example: { totalCount: 1, totalCountIsExact: true, limit: 50, offset: 0 } }),
  })
  .meta({ id: 'SessionQueryReply' });

/** A refused query, with the place of its fault. */
export const invalidQuerySchema = errorSchema.extend({ errors: z.array(documentIssueSchema) }).meta({
  id: 'InvalidSessionQuery',
  example: {
    message: '$.limit: limit must be a whole number from 1 to 500.',
    errors: [{ path: '$.limit', message: 'limit must be a whole number from 1 to 500.' }],
  },
});
