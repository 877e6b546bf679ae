/** Wire forms of sessions in camelCase, their list and their progress (contract: Session; decisions 5). */
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import { isEmail, isName } from '../../domain/text.ts';
import {
  bodyId,
  freeJson,
  integerParameter,
  jsonObjectOut,
  optionalText,
  timestampOut,
} from '../../http/schemas.ts';
import { sessionProjectSchema } from '../projects/schema.ts';
import { templateSchema } from '../session-templates/schema.ts';

/** Optional text in which nothing but blanks counts as absent. */
const blankIsAbsent = (text: string | null | undefined) => {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
};

/** The ids stand first: a request that lacks them reads their message whatever else is wrong. */
export const createSessionSchema = z.object({
  ProjectId: bodyId(),
  SessionTemplateId: bodyId(),
  Email: z
    .string()
    .nullish()
    .transform(blankIsAbsent)
    .refine((value) => value === undefined || isEmail(value), {
      error: 'Invalid session request. Email is not valid.',
    })
    .meta({ type: 'string', description: "Address of the participant. Default: the caller's own." }),
  Name: z
    .string()
    .nullish()
    .transform(blankIsAbsent)
    .refine((value) => value === undefined || isName(value), {
      error: 'Invalid session request. Name must hold 1 to 255 characters and no control characters.',
    })
    .meta({ type: 'string', description: "Default: the template's name and the time." }),
  SimulationName: optionalText(limits.nameCharacters).nullish(),
  Metadata: freeJson().nullish(),
});

export const nodeStates = [
  'NeverBegan',
  'Processing',
  'Failed',
  'Succeeded',
  'Suspended',
  'Pending',
  'Unknown',
] as const;

const progressItem = {
  id: z.int(),
  name: z.string(),
  nodeTemplateId: z.int(),
  nodeTemplateName: z.string(),
  state: z.enum(nodeStates),
  stateCode: z.int(),
  statusDetails: z.string(),
  lastProcessed: timestampOut().nullable(),
  currentOutputId: z.int().nullable().meta({ description: 'The newest output.' }),
  parentIds: z.array(z.int()),
};

export const progressSchema = z
  .object({
    sessionId: z.guid(),
    nodeInstances: z.array(z.object(progressItem).meta({ id: 'NodeInstanceProgress' })),
    summary: z.object({
      total: z.int(),
      counts: z.partialRecord(z.enum(nodeStates), z.int()),
      allSucceeded: z.boolean(),
      anyFailed: z.boolean(),
    }),
  })
  .meta({ id: 'SessionProgress' });

export const sessionSchema = z
  .object({
    id: z.guid(),
    name: z.string(),
    email: z
      .string()
      .meta({ description: 'The address where the caller may see the person, else an identifier.' }),
    projectId: z.int(),
    project: sessionProjectSchema,
    sessionTemplateId: z.int(),
    sessionTemplate: templateSchema,
    simulationName: z.string().nullable(),
    scenarios: z.array(
      z
        .object({
          simulationId: z.string(),
          sessionId: z.guid(),
          scenarioName: z.string(),
          scenarioInstanceId: z.guid(),
          from: timestampOut().nullable(),
          to: timestampOut().nullable(),
          createdAt: timestampOut(),
        })
        .meta({ id: 'SessionScenario' }),
    ),
    dimensions: z.array(
      z
        .object({
          id: z.int(),
          name: z.string(),
          dashboardName: z.string(),
          dashboardVersion: z.string(),
          nodeInstanceId: z.int(),
          url: z.string(),
          createdAt: timestampOut(),
        })
        .meta({ id: 'SessionDimension' }),
    ),
    logoUrl: z.string(),
    userId: z.guid(),
    metadata: jsonObjectOut().nullable(),
    sessionUsers: z.array(
      z.object({ id: z.int(), userId: z.string(), createdAt: timestampOut() }).meta({ id: 'SessionUser' }),
    ),
    nodeInstances: z.array(
      z
        .object({
          ...progressItem,
          configuration: z.string().meta({ description: 'A JSON document as text.' }),
        })
        .meta({ id: 'SessionNodeInstance' }),
    ),
    createdAt: timestampOut(),
  })
  .meta({ id: 'Session' });

/** An optional id; an empty one counts as absent. */
function idFilter(name: string) {
  const error = `${name} must be a positive integer.`;
  return z
    .string()
    .regex(/^([1-9]\d{0,15})?$/, { error })
    .transform((text) => (text === '' ? undefined : Number(text)))
    .refine((value) => value === undefined || value <= limits.largestId, { error })
    .optional()
    .meta({ type: 'integer', minimum: 1 });
}

const pageMessage = 'page must be 1 or greater.';
const pageSizeMessage = `pageSize must be between 1 and ${limits.sessionPageSizeMax}.`;

export const sessionListQuerySchema = z.object({
  projectId: idFilter('projectId'),
  sessionTemplateId: idFilter('sessionTemplateId'),
  search: z
    .string()
    .max(limits.nameCharacters, { error: `search must hold at most ${limits.nameCharacters} characters.` })
    .optional()
    .meta({ description: 'Part of session name, simulation name or session id, in any case.' }),
  sortBy: z.enum(['date', 'name'], { error: 'sortBy must be date or name.' }).default('date'),
  sortOrder: z.enum(['desc', 'asc'], { error: 'sortOrder must be desc or asc.' }).default('desc'),
  page: integerParameter({ min: 1, initial: 1, message: pageMessage }),
  pageSize: integerParameter({
    min: 1,
    max: limits.sessionPageSizeMax,
    initial: limits.sessionPageSizeDefault,
    message: pageSizeMessage,
  }),
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
        .meta({ id: 'SessionListRow' }),
    ),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int(),
  })
  .meta({ id: 'SessionList' });
