/** Scenario instances (contract: Scenario instance; decisions 5). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { catalogue, Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { isName } from '../../domain/text.ts';
import { optionalText, timestamp, uuid } from '../../http/schemas.ts';
import { dimensionsOfSession, saveScenario } from '../../store/sessions/scenarios.ts';
import { defineRoute } from '../route.ts';
import { presentDimension, presentScenario } from '../sessions/present.ts';
import { sessionScenarioSchema, sessionSchema } from '../sessions/schema.ts';

const nameRequired = catalogue.invalidScenario.message;

/** The name comes first: a missing name is reported before any other fault. */
const requestSchema = z
  .object(
    {
      scenarioName: z
        .string({ error: nameRequired })
        .refine((value) => isName(value), { error: nameRequired })
        .transform((value) => value.trim())
        .meta({ type: 'string', minLength: 1, maxLength: limits.nameCharacters }),
      simulationId: optionalText(limits.nameCharacters).nullish(),
      scenarioInstanceId: uuid()
        .nullish()
        .meta({ description: 'Id of the scenario to update. Default: a new one.' }),
      from: timestamp().nullish(),
      to: timestamp().nullish().meta({ description: 'Not before `from`.' }),
    },
    { error: nameRequired },
  )
  .meta({
    id: 'ScenarioRequest',
    example: {
      scenarioName: exampleValues.scenarioName,
      simulationId: 'sim-3',
      scenarioInstanceId: exampleValues.scenarioInstanceId,
      from: exampleValues.startedAt,
      to: exampleValues.closedAt,
    },
  });

const scenarioSchema = sessionScenarioSchema.extend({ dimensions: sessionSchema.shape.dimensions }).meta({
  id: 'ScenarioInstance',
  example: {
    simulationId: 'sim-3',
    sessionId: exampleValues.sessionId,
    scenarioName: exampleValues.scenarioName,
    scenarioInstanceId: exampleValues.scenarioInstanceId,
    to: exampleValues.closedAt,
    createdAt: exampleValues.processedAt,
  },
});

const replySchema = z
  .object({ status: z.literal(true), message: z.literal('OK'), template: scenarioSchema })
  .meta({ id: 'ScenarioReply' });

const create = defineRoute({
  id: 'createScenarioInstance',
  method: 'POST',
  path: '/{sessionId}/scenario_instances',
  summary: 'Creates a scenario instance of a session, or updates the one with this id',
  description: 'In an update an absent field does not change, and null clears `from` and `to`.',
  tags: ['Sessions'],
  access: access.scenarioCreate,
  audit: { object: 'scenario' },
  idempotent: 'plain',
  params: z.object({
    sessionId: uuid().meta({ description: 'The session.', example: exampleValues.sessionId }),
  }),
  body: requestSchema,
  responses: { 200: { description: 'The scenario instance.', schema: replySchema } },
  errors: ['sessionIdNotFound', 'invalidScenario', 'tooManyScenarios'],
  refusals: { params: 'sessionIdNotFound', body: 'invalidRequest' },
  async handler({ services, params, body }) {
    const write = await saveScenario(services.database, params.sessionId, {
      id: body.scenarioInstanceId ?? undefined,
      simulationId: body.simulationId ?? undefined,
      scenarioName: body.scenarioName,
      from: body.from,
      to: body.to,
    });
    if (write.outcome === 'session-missing') throw new Problem('sessionIdNotFound');
    if (write.outcome === 'too-many') throw new Problem('tooManyScenarios');
    if (write.outcome !== 'saved') throw new Problem('invalidRequest');
    const dimensions = await dimensionsOfSession(services.database, params.sessionId);
    const template = {
      ...presentScenario(write.scenario, params.sessionId),
      dimensions: dimensions.map(presentDimension),
    };
    return { status: 200, body: { status: true, message: 'OK', template } };
  },
});

export const scenarioRoutes = [create];
