/** Runs for operators: finding those that failed for good, retrying and cancelling them. */
import { access } from '../../domain/access/access.ts';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { findNodeRun, listNodeRuns } from '../../store/runs/node-runs.ts';
import {
  type CancelResult,
  cancelRun,
  type RetryResult,
  retryFailedRuns,
  retryRun,
} from '../../store/runs/operate-runs.ts';
import { defineRoute } from '../route.ts';
import { sessionParams } from '../sessions/schema.ts';
import { presentNodeRun, presentRunPage } from './present.ts';
import { nodeRunListQuerySchema } from './query-schema.ts';
import { nodeRunListSchema, nodeRunParams, nodeRunSchema, retriedSchema } from './schema.ts';

const tags = ['Runs'] as const;
const path = '/api/v2/admin/node-runs';

const list = defineRoute({
  id: 'listNodeRuns',
  method: 'GET',
  path,
  summary: 'Lists runs of nodes with their attempts, newest first',
  description:
    'A run is one execution of a node instance, with all of its attempts. `state=failed,cancelled` finds the runs that ' +
    'wait for an operator; `retryable` shows which of them can be retried.',
  tags,
  access: access.admin,
  query: nodeRunListQuerySchema,
  responses: { 200: { description: 'One page.', schema: nodeRunListSchema } },
  async handler({ services, query }) {
    const { page, pageSize, state: states = [], ...filter } = query;
    const found = await listNodeRuns(
      services.database,
      { ...filter, states },
      { number: page, size: pageSize },
    );
    return { status: 200, body: presentRunPage(found, page, pageSize) };
  },
});

const one = defineRoute({
  id: 'getNodeRun',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Returns a run with its attempts',
  description: 'As in the list. `retryable` shows whether it can be retried.',
  tags,
  access: access.admin,
  params: nodeRunParams,
  responses: { 200: { description: 'The run.', schema: nodeRunSchema } },
  errors: ['nodeRunNotFound'],
  refusals: { params: 'nodeRunNotFound' },
  async handler({ services, params }) {
    const run = await findNodeRun(services.database, params.id);
    if (run === undefined) throw new Problem('nodeRunNotFound');
    return { status: 200, body: presentNodeRun(run) };
  },
});

type RetryRefusal = Exclude<RetryResult['outcome'], 'queued' | 'unchanged' | 'invalid-configuration'>;
const retryRefusals: Readonly<Record<RetryRefusal, ProblemKey>> = {
  missing: 'nodeRunNotFound',
  frozen: 'sessionFrozen',
  open: 'nodeRunOpen',
  'not-failed': 'nodeRunNotFailed',
  superseded: 'nodeRunSuperseded',
};

const retry = defineRoute({
  id: 'retryNodeRun',
  method: 'POST',
  path: `${path}/{id}/retry`,
  summary: 'Retries a failed or cancelled run',
  description:
    'The same run gets as many further attempts as its node template allows, the first at once. It keeps its ' +
    'inputs: the upper bound stays, an incremental node continues at its watermark, and a reprocess at its own ' +
    'position. Refused while the run is open, when a later run of the node has replaced it, in a frozen session, and ' +
    "when the node's configuration does not match the schema of its template. A repeat changes nothing: 200.",
  tags,
  access: access.admin,
  audit: { object: 'nodeRun', from: 'id' },
  params: nodeRunParams,
  responses: {
    202: { description: 'Queued.', schema: nodeRunSchema },
    200: { description: 'It was retried before and is still open.', schema: nodeRunSchema },
  },
  errors: [...Object.values(retryRefusals), 'nodeConfigurationRefused'],
  refusals: { params: 'nodeRunNotFound' },
  async handler({ services, params, principal, log }) {
    const result = await retryRun(services.database, params.id, principal.userId);
    if (result.outcome === 'invalid-configuration') {
      throw new Problem('nodeConfigurationRefused', { message: result.fault });
    }
    if (!('run' in result)) throw new Problem(retryRefusals[result.outcome]);
    const body = presentNodeRun(result.run);
    if (result.outcome === 'unchanged') return { status: 200, body };
    log.info(
      { audit: 'retryNodeRun', userId: principal.userId, nodeRunId: body.id, sessionId: body.sessionId },
      'run retried',
    );
    return { status: 202, body };
  },
});

const cancelRefusals: Readonly<
  Record<Exclude<CancelResult['outcome'], 'ended' | 'requested' | 'unchanged'>, ProblemKey>
> = {
  missing: 'nodeRunNotFound',
  'ended-otherwise': 'nodeRunEnded',
};

const cancel = defineRoute({
  id: 'cancelNodeRun',
  method: 'POST',
  path: `${path}/{id}/cancel`,
  summary: 'Cancels an open run',
  description:
    'A queued or waiting run ends at once: its node is Failed with statusDetails `cancelled`, the outputs staged ' +
    'since the last move of its watermark are dropped, and its inputs count as consumed. The holder of a held run ' +
    'gets `cancelRequested` in its next heartbeat. The run ends the same way whatever the holder reports, ' +
    `at the latest one lease and ${limits.cancelGraceSeconds} seconds after the cancel, even if the holder keeps sending heartbeats.`,
  tags,
  access: access.admin,
  audit: { object: 'nodeRun', from: 'id' },
  params: nodeRunParams,
  responses: {
    200: { description: 'The run is cancelled.', schema: nodeRunSchema },
    202: { description: 'The cancel is requested from its holder.', schema: nodeRunSchema },
  },
  errors: Object.values(cancelRefusals),
  refusals: { params: 'nodeRunNotFound' },
  async handler({ services, params, principal, log }) {
    const result = await cancelRun(services.database, params.id, principal.userId);
    if (!('run' in result)) throw new Problem(cancelRefusals[result.outcome]);
    const body = presentNodeRun(result.run);
    if (result.outcome === 'unchanged') return { status: 200, body };
    log.info(
      { audit: 'cancelNodeRun', userId: principal.userId, nodeRunId: body.id, sessionId: body.sessionId },
      'run cancelled',
    );
    return { status: result.outcome === 'requested' ? 202 : 200, body };
  },
});

const retryFailed = defineRoute({
  id: 'retryFailedNodeRuns',
  method: 'POST',
  path: '/api/v2/admin/sessions/{id}/retry-failed',
  summary: 'Retries the runs of all failed nodes of a session',
  description:
    'As for one run, in one step for every node instance that is Failed, cancelled ones included. Nodes whose configuration ' +
    'does not match the schema of their template are skipped. `retried` is 0 when there was none.',
  tags,
  access: access.admin,
  audit: { object: 'session', from: 'id' },
  params: sessionParams,
  responses: { 202: { description: 'Queued.', schema: retriedSchema } },
  errors: ['sessionNotFound', 'sessionFrozen'],
  refusals: { params: 'sessionNotFound' },
  async handler({ services, params, principal, log }) {
    const result = await retryFailedRuns(services.database, params.id, principal.userId);
    if (result.outcome !== 'done') {
      throw new Problem(result.outcome === 'frozen' ? 'sessionFrozen' : 'sessionNotFound');
    }
    const { retried } = result;
    log.info(
      { audit: 'retryFailedNodeRuns', userId: principal.userId, sessionId: params.id, retried },
      'failed runs of a session retried',
    );
    return { status: 202, body: { sessionId: params.id, retried } };
  },
});

export const nodeRunRoutes = [list, one, retry, cancel, retryFailed];
