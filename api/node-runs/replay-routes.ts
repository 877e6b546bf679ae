/** What an attempt of a run got, to run it again elsewhere. Nothing is changed by it. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { downloadHeaders, redirectable } from '../../http/bodies/download.ts';
import { jsonObjectOut } from '../../http/schemas.ts';
import { boundsOfRun, findReplay, type Replay } from '../../store/run-views/run-details.ts';
import { findNodeRun } from '../../store/runs/node-runs.ts';
import { defineRoute } from '../route.ts';
import { inputSchema } from '../runner/input-schema.ts';
import { inputIdParameter, serveInput } from '../runner/inputs.ts';
import { presentInput, presentTask } from '../runner/present.ts';
import { claimSchema } from '../runner/schema.ts';
import type { Services } from '../services.ts';
import { attemptParameter } from './log-routes.ts';
import { runsPath } from './run-routes.ts';
import { inputsRemovedOut, runParams } from './schema.ts';

const outputIds = (description: string) => z.array(z.int()).meta({ description });

const replaySchema = claimSchema
  .extend({
    inputs: z.array(inputSchema).meta({
      description:
        `As that run sees them, oldest first. Of more than ${limits.nodeRunFilesMax} those since the watermark, ` +
        'the latest, and the oldest of the others.',
    }),
    modes: z
      .object({
        'since-watermark': outputIds('As `since-watermark` listed them for the task.'),
        latest: outputIds('As `latest` listed them for the task.'),
        all: outputIds('As `all` listed them for the task.'),
      })
      .meta({ description: 'The output ids of the inputs, by the mode in which a runner lists them.' }),
    inputsTruncated: z.boolean(),
    inputsRemoved: inputsRemovedOut(),
    state: jsonObjectOut()
      .nullable()
      .meta({ description: 'The state of the node, as it stood at the claim.' }),
    previousOutput: inputSchema
      .nullable()
      .meta({ description: 'The newest output of the node, as it stood at the claim.' }),
  })
  .meta({
    id: 'NodeRunReplay',
    example: {
      ...(z.globalRegistry.get(claimSchema)?.example as object),
      modes: { 'since-watermark': [], latest: [], all: [] },
      inputs: [],
      inputsTruncated: false,
      inputsRemoved: 0,
      state: null,
      previousOutput: null,
    },
  });

const replay = defineRoute({
  id: 'replayNodeRun',
  method: 'GET',
  path: `${runsPath}/{runId}/replay`,
  summary: 'Returns the task of an attempt as its claim answered it, with inputs, state and watermark',
  description:
    'For a runner that does the same work again without the platform. The task is not held: calls for it are 404. Inputs ' +
    'whose bytes were replaced since are listed as the run saw them while that version is kept: as long as the run is ' +
    `open, and ${limits.failedRunInputsKeptDays} days after it failed or was cancelled.`,
  tags: ['Runs'],
  access: access.runReplay,
  params: runParams,
  query: z.object({
    attempt: attemptParameter.meta({ description: 'Default: the last one that was claimed.', example: 1 }),
  }),
  responses: { 200: { description: 'The task.', schema: replaySchema } },
  errors: ['nodeRunNotFound', 'nodeRunNotClaimed'],
  refusals: { params: 'nodeRunNotFound' },
  async handler({ params, query, services }) {
    const { INCREMENTAL_MAX_INPUTS: maxInputsPerTask } = services.settings;
    const found = await findReplay(services.database, params.runId, query.attempt, maxInputsPerTask);
    if (found === undefined) throw await whyNoReplay(services, params.runId);
    return { status: 200, body: presentReplay(found, maxInputsPerTask) };
  },
});

function presentReplay(found: Replay, maxInputsPerTask: number): z.input<typeof replaySchema> {
  const { task, inputs, modes, isCut, inputsRemoved, state, previousOutput } = found;
  return {
    ...presentTask(task, maxInputsPerTask, null),
    inputs: inputs.map(presentInput),
    modes: {
      'since-watermark': [...modes['since-watermark']],
      latest: [...modes.latest],
      all: [...modes.all],
    },
    inputsTruncated: isCut,
    inputsRemoved,
    state,
    previousOutput: previousOutput === undefined ? null : presentInput(previousOutput),
  };
}

async function whyNoReplay({ database }: Services, runId: string): Promise<Problem> {
  const run = await findNodeRun(database, runId);
  return new Problem(run === undefined ? 'nodeRunNotFound' : 'nodeRunNotClaimed');
}

const replayData = defineRoute({
  id: 'replayNodeRunInput',
  method: 'GET',
  path: `${runsPath}/{runId}/replay/inputs/{outputId}/data`,
  summary: 'Downloads one of these inputs, as the run sees it',
  description: 'Also after a newer version has come, while the older is kept.',
  tags: ['Runs'],
  access: access.runReplay,
  params: runParams.extend({ outputId: inputIdParameter }),
  ...redirectable,
  headers: downloadHeaders,
  errors: ['nodeRunNotFound', 'nodeRunNotClaimed', 'inputNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  refusals: { params: 'nodeRunNotFound' },
  async handler({ params, query, services, request, signal }) {
    const bounds = await boundsOfRun(services.database, params.runId);
    if (bounds === undefined) throw await whyNoReplay(services, params.runId);
    const options = { ...request, ...query, signal };
    const { reply } = await serveInput(services, bounds, params.outputId, options);
    return reply;
  },
});

export const replayRoutes = [replay, replayData];
