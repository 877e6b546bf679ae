/** Reprocessing a node (contract: Node instances and outputs; decisions 7). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { bodyId } from '../../http/schemas.ts';
import { type ReprocessResult, requestReprocess } from '../../store/runs/reprocess.ts';
import { defineRoute } from '../route.ts';
import { nodeInstanceParams } from './schema.ts';

const reprocessSchema = z
  .object({ nodeInstanceId: z.int(), status: z.literal('queued'), message: z.string() })
  .meta({
    id: 'Reprocess',
    example: { nodeInstanceId: exampleValues.nodeId, message: 'Reprocessing queued.' },
  });

const reprocessRequestSchema = z
  .object({
    inputs: z.array(bodyId()).min(1).max(limits.reprocessInputs).nullish().meta({
      description: 'Outputs of the parents: the run gets these alone, in every mode. Absent: as described.',
    }),
  })
  .prefault({})
  .meta({ id: 'ReprocessRequest', example: { inputs: [exampleValues.outputId] } });

const refusals: Readonly<Record<Exclude<ReprocessResult['outcome'], 'queued'>, ProblemKey>> = {
  'node-missing': 'nodeInstanceNotFound',
  frozen: 'sessionFrozen',
  'no-inputs': 'nodeHasNoInputs',
  'unknown-input': 'reprocessInputUnknown',
};

export const reprocessNode = defineRoute({
  id: 'reprocessNode',
  method: 'POST',
  path: '/api/v2/node-instance/{nodeInstanceId}/reprocess',
  summary: 'Reprocesses a node',
  description:
    'A node with parents runs again over its latest inputs, or over all inputs if its node template says so. The ' +
    'newest output of an Input node is appended again; its metadata names the original as `$copyOf`. ' +
    'No output is replaced. While a run of the node is in progress, further requests are joined into one run. ' +
    'With `inputs` a node with parents runs over these inputs only: no other input is consumed, and the watermark of ' +
    'the node does not move. Such requests are joined into one run too, after the other reprocess.',
  tags: ['Node outputs'],
  access: access.reprocess,
  audit: { object: 'nodeInstance', from: 'nodeInstanceId' },
  idempotent: 'plain',
  params: nodeInstanceParams,
  body: reprocessRequestSchema,
  responses: { 202: { description: 'Queued.', schema: reprocessSchema } },
  errors: ['nodeInstanceNotFound', 'sessionFrozen', 'nodeHasNoInputs', 'reprocessInputUnknown'],
  refusals: { params: 'nodeInstanceNotFound' },
  async handler({ params, body, services }) {
    const result = await requestReprocess(services.database, params.nodeInstanceId, body.inputs ?? null);
    if (result.outcome === 'unknown-input') {
      const message = `Output ${result.outputId} is not an input of the node.`;
      throw new Problem('reprocessInputUnknown', { message });
    }
    if (result.outcome !== 'queued') throw new Problem(refusals[result.outcome]);
    return {
      status: 202,
      body: {
        nodeInstanceId: params.nodeInstanceId,
        status: 'queued' as const,
        message: messageOf(result.expiredInputs),
      },
    };
  },
});

function messageOf(expiredInputs: number | undefined): string {
  if (!expiredInputs) return 'Reprocessing queued.';
  return `Reprocessing queued. It goes without the inputs that retention has removed: ${expiredInputs}.`;
}
