/** Shows a node as its next task would see it; nothing is claimed, renewed or written (contract: Runner routes). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { downloadHeaders, redirectable } from '../../http/bodies/download.ts';
import { pathId } from '../../http/schemas.ts';
import { type DebugNode, findDebugNode } from '../../store/run-views/debug-node.ts';
import { countPendingInputs } from '../../store/runs/task-inputs.ts';
import { defineRoute } from '../route.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import type { Services } from '../services.ts';
import type { RunnerCaller } from './identity.ts';
import { inputsQuerySchema, inputsSchema } from './input-schema.ts';
import { inputIdParameter, inputPage, serveInput } from './inputs.ts';
import { presentDebugContext, presentIncremental } from './present.ts';
import { debugContextSchema } from './schema.ts';

const params = z.object({
  nodeInstanceId: pathId().meta({
    description: 'A node instance of any session.',
    example: runnerExampleValues.nodeId,
  }),
});
const debugRoute = {
  tags: ['Runner'],
  access: access.runnerDebug,
  errorStyle: 'coded',
  refusals: { params: 'nodeNotFound' },
} as const;
const path = '/api/v2/runner/debug/nodes/{nodeInstanceId}';
const whoSees =
  'A runner token sees nodes of its own runner types, an account every node; others are 404. It changes nothing.';

/** The node, for a caller who may see it: accounts see every node, tokens those of their runner types. */
async function visibleNode(
  services: Services,
  caller: RunnerCaller,
  nodeInstanceId: number,
): Promise<DebugNode> {
  const node = await findDebugNode(services.database, nodeInstanceId);
  const isVisible =
    node !== undefined && (caller.kind !== 'runner' || caller.runnerTypes.includes(node.runnerType));
  if (!isVisible) throw new Problem('nodeNotFound');
  return node;
}

async function incrementalOf(services: Services, node: DebugNode) {
  const pendingInputs = await countPendingInputs(services.database, node);
  return presentIncremental(node, pendingInputs, services.settings.INCREMENTAL_MAX_INPUTS);
}

/** A node without a run shows the inputs that new input would bring. */
const boundsOf = (node: DebugNode) => ({ ...node, reason: node.reason ?? ('input' as const) });

const context = defineRoute({
  ...debugRoute,
  id: 'debugNodeContext',
  method: 'GET',
  path: `${path}/context`,
  summary: 'Returns what a task for the node would receive, and whether one is ready',
  description:
    'The body of a claim without task, attempt and lease, with `runId` and `reason` of the open or due run, ' +
    `if any. ${whoSees}`,
  params,
  responses: { 200: { description: 'The context.', schema: debugContextSchema } },
  async handler({ params, principal, services }) {
    const node = await visibleNode(services, principal, params.nodeInstanceId);
    return { status: 200, body: presentDebugContext(node, await incrementalOf(services, node)) };
  },
});

const inputs = defineRoute({
  ...debugRoute,
  id: 'debugNodeInputs',
  method: 'GET',
  path: `${path}/inputs`,
  summary: 'Lists the inputs that a task for the node would have, oldest first',
  description: whoSees,
  params,
  query: inputsQuerySchema,
  responses: { 200: { description: 'The page.', schema: inputsSchema } },
  async handler({ params, query, principal, services }) {
    const node = await visibleNode(services, principal, params.nodeInstanceId);
    const [page, incremental] = await Promise.all([
      inputPage(services, boundsOf(node), query),
      incrementalOf(services, node),
    ]);
    return { status: 200, body: { ...page, incremental } };
  },
});

const inputData = defineRoute({
  ...debugRoute,
  id: 'debugNodeInputData',
  method: 'GET',
  path: `${path}/inputs/{outputId}/data`,
  summary: 'Downloads one of these inputs',
  description: whoSees,
  params: params.extend({ outputId: inputIdParameter }),
  ...redirectable,
  headers: downloadHeaders,
  errors: ['inputNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  async handler({ params, query, principal, services, request, signal }) {
    const node = await visibleNode(services, principal, params.nodeInstanceId);
    const options = { ...request, ...query, signal };
    const { reply } = await serveInput(services, boundsOf(node), params.outputId, options);
    return reply;
  },
});

export const debugRoutes = [context, inputs, inputData];
