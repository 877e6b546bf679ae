/** Wire forms of sessions in camelCase, and their progress (contract: Session; decisions 5). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { visibleNodeStates } from '../../domain/runs/node-state.ts';
import { isEmail, isName } from '../../domain/text.ts';
import { bodyId, freeJson, jsonObjectOut, optionalText, timestampOut, uuid } from '../../http/schemas.ts';
import { sessionProjectSchema } from '../projects/schema.ts';
import { templateSchema } from '../session-templates/schema.ts';

/** Optional text; only blanks count as absent. */
const blankIsAbsent = (text: string | null | undefined) => {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
};

export const sessionParams = z.object({
  id: uuid().meta({ description: 'The session.', example: exampleValues.sessionId }),
});

const refusedField = (what: string) => `Invalid session request. ${what}.`;
const refusedName = refusedField(
  `Name must hold 1 to ${limits.nameCharacters} characters and no control characters`,
);

/** The ids come first: missing ids are reported before any other fault. */
export const createSessionSchema = z
  .object({
    ProjectId: bodyId(),
    SessionTemplateId: bodyId(),
    Email: z
      .string({ error: refusedField('Email is not valid') })
      .nullish()
      .transform(blankIsAbsent)
      .refine((value) => value === undefined || isEmail(value), {
        error: refusedField('Email is not valid'),
      })
      .meta({ description: "Address of the participant. Default: the caller's own." }),
    Name: z
      .string({ error: refusedName })
      .nullish()
      .transform(blankIsAbsent)
      .refine((value) => value === undefined || isName(value), {
        error: refusedName,
      })
      .meta({ description: "Default: the template's name and the time." }),
    SimulationName: optionalText(
      limits.nameCharacters,
      refusedField(`SimulationName must hold at most ${limits.nameCharacters} characters`),
    ).nullish(),
    Metadata: freeJson(
      limits.freeJsonBytes,
      refusedField(
        `Metadata must be an object of at most ${limits.freeJsonBytes / 1024} KB and ${limits.freeJsonDepthLevels} levels`,
      ),
    )
      .nullish()
      .meta({
        description: 'Addresses in `openedBy`, `closedBy` and `participants` are stored as identifiers.',
      }),
  })
  .meta({
    id: 'SessionRequest',
    example: {
      ProjectId: exampleValues.projectId,
      SessionTemplateId: exampleValues.templateId,
      Email: exampleValues.email,
      Name: exampleValues.sessionName,
      SimulationName: exampleValues.simulationName,
      Metadata: { vehicle: { type: 'glider', speed: 92 } },
    },
  });

const identityNote = 'The address if the caller may see the person, else an identifier.';

const progressItem = {
  id: z.int(),
  name: z.string(),
  nodeTemplateId: z.int(),
  nodeTemplateName: z.string(),
  state: z.enum(visibleNodeStates),
  stateCode: z.int(),
  statusDetails: z.string(),
  lastProcessed: timestampOut().nullable(),
  currentOutputId: z.int().nullable().meta({ description: 'The newest output.' }),
  rejectedInputs: z.int().meta({ description: 'Inputs that a runner rejected; see their list.' }),
  parentIds: z.array(z.int()),
};

const progressExample = {
  id: exampleValues.nodeId,
  name: 'tabular-autodetect',
  nodeTemplateId: 2,
  nodeTemplateName: 'system-tabular-to-dataservice',
  state: 'Succeeded',
  stateCode: 3,
  statusDetails: '',
  lastProcessed: exampleValues.processedAt,
  currentOutputId: 502,
  rejectedInputs: 0,
  parentIds: [exampleValues.inputNodeId],
};

export const progressSchema = z
  .object({
    sessionId: z.guid(),
    nodeInstances: z.array(
      z.object(progressItem).meta({ id: 'NodeInstanceProgress', example: progressExample }),
    ),
    summary: z.object({
      total: z.int(),
      counts: z
        .partialRecord(z.enum(visibleNodeStates), z.int())
        .meta({ description: 'Number of nodes by state; states that do not occur are omitted.' }),
      allSucceeded: z
        .boolean()
        .meta({ description: 'True when the session has nodes and every one is Succeeded.' }),
      anyFailed: z.boolean(),
    }),
  })
  .meta({
    id: 'SessionProgress',
    example: {
      sessionId: exampleValues.sessionId,
      nodeInstances: [
        {
          ...progressExample,
          id: exampleValues.inputNodeId,
          name: 'tabular-upload',
          nodeTemplateId: 1,
          nodeTemplateName: 'input-node',
          currentOutputId: exampleValues.outputId,
          parentIds: [],
        },
        progressExample,
        {
          ...progressExample,
          id: exampleValues.dashboardNodeId,
          name: 'tabular-dashboard',
          nodeTemplateId: 3,
          nodeTemplateName: 'system-next-dimension',
          state: 'Pending',
          stateCode: 5,
          lastProcessed: null,
          currentOutputId: null,
          parentIds: [exampleValues.nodeId],
        },
      ],
      summary: { total: 3, counts: { Succeeded: 2, Pending: 1 }, allSucceeded: false, anyFailed: false },
    },
  });

export const sessionScenarioSchema = z
  .object({
    simulationId: z.string(),
    sessionId: z.guid(),
    scenarioName: z.string(),
    scenarioInstanceId: z.guid(),
    from: timestampOut().nullable(),
    to: timestampOut().nullable(),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'SessionScenario',
    example: {
      simulationId: 'sim-3',
      sessionId: exampleValues.sessionId,
      scenarioName: exampleValues.scenarioName,
      scenarioInstanceId: exampleValues.scenarioInstanceId,
      to: exampleValues.closedAt,
    },
  });

export const sessionExample = {
  id: exampleValues.sessionId,
  name: exampleValues.sessionName,
  email: exampleValues.email,
  projectId: exampleValues.projectId,
  sessionTemplateId: exampleValues.templateId,
  simulationName: exampleValues.simulationName,
  logoUrl: '',
  userId: exampleValues.userId,
  metadata: { vehicle: { type: 'glider', speed: 92 } },
  templateChanged: false,
};

export const sessionSchema = z
  .object({
    id: z.guid(),
    name: z.string(),
    email: z.string().meta({ description: identityNote }),
    projectId: z.int(),
    project: sessionProjectSchema,
    sessionTemplateId: z.int(),
    sessionTemplate: templateSchema,
    simulationName: z.string().nullable(),
    scenarios: z.array(sessionScenarioSchema),
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
        .meta({
          id: 'SessionDimension',
          example: {
            id: exampleValues.dimensionId,
            name: 'Recording',
            dashboardName: 'Recording',
            dashboardVersion: 'next',
            nodeInstanceId: exampleValues.dashboardNodeId,
            url: `/dashboards/${exampleValues.dimensionId}`,
          },
        }),
    ),
    logoUrl: z.string().meta({ description: 'From the metadata key `logoUrl`, else empty.' }),
    userId: z.guid().meta({ description: 'The creator of the session.' }),
    metadata: jsonObjectOut().nullable(),
    sessionUsers: z.array(
      z
        .object({
          id: z.int(),
          userId: z.string().meta({ description: 'Identifier of the creator or of a participant.' }),
          createdAt: timestampOut(),
        })
        .meta({ id: 'SessionUser', example: { id: 21, userId: exampleValues.userId } }),
    ),
    nodeInstances: z.array(
      z
        .object({
          ...progressItem,
          configuration: z.string().meta({ description: 'A JSON document as text.' }),
        })
        .meta({
          id: 'SessionNodeInstance',
          example: {
            ...progressExample,
            configuration: '{"inputFormat":"auto","emitSuggestedLayout":true}',
          },
        }),
    ),
    templateChanged: z.boolean().meta({
      description:
        'The session template says something else by now than when the session took it: see adopt-template.',
    }),
    createdAt: timestampOut(),
  })
  .meta({ id: 'Session', example: sessionExample });
