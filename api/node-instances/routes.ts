/** Outputs of node instances: upload, list, bytes (contract: Node instances and outputs; decisions 8). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { outputIdentifierForm } from '../../domain/outputs/output-headers.ts';
import { downloadHeaders, redirectable } from '../../http/bodies/download.ts';
import { outputPages } from '../../store/outputs/output-pages.ts';
import {
  findLatestOutput,
  findNamedOutput,
  findOutput,
  type OutputWithSource,
} from '../../store/outputs/outputs.ts';
import { openStoredBytes, sendOutput, storageProblem } from '../output-data.ts';
import { resumed } from '../resumed.ts';
import { defineRoute } from '../route.ts';
import { nodeConfigurationRoutes } from './configuration.ts';
import { downloadAddressRoutes } from './download-addresses.ts';
import { explainNodeInstance } from './explain.ts';
import { isJsonDocument } from './json-document.ts';
import { outputLineage } from './lineage.ts';
import { presentOutput } from './present.ts';
import { rejectedInputs } from './rejected-inputs.ts';
import { reprocessNode } from './reprocess.ts';
import { nodeInstanceParams, nodeOutputParams, nodeOutputSchema } from './schema.ts';
import { listSessionOutputs } from './session-outputs.ts';
import { uploadOutput } from './upload.ts';

const tags = ['Node outputs'] as const;
const params = nodeInstanceParams;

const list = defineRoute({
  id: 'listNodeOutputs',
  method: 'GET',
  path: '/api/v2/node-instance/{nodeInstanceId}/outputs',
  summary: 'Lists the outputs of a node instance in the order of their creation',
  description:
    'A node instance without outputs is 404. The response is streamed and shows ' +
    'the outputs as of its start. With `identifier` it is the one output of that name, or 404.',
  tags,
  access: access.outputRead,
  params,
  query: z.object({
    identifier: z
      .string()
      .regex(outputIdentifierForm, {
        error: 'identifier must be 1 to 100 letters, digits, `.`, `_` or `-`.',
      })
      .optional()
      .meta({ description: 'The whole identifier of an output.', example: 'lap-12' }),
  }),
  responses: { 200: { description: 'The outputs.', items: nodeOutputSchema } },
  errors: ['nodeInstanceOrOutputsNotFound'],
  refusals: { params: 'nodeInstanceOrOutputsNotFound' },
  async handler({ params: { nodeInstanceId }, query: { identifier }, services }) {
    const pages =
      identifier === undefined
        ? outputPages(services.database, nodeInstanceId)
        : pageOf(await findNamedOutput(services.database, nodeInstanceId, identifier));
    const first = await pages.next();
    if (first.done === true) throw new Problem('nodeInstanceOrOutputsNotFound');
    return { status: 200, items: presented(resumed(first, pages)) };
  },
});

async function* pageOf(output: OutputWithSource | undefined) {
  if (output !== undefined) yield [output];
}

async function* presented(pages: AsyncIterable<OutputWithSource[]>) {
  for await (const page of pages) yield page.map(presentOutput);
}

const data = defineRoute({
  id: 'getNodeOutputData',
  method: 'GET',
  path: '/api/v2/node-instance/outputs/{nodeOutputId}/data',
  summary: 'Downloads an output with its stored Content-Type',
  description:
    'The Content-Type is application/octet-stream if none was stored. Bytes stored as gzip are sent unchanged to ' +
    'callers that accept gzip; others get them decoded and without ranges. Browsers save the file instead of opening it.',
  tags,
  access: access.outputRead,
  params: nodeOutputParams,
  ...redirectable,
  headers: downloadHeaders,
  errors: ['nodeOutputNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  refusals: { params: 'nodeOutputNotFound' },
  async handler({ params, query, services, request, signal }) {
    const found = await findOutput(services.database, params.nodeOutputId);
    if (found === undefined) throw new Problem('nodeOutputNotFound');
    return await sendOutput(services, found.dataSource, found.output, { ...request, ...query, signal });
  },
});

const latest = defineRoute({
  id: 'getLatestNodeOutputData',
  method: 'GET',
  path: '/api/v2/node-instance/{nodeInstanceId}/outputs/latest/data',
  summary: 'Downloads the newest output',
  description:
    'Content-Type is application/json when the output is a JSON document of 4 MB or less, else application/octet-stream.',
  tags,
  access: access.outputRead,
  params,
  ...redirectable,
  headers: downloadHeaders,
  errors: ['latestOutputNotFound', 'nodeOutputNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  refusals: { params: 'latestOutputNotFound' },
  async handler({ params, query, services, request, signal }) {
    const found = await findLatestOutput(services.database, params.nodeInstanceId);
    if (found === undefined) throw new Problem('latestOutputNotFound');
    const { output, dataSource } = found;
    const isJson = await isJsonDocument({
      name: `${output.objectKey}@${output.objectOffset ?? 0}+${output.sizeBytes}`,
      sizeBytes: output.sizeBytes,
      contentEncoding: output.contentEncoding,
      open: () => openStoredBytes(services.objects, dataSource, output, null, signal),
    }).catch((error) => {
      throw storageProblem(error, services.log, output.objectKey);
    });
    return await sendOutput(services, dataSource, output, {
      ...request,
      ...query,
      signal,
      contentType: isJson ? 'application/json' : 'application/octet-stream',
    });
  },
});

export const nodeInstanceRoutes = [
  uploadOutput,
  list,
  data,
  latest,
  ...downloadAddressRoutes,
  listSessionOutputs,
  outputLineage,
  reprocessNode,
  rejectedInputs,
  explainNodeInstance,
  ...nodeConfigurationRoutes,
];
