/** The session in snake_case, as the update route answers. */
import type { z } from 'zod';
import { defaultIngestionNodeId } from '../../domain/session.ts';
import type { People } from '../participants.ts';
import type { LoadedSession } from './load.ts';
import { presentSession } from './present.ts';
import type { updatedSessionSchema } from './update-schema.ts';

export async function presentUpdatedSession(
  { session, nodes }: LoadedSession,
  people: People,
): Promise<z.input<typeof updatedSessionSchema>> {
  const camel = await presentSession(session, nodes, people);
  const { project, sessionTemplate } = camel;
  return {
    id: camel.id,
    name: camel.name,
    email: camel.email,
    simulation_name: camel.simulationName,
    project_id: camel.projectId,
    project: {
      hex_id: project.hexId,
      title: project.title,
      description: project.description,
      icon: project.icon,
      owner_id: project.ownerId,
      default_session_template_id: project.defaultSessionTemplateId,
      created_at: project.createdAt,
    },
    session_template_id: camel.sessionTemplateId,
    session_template: {
      name: sessionTemplate.name,
      description: sessionTemplate.description,
      configuration: sessionTemplate.configuration,
    },
    metadata: camel.metadata,
    logo_url: camel.logoUrl,
    node_instances: camel.nodeInstances.map((node) => ({
      id: node.id,
      name: node.name,
      node_template_id: node.nodeTemplateId,
      node_template_name: node.nodeTemplateName,
      state: node.state,
      state_code: node.stateCode,
      status_details: node.statusDetails,
      last_processed: node.lastProcessed,
      current_output_id: node.currentOutputId,
      parent_ids: node.parentIds,
      configuration: node.configuration,
    })),
    default_ingestion_node_id: defaultIngestionNodeId(nodes, session.sessionTemplate.configuration),
    session_users: camel.sessionUsers.map((user) => ({
      id: user.id,
      user_id: user.userId,
      created_at: user.createdAt,
    })),
    dimensions: camel.dimensions.map((dimension) => ({
      id: dimension.id,
      name: dimension.name,
      dashboard_name: dimension.dashboardName,
      dashboard_version: dimension.dashboardVersion,
      node_instance_id: dimension.nodeInstanceId,
      url: dimension.url,
      created_at: dimension.createdAt,
    })),
    scenarios: camel.scenarios.map((scenario) => ({
      simulation_id: scenario.simulationId,
      session_id: scenario.sessionId,
      scenario_name: scenario.scenarioName,
      scenario_instance_id: scenario.scenarioInstanceId,
      from: scenario.from,
      to: scenario.to,
      created_at: scenario.createdAt,
    })),
  };
}
