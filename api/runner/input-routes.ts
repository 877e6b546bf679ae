/** What the holder of a task reads (contract: Runner routes; decisions 9). */
import { downloadHeaders, redirectable } from '../../http/bodies/download.ts';
import type { HeldTask } from '../../store/runners/lease.ts';
import { countPendingOfTask, readNodeMemory } from '../../store/runs/task-inputs.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { callerOf, heldTask, taskRoute } from './identity.ts';
import { inputsQuerySchema, inputsSchema, stateSchema } from './input-schema.ts';
import { inputIdParameter, inputPage, serveInput } from './inputs.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { presentIncremental, presentInput } from './present.ts';

/** Smaller replies are sent long before a lease could end. */
const keepLeaseFromBytes = 1024 * 1024;

async function incrementalOf(services: Services, task: HeldTask) {
  const pendingInputs = await countPendingOfTask(services.database, task);
  return presentIncremental(task, pendingInputs, services.settings.INCREMENTAL_MAX_INPUTS);
}

const inputs = defineRoute({
  ...taskRoute,
  id: 'listTaskInputs',
  method: 'GET',
  path: '/api/v2/runner/tasks/{taskId}/inputs',
  summary: 'Lists the task’s inputs, oldest first',
  description:
    'The first claim of the run sets the upper bound of all modes; later inputs belong to the next run.',
  query: inputsQuerySchema,
  responses: { 200: { description: 'The page.', schema: inputsSchema } },
  async handler(context) {
    const { query, services } = context;
    const task = await heldTask(services, callerOf(context));
    const [page, incremental] = await Promise.all([
      inputPage(services, task, query),
      incrementalOf(services, task),
    ]);
    return { status: 200, body: { ...page, incremental } };
  },
});

const inputData = defineRoute({
  ...taskRoute,
  id: 'getTaskInputData',
  method: 'GET',
  path: '/api/v2/runner/tasks/{taskId}/inputs/{outputId}/data',
  summary: 'Downloads an input, as of the first claim of the run',
  description:
    'Bytes stored as gzip are sent unchanged to callers that accept gzip; others get them decoded and without ' +
    'ranges. The transfer renews the lease; one from the store, after a 307, does not.',
  params: taskRoute.params.extend({ outputId: inputIdParameter }),
  ...redirectable,
  headers: taskRoute.headers.extend(downloadHeaders.shape),
  errors: ['inputNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  async handler(context) {
    const { params, query, services, request, signal } = context;
    const caller = callerOf(context);
    const task = await heldTask(services, caller);
    const options = { ...request, ...query, signal };
    const { reply, sizeBytes } = await serveInput(services, task, params.outputId, options);
    if (!('stream' in reply) || typeof reply.stream === 'function') return reply;
    if (sizeBytes < keepLeaseFromBytes) return reply;
    const keeper = new LeaseKeeper(services.database, caller);
    return { ...reply, stream: keeper.watch(reply.stream) };
  },
});

const state = defineRoute({
  ...taskRoute,
  id: 'getTaskState',
  method: 'GET',
  path: '/api/v2/runner/tasks/{taskId}/state',
  summary: 'Returns the node’s previous output and its incremental state',
  description: 'The state that an earlier task of the node stored for later ones.',
  responses: { 200: { description: "The node's state between its runs.", schema: stateSchema } },
  async handler(context) {
    const { services } = context;
    const task = await heldTask(services, callerOf(context));
    const [memory, incremental] = await Promise.all([
      readNodeMemory(services.database, task),
      incrementalOf(services, task),
    ]);
    const { newestOutput } = memory;
    return {
      status: 200,
      body: {
        previousOutput: newestOutput === undefined ? null : presentInput(newestOutput),
        state: memory.state,
        incremental,
      },
    };
  },
});

export const inputRoutes = [inputs, inputData, state];
