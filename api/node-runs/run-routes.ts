/** Runs of nodes: what ran, who ran it, and over which inputs. */
import type { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { fileNameOf } from '../../domain/outputs/file-name.ts';
import { configurationOf } from '../../domain/templates/node-configuration.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { inTimeOrder } from '../../http/schemas.ts';
import { findNodeRuns } from '../../store/run-views/find-runs.ts';
import { findRunDetails, type RunDetails } from '../../store/run-views/run-details.ts';
import { type People, peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { presentNodeRun, presentRunPage } from './present.ts';
import { runSearchSchema } from './query-schema.ts';
import { nodeRunListSchema, runDetailsSchema, runParams } from './schema.ts';

const tags = ['Runs'] as const;
export const runsPath = '/api/v2/node-runs';

const search = defineRoute({
  id: 'searchNodeRuns',
  method: 'GET',
  path: runsPath,
  summary: 'Lists runs of nodes in any state, newest first',
  description:
    'By session, node instance, node template, project, state and time. `totalCount` counts no further than ' +
    `${limits.nodeRunsCounted}.`,
  tags,
  access: access.runRead,
  query: inTimeOrder(runSearchSchema),
  responses: { 200: { description: 'One page.', schema: nodeRunListSchema } },
  async handler({ services, query }) {
    const { page, pageSize, state: states = [], template: nodeTemplate, ...wanted } = query;
    const found = await findNodeRuns(
      services.database,
      { ...wanted, nodeTemplate, states },
      { number: page, size: pageSize },
    );
    return { status: 200, body: presentRunPage(found, page, pageSize) };
  },
});

const details = defineRoute({
  id: 'readNodeRun',
  method: 'GET',
  path: `${runsPath}/{runId}`,
  summary:
    'Returns a run: its attempts and who held them, inputs, configuration, outputs, and who acted on it',
  description: 'Its log: `GET /api/v2/node-runs/{runId}/logs`.',
  tags,
  access: access.runRead,
  params: runParams,
  responses: { 200: { description: 'The run.', schema: runDetailsSchema } },
  errors: ['nodeRunNotFound'],
  refusals: { params: 'nodeRunNotFound' },
  async handler(context) {
    const found = await findRunDetails(context.services.database, context.params.runId);
    if (found === undefined) throw new Problem('nodeRunNotFound');
    return { status: 200, body: await presentDetails(found, peopleOf(context)) };
  },
});

async function presentDetails(found: RunDetails, people: People): Promise<z.input<typeof runDetailsSchema>> {
  await people.prefetch(found.actions.map(({ userId }) => userId));
  return {
    ...presentNodeRun(found.run),
    configuration: configurationOf(found.configuration),
    configurationRevision: found.configurationRevision,
    inputs: found.inputs.map((input) => ({
      outputId: input.outputId,
      version: input.position,
      nodeInstanceId: input.nodeInstanceId,
      nodeName: input.nodeName,
      outputIdentifier: input.outputIdentifier,
      fileName: fileNameOf(input.metadata),
      contentType: input.contentType,
      sizeBytes: input.sizeBytes,
      sha256: input.sha256,
      createdAt: formatTimestamp(input.createdAt),
    })),
    inputsRemoved: found.inputsRemoved,
    outputs: found.outputs.map(({ isPublished, createdAt, metadata, ...output }) => ({
      ...output,
      fileName: fileNameOf(metadata),
      published: isPublished,
      createdAt: formatTimestamp(createdAt),
    })),
    actions: await Promise.all(
      found.actions.map(async ({ at, ...action }) => ({
        ...action,
        at: formatTimestamp(at),
        name: await people.nameOf(action.userId),
      })),
    ),
  };
}

export const runRoutes = [search, details];
