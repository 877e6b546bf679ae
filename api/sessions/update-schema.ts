/** Wire forms of the update route, in snake_case (contract: Session, update route; decisions 5). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { snakeSchema, snakeValue } from '../../http/bodies/snake-case.ts';
import { bodyId, freeJson, nameText, optionalText } from '../../http/schemas.ts';
import { priorityIn, priorityMeaning, sessionProjectSchema } from '../projects/schema.ts';
import { templateSchema } from '../session-templates/schema.ts';
import { sessionExample, sessionSchema } from './schema.ts';

/** Null means "not given", except for `simulation_name`, which it clears on sessions that are not shared. */
export const updateSessionSchema = z
  .object({
    name: nameText().nullish(),
    email: z
      .string()
      .transform((value) => value.trim())
      .nullish()
      .meta({ description: 'An address, or the identifier that the session shows in its place: no change.' }),
    simulation_name: optionalText(limits.nameCharacters).nullish().meta({
      description: 'On a shared session it is a name: trimmed, not empty, without control characters.',
    }),
    session_template_id: bodyId().nullish().meta({
      description: 'Can change only while no node of the session has received data.',
    }),
    project_id: bodyId().nullish(),
    priority: priorityIn().nullish().meta({ description: priorityMeaning }),
    metadata: freeJson().optional().meta({
      description: "Replaces the caller's part. The platform's keys do not change.",
    }),
  })
  .meta({
    id: 'SessionUpdate',
    example: { name: exampleValues.sessionName, metadata: { weather: 'clear' } },
  });

/** What the update route answers of a session, still in camelCase: all fields but those that the contract leaves out. */
export const updatedSession = sessionSchema
  .omit({ userId: true, templateChanged: true, createdAt: true })
  .extend({
    project: sessionProjectSchema
      .pick({ hexId: true, title: true, description: true, icon: true, createdAt: true })
      .extend({ ownerId: z.int(), defaultSessionTemplateId: z.int().nullable() }),
    sessionTemplate: templateSchema.pick({ name: true, description: true, configuration: true }),
    defaultIngestionNodeId: z
      .int()
      .nullable()
      .meta({ description: 'The only Input node, or the one named by the template.' }),
  });

export const updatedSessionSchema = snakeSchema(updatedSession).meta({
  id: 'UpdatedSession',
  example: snakeValue(updatedSession, {
    ...sessionExample,
    project: {
      hexId: '9f86d081884c7d65',
      title: 'Formation training',
      description: 'Spring course',
      icon: '',
      ownerId: exampleValues.ownerId,
      defaultSessionTemplateId: exampleValues.templateId,
      createdAt: '2026-02-02T09:00:00.000Z',
    },
    sessionTemplate: {
      name: exampleValues.templateName,
      description: 'Upload a table; its columns are found and drawn on a dashboard.',
      configuration: '{}',
    },
    nodeInstances: [
      {
        id: exampleValues.inputNodeId,
        name: 'tabular-upload',
        nodeTemplateId: 1,
        nodeTemplateName: 'input-node',
        state: 'NeverBegan',
        stateCode: 0,
        statusDetails: '',
        lastProcessed: null,
        currentOutputId: null,
        rejectedInputs: 0,
        parentIds: [],
        configuration: '{"dataSourceName":"platform"}',
      },
    ],
    sessionUsers: [{ id: 21, userId: exampleValues.userId, createdAt: exampleValues.startedAt }],
    dimensions: [],
    scenarios: [],
    defaultIngestionNodeId: exampleValues.inputNodeId,
  }),
});
