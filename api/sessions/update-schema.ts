/** Wire forms of the update route, in snake_case (contract: Session, update route; decisions 5). */
import { z } from 'zod';
import { story } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { isEmail } from '../../domain/text.ts';
import { bodyId, freeJson, jsonObjectOut, nameText, optionalText, timestampOut } from '../../http/schemas.ts';
import { nodeStates } from './schema.ts';

/** Null is no value, but for `simulation_name`, which it clears. */
export const updateSessionSchema = z
  .object({
    name: nameText().nullish(),
    email: z
      .string()
      .transform((value) => value.trim())
      .refine(isEmail, { error: 'must be an email address' })
      .nullish(),
    simulation_name: optionalText(limits.nameCharacters).nullish(),
    session_template_id: bodyId().nullish().meta({
      description: 'Can change only while nothing has come to any node of the session.',
    }),
    project_id: bodyId().nullish(),
    metadata: freeJson().optional().meta({
      description: "Replaces the caller's part. What belongs to the platform stays as it is.",
    }),
  })
  .meta({
    id: 'SessionUpdate',
    example: { name: story.sessionName, metadata: { weather: 'clear' } },
  });

export const updatedSessionSchema = z
  .object({
    id: z.guid(),
    name: z.string(),
    email: z.string(),
    simulation_name: z.string().nullable(),
    project_id: z.int(),
    project: z.object({
      hex_id: z.string(),
      title: z.string(),
      description: z.string(),
      icon: z.string(),
      owner_id: z.int(),
      default_session_template_id: z.int().nullable(),
      created_at: timestampOut(),
    }),
    session_template_id: z.int(),
    session_template: z.object({ name: z.string(), description: z.string(), configuration: z.string() }),
    metadata: jsonObjectOut().nullable(),
    logo_url: z.string(),
    node_instances: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        node_template_id: z.int(),
        node_template_name: z.string(),
        state: z.enum(nodeStates),
        state_code: z.int(),
        status_details: z.string(),
        last_processed: timestampOut().nullable(),
        current_output_id: z.int().nullable(),
        parent_ids: z.array(z.int()),
        configuration: z.string().meta({ description: 'A JSON document as text.' }),
      }),
    ),
    default_ingestion_node_id: z
      .int()
      .nullable()
      .meta({ description: 'The only Input node, or the one that the template names.' }),
    session_users: z.array(z.object({ id: z.int(), user_id: z.string(), created_at: timestampOut() })),
    dimensions: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        dashboard_name: z.string(),
        dashboard_version: z.string(),
        node_instance_id: z.int(),
        url: z.string(),
        created_at: timestampOut(),
      }),
    ),
    scenarios: z.array(
      z.object({
        simulation_id: z.string(),
        session_id: z.guid(),
        scenario_name: z.string(),
        scenario_instance_id: z.guid(),
        from: timestampOut().nullable(),
        to: timestampOut().nullable(),
        created_at: timestampOut(),
      }),
    ),
  })
  .meta({
    id: 'UpdatedSession',
    example: {
      id: story.sessionId,
      name: story.sessionName,
      email: story.email,
      simulation_name: story.simulationName,
      project_id: story.projectId,
      project: {
        hex_id: '9f86d081884c7d65',
        title: 'Formation training',
        description: 'Spring course',
        icon: '',
        owner_id: story.ownerId,
        default_session_template_id: story.templateId,
        created_at: '2026-02-02T09:00:00.000Z',
      },
      session_template_id: story.templateId,
      session_template: {
        name: story.templateName,
        description: 'Upload a table; its columns are found and drawn on a dashboard.',
        configuration: '{}',
      },
      metadata: { weather: 'clear' },
      logo_url: '',
      node_instances: [
        {
          id: story.inputNodeId,
          name: 'tabular-upload',
          node_template_id: 1,
          node_template_name: 'input-node',
          state: 'NeverBegan',
          state_code: 0,
          status_details: '',
          last_processed: null,
          current_output_id: null,
          parent_ids: [],
          configuration: '{"dataSourceName":"platform"}',
        },
      ],
      default_ingestion_node_id: story.inputNodeId,
      session_users: [{ id: 21, user_id: story.userId, created_at: story.startedAt }],
      dimensions: [],
      scenarios: [],
    },
  });
