/** The inputs of a node that its runners rejected. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { fileNameOf } from '../../domain/outputs/file-name.ts';
import { failureCategories } from '../../domain/runs/run-plan.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { integerParameter, timestampOut } from '../../http/schemas.ts';
import { listRejectedInputs } from '../../store/runs/rejections.ts';
import { fileNameOut } from '../node-runs/schema.ts';
import { defineRoute } from '../route.ts';
import { nodeInstanceParams } from './schema.ts';

const rejectedInputsSchema = z
  .object({
    rejectedInputs: z.array(
      z.object({
        outputId: z.int().meta({ description: 'The input; a reprocess takes it in `inputs`.' }),
        nodeInstanceId: z.int().meta({ description: 'The node whose output it is.' }),
        nodeName: z.string(),
        outputIdentifier: z.string(),
        fileName: fileNameOut(),
        contentType: z.string().nullable(),
        sizeBytes: z.int(),
        category: z.enum(failureCategories),
        reason: z.string(),
        runId: z.guid().meta({ description: 'The run that rejected it.' }),
        attempt: z.int(),
        rejectedAt: timestampOut(),
      }),
    ),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int(),
  })
  .meta({
    id: 'RejectedInputs',
    example: {
      rejectedInputs: [
        {
          outputId: exampleValues.outputId,
          nodeInstanceId: exampleValues.inputNodeId,
          nodeName: 'tabular-upload',
          outputIdentifier: 'lap-12',
          fileName: 'lap-12.csv',
          contentType: 'text/csv',
          sizeBytes: 39,
          category: 'validation',
          reason: 'line 3: no time',
          runId: '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97',
          attempt: 1,
          rejectedAt: exampleValues.processedAt,
        },
      ],
      page: 1,
      pageSize: 25,
      totalCount: 1,
      totalPages: 1,
    },
  });

export const rejectedInputs = defineRoute({
  id: 'listRejectedInputs',
  method: 'GET',
  path: '/api/v2/node-instance/{nodeInstanceId}/rejected-inputs',
  summary: 'Lists the inputs that a node has rejected, newest first',
  description:
    'An input stays in the list until a later run has consumed it: a reprocess of it, or a run over the upload that ' +
    'replaced its bytes.',
  tags: ['Node outputs'],
  access: access.progressRead,
  params: nodeInstanceParams,
  query: z.object({
    page: integerParameter({ min: 1, initial: 1 }).meta({ description: 'Number of the page, from 1.' }),
    pageSize: integerParameter({
      min: 1,
      max: limits.rejectedInputsPageSizeMax,
      initial: limits.rejectedInputsPageSizeDefault,
    }).meta({ description: 'Inputs on a page.' }),
  }),
  responses: { 200: { description: 'One page.', schema: rejectedInputsSchema } },
  errors: ['nodeInstanceNotFound'],
  refusals: { params: 'nodeInstanceNotFound' },
  async handler({ params, query, services }) {
    const { page, pageSize } = query;
    const found = await listRejectedInputs(services.database, params.nodeInstanceId, {
      number: page,
      size: pageSize,
    });
    if (found === undefined) throw new Problem('nodeInstanceNotFound');
    const { rows, totalCount } = found;
    return {
      status: 200,
      body: {
        rejectedInputs: rows.map(({ metadata, ...row }) => ({
          ...row,
          fileName: fileNameOf(metadata),
          rejectedAt: formatTimestamp(row.rejectedAt),
        })),
        page,
        pageSize,
        totalCount,
        totalPages: Math.ceil(totalCount / pageSize),
      },
    };
  },
});
