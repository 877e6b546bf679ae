/** Why a node is not running: one sentence, and the facts behind it. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { concurrencyKinds, concurrencyScopes } from '../../domain/runners/concurrency.ts';
import { explained, explainNode } from '../../domain/runs/explain.ts';
import { visibleNodeStates } from '../../domain/runs/node-state.ts';
import { openRunStates } from '../../domain/runs/run-plan.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import { timestampOut } from '../../http/schemas.ts';
import { type ExplainedNode, readExplainFacts } from '../../store/run-views/explain.ts';
import { presentProgress } from '../node-runs/present.ts';
import { runProgressSchema } from '../node-runs/schema.ts';
import { defineRoute } from '../route.ts';
import { nodeInstanceParams } from './schema.ts';

const explanationSchema = z
  .object({
    nodeInstanceId: z.int(),
    nodeName: z.string(),
    nodeTemplate: z.string(),
    sessionId: z.guid(),
    state: z.enum(visibleNodeStates),
    why: z.enum(explained).meta({ description: 'Stable code; more may be added.' }),
    sentence: z.string().meta({ description: 'A readable sentence.' }),
    facts: z.object({
      statusDetails: z.string(),
      lastProcessed: timestampOut().nullable(),
      frozenAt: timestampOut().nullable(),
      queuedUploads: z.int().meta({ description: 'Acknowledged with 202 and not published yet.' }),
      parents: z.array(
        z.object({
          nodeInstanceId: z.int(),
          name: z.string(),
          state: z.enum(visibleNodeStates),
          hasOutput: z.boolean(),
          isNews: z
            .boolean()
            .meta({ description: 'It has published outputs that the node has not consumed.' }),
        }),
      ),
      openRun: z
        .object({
          id: z.guid(),
          state: z.enum(openRunStates),
          reason: z.string(),
          attempt: z.int(),
          maxAttempts: z.int(),
          queuedAt: timestampOut(),
          dueAt: timestampOut().nullable(),
          cancelRequested: z.boolean(),
          tasksAhead: z.int().meta({ description: 'Runs of the same node template; counted to 1,000.' }),
        })
        .nullable(),
      heldBy: z
        .object({
          instanceId: z.string(),
          leaseExpiresAt: timestampOut(),
          progress: runProgressSchema.meta({ description: 'As the last heartbeat reported it.' }),
          pendingInputs: z.int().nullable().meta({
            description: 'Above the watermark when it was claimed; null unless the node is incremental.',
          }),
        })
        .nullable(),
      lastRun: z
        .object({
          id: z.guid(),
          outcome: z.string(),
          statusDetails: z.string(),
          attempt: z.int(),
          maxAttempts: z.int(),
          endedAt: timestampOut().nullable(),
        })
        .nullable(),
      runners: z
        .object({
          runnerType: z.string(),
          lastSeenAt: timestampOut().nullable(),
          recent: z.int().meta({ description: 'Present instances that claim tasks of this node template.' }),
          recentBusy: z.int().meta({ description: 'Present instances that are not drained.' }),
          recentDrained: z.int(),
        })
        .nullable()
        .meta({ description: "Null when the platform's own workers run the node." }),
      fullLimits: z
        .array(
          z.object({
            kind: z.enum(concurrencyKinds),
            name: z.string(),
            scope: z.enum(concurrencyScopes),
            max: z.int(),
            held: z.int(),
          }),
        )
        .meta({ description: 'Limits of what is held at once that leave no place for its queued run.' }),
      rejectedInputs: z.int().meta({ description: 'Inputs that its runners rejected; see their list.' }),
    }),
  })
  .meta({
    id: 'NodeExplanation',
    example: {
      nodeInstanceId: exampleValues.nodeId,
      nodeName: 'lap-splitter',
      nodeTemplate: 'lap-splitter',
      sessionId: exampleValues.sessionId,
      state: 'Pending',
      why: 'no-runner',
      sentence: 'A task is queued, and no runner of the type lap-tools was seen within 10 minutes.',
      facts: {
        statusDetails: '',
        lastProcessed: null,
        frozenAt: null,
        queuedUploads: 0,
        parents: [
          {
            nodeInstanceId: exampleValues.inputNodeId,
            name: 'tabular-upload',
            state: 'Succeeded',
            hasOutput: true,
            isNews: true,
          },
        ],
        openRun: {
          id: '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97',
          state: 'queued',
          reason: 'input',
          attempt: 1,
          maxAttempts: 3,
          queuedAt: exampleValues.processedAt,
          dueAt: null,
          cancelRequested: false,
          tasksAhead: 0,
        },
        heldBy: null,
        lastRun: null,
        runners: {
          runnerType: 'lap-tools',
          lastSeenAt: null,
          recent: 0,
          recentBusy: 0,
          recentDrained: 0,
        },
        fullLimits: [],
        rejectedInputs: 0,
      },
    },
  });

export const explainNodeInstance = defineRoute({
  id: 'explainNodeInstance',
  method: 'GET',
  path: '/api/v2/node-instance/{nodeInstanceId}/explain',
  summary: 'Explains why a node is not running',
  description: 'One readable sentence, and the facts behind it.',
  tags: ['Node outputs'],
  access: access.progressRead,
  params: nodeInstanceParams,
  responses: { 200: { description: 'The explanation.', schema: explanationSchema } },
  errors: ['nodeInstanceNotFound'],
  refusals: { params: 'nodeInstanceNotFound' },
  async handler({ params, services }) {
    const node = await readExplainFacts(services.database, params.nodeInstanceId);
    if (node === undefined) throw new Problem('nodeInstanceNotFound');
    return { status: 200, body: present(node) };
  },
});

function presentRunners(runners: ExplainedNode['runners']) {
  if (runners === null) return null;
  const { ofType: _ofType, ...shown } = runners;
  return { ...shown, lastSeenAt: formatTimestampOrNull(runners.lastSeenAt) };
}

function present(node: ExplainedNode): z.input<typeof explanationSchema> {
  const { nodeInstanceId, nodeName, nodeTemplate, sessionId, state, openRun, heldBy, lastRun, runners } =
    node;
  return {
    nodeInstanceId,
    nodeName,
    nodeTemplate,
    sessionId,
    state,
    ...explainNode(node),
    facts: {
      statusDetails: node.statusDetails,
      lastProcessed: formatTimestampOrNull(node.lastProcessed),
      frozenAt: formatTimestampOrNull(node.frozenAt),
      queuedUploads: node.queuedUploads,
      parents: [...node.parents],
      openRun: openRun && {
        ...openRun,
        queuedAt: formatTimestamp(openRun.queuedAt),
        dueAt: formatTimestampOrNull(openRun.dueAt),
      },
      heldBy: heldBy && {
        instanceId: heldBy.instanceId,
        leaseExpiresAt: formatTimestamp(heldBy.leaseExpiresAt),
        progress: presentProgress(heldBy.progress),
        pendingInputs: heldBy.pendingInputs,
      },
      lastRun: lastRun && { ...lastRun, endedAt: formatTimestampOrNull(lastRun.endedAt) },
      runners: presentRunners(runners),
      fullLimits: [...node.fullLimits],
      rejectedInputs: node.rejectedInputs,
    },
  };
}
