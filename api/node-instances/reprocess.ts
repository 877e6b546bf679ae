/** Reprocessing a node (contract: Node instances and outputs; decisions 7). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { story } from '../../domain/examples.ts';
import { type ReprocessResult, requestReprocess } from '../../store/runs/reprocess.ts';
import { defineRoute } from '../route.ts';
import { nodeInstanceParams } from './schema.ts';

const reprocessSchema = z
  .object({ nodeInstanceId: z.int(), status: z.literal('queued'), message: z.string() })
  .meta({ id: 'Reprocess', example: { nodeInstanceId: story.nodeId, message: 'Reprocessing queued.' } });

const refusals: Readonly<Record<Exclude<ReprocessResult['outcome'], 'queued'>, ProblemKey>> = {
  'node-missing': 'nodeInstanceNotFound',
  frozen: 'sessionFrozen',
  'no-inputs': 'nodeHasNoInputs',
};

export const reprocessNode = defineRoute({
  id: 'reprocessNode',
  method: 'POST',
  path: '/api/v2/node-instance/{nodeInstanceId}/reprocess',
  summary: 'Has a node processed once more',
  description:
    'A node with parents runs again over its latest inputs, or over all of them where its node template says so. The ' +
    'newest output of an Input node is appended once more, with the original named in its metadata as `$copyOf`. ' +
    'Outputs are appended and none is replaced. While the node is in flight, further requests make one run together.',
  tags: ['Node outputs'],
  access: access.reprocess,
  audit: { object: 'nodeInstance', from: 'nodeInstanceId' },
  idempotent: 'plain',
  params: nodeInstanceParams,
  responses: { 202: { description: 'Queued.', schema: reprocessSchema } },
  errors: ['nodeInstanceNotFound', 'sessionFrozen', 'nodeHasNoInputs'],
  refusals: { params: 'nodeInstanceNotFound' },
  async handler({ params, services }) {
    const result = await requestReprocess(services.database, params.nodeInstanceId);
    if (result.outcome !== 'queued') throw new Problem(refusals[result.outcome]);
    return {
      status: 202,
      body: {
        nodeInstanceId: params.nodeInstanceId,
        status: 'queued' as const,
        message: 'Reprocessing queued.',
      },
    };
  },
});
