import type { z } from 'zod';
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { isTemplateChanged } from '../../domain/templates/adoption.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import type { NodeProgress } from '../../store/sessions/progress.ts';
import type {
  SessionDetails,
  SessionDimensionRow,
  SessionScenarioRow,
} from '../../store/sessions/sessions.ts';
import type { People } from '../identity/participants.ts';
import { presentSessionProject } from '../projects/present.ts';
import { presentTemplateWithNodes } from '../session-templates/present.ts';
import { showAddresses } from './metadata.ts';
import type { progressSchema, sessionSchema } from './schema.ts';
import type { sharedSessionSchema } from './shared-schema.ts';

type WireProgress = z.input<typeof progressSchema>;
type WireSession = z.input<typeof sessionSchema>;

/** The camelCase session. Identifiers become addresses when the caller may see the person. */
export async function presentSession(
  session: SessionDetails,
  nodes: readonly NodeProgress[],
  people: People,
): Promise<WireSession> {
  const taken = takenBy(nodes);
  return {
    id: session.id,
    name: session.name,
    email: await people.show(session.emailIdentifier),
    projectId: session.projectId,
    project: presentSessionProject(session.project, await people.find(session.project.owner.externalId)),
    sessionTemplateId: session.sessionTemplateId,
    sessionTemplate: presentTemplateWithNodes({
      ...session.sessionTemplate,
      nodes: session.sessionTemplate.nodes.map((node) => ({
        ...node,
        defaultConfiguration: taken.get(node.name) ?? node.defaultConfiguration,
      })),
    }),
    simulationName: session.simulationName,
    scenarios: session.scenarios.map((scenario) => presentScenario(scenario, session.id)),
    dimensions: session.dimensions.map(presentDimension),
    logoUrl: session.logoUrl,
    userId: session.userId,
    metadata: session.metadata === null ? null : await showAddresses(session.metadata, people),
    sessionUsers: session.users.map((user) => ({
      id: user.id,
      userId: user.identifier,
      createdAt: formatTimestamp(user.createdAt),
    })),
    nodeInstances: nodes.map((node) => ({ ...presentNode(node), configuration: node.configuration })),
    templateChanged: isTemplateChanged(taken, session.sessionTemplate.nodes),
    createdAt: formatTimestamp(session.createdAt),
  };
}

/** What the template said when each node got it. */
const takenBy = (nodes: readonly NodeProgress[]): ReadonlyMap<string, string> =>
  new Map(nodes.map((node) => [node.name, node.templateConfiguration ?? node.configuration]));

/** The same, as the routes of shared sessions answer. */
export async function presentSharedSession(
  session: SessionDetails,
  nodes: readonly NodeProgress[],
  people: People,
): Promise<z.input<typeof sharedSessionSchema>> {
  const { nodeInstances, ...rest } = await presentSession(session, nodes, people);
  return { ...rest, node_instances: nodeInstances };
}

export function presentDimension({
  createdAt,
  ...dimension
}: SessionDimensionRow): WireSession['dimensions'][number] {
  return { ...dimension, url: dashboardUrl(dimension.id), createdAt: formatTimestamp(createdAt) };
}

export function presentScenario(
  scenario: SessionScenarioRow,
  sessionId: string,
): WireSession['scenarios'][number] {
  return {
    simulationId: scenario.simulationId,
    sessionId,
    scenarioName: scenario.scenarioName,
    scenarioInstanceId: scenario.id,
    from: formatTimestampOrNull(scenario.from),
    to: formatTimestampOrNull(scenario.to),
    createdAt: formatTimestamp(scenario.createdAt),
  };
}

export function presentNode(node: NodeProgress): WireProgress['nodeInstances'][number] {
  return {
    id: node.id,
    name: node.name,
    nodeTemplateId: node.nodeTemplateId,
    nodeTemplateName: node.nodeTemplateName,
    state: node.state,
    stateCode: node.stateCode,
    statusDetails: node.statusDetails,
    lastProcessed: formatTimestampOrNull(node.lastProcessed),
    currentOutputId: node.currentOutputId,
    rejectedInputs: node.rejectedInputs,
    parentIds: [...node.parentIds],
  };
}

/** Progress with its summary; `counts` names the states that occur. */
export function presentProgress(sessionId: string, nodes: readonly NodeProgress[]): WireProgress {
  const counts: WireProgress['summary']['counts'] = {};
  for (const { state } of nodes) counts[state] = (counts[state] ?? 0) + 1;
  return {
    sessionId,
    nodeInstances: nodes.map(presentNode),
    summary: {
      total: nodes.length,
      counts,
      allSucceeded: nodes.length > 0 && counts.Succeeded === nodes.length,
      anyFailed: (counts.Failed ?? 0) > 0,
    },
  };
}
