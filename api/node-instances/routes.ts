/** Outputs of node instances: upload, list, bytes (contract: Node instances and outputs; decisions 8). */
import { z } from 'zod';
import { access } from '../../domain/access.ts';
import { Problem } from '../../domain/errors.ts';
import { downloadHeaders, downloadResponses } from '../../http/download.ts';
import { findLatestOutput, findOutput, listOutputs } from '../../store/outputs.ts';
import { defineRoute } from '../route.ts';
import { explainNodeInstance } from './explain.ts';
import { isJsonDocument } from './json-document.ts';
import { outputLineage } from './lineage.ts';
import { openStoredBytes, serveOutput, storageProblem } from './output-data.ts';
import { presentOutput } from './present.ts';
import { reprocessNode } from './reprocess.ts';
import { nodeInstanceParams, nodeOutputParams, nodeOutputSchema } from './schema.ts';
import { uploadOutput } from './upload.ts';

const tags = ['Node outputs'] as const;
const params = nodeInstanceParams;

const list = defineRoute({
  id: 'listNodeOutputs',
  method: 'GET',
  path: '/api/v2/node-instance/{nodeInstanceId}/outputs',
  summary: 'Outputs of a node instance in the order of their creation',
  description: 'A node instance without outputs is answered with 404.',
  tags,
  access: access.outputRead,
  params,
  responses: { 200: { description: 'The outputs.', schema: z.array(nodeOutputSchema) } },
  errors: ['nodeInstanceOrOutputsNotFound'],
  refusals: { params: 'nodeInstanceOrOutputsNotFound' },
  async handler({ params, services }) {
    const outputs = await listOutputs(services.database, params.nodeInstanceId);
    if (outputs.length === 0) throw new Problem('nodeInstanceOrOutputsNotFound');
    return { status: 200, body: outputs.map(presentOutput) };
  },
});

const data = defineRoute({
  id: 'getNodeOutputData',
  method: 'GET',
  path: '/api/v2/node-instance/outputs/{nodeOutputId}/data',
  summary: 'Bytes of an output with its stored Content-Type',
  description:
    'As application/octet-stream where no Content-Type was stored. Bytes that were stored as gzip go out as they are to ' +
    'callers that accept it, and decoded and without ranges to others. Browsers are told to save them, not to run them.',
  tags,
  access: access.outputRead,
  params: nodeOutputParams,
  headers: downloadHeaders,
  responses: downloadResponses,
  errors: ['nodeOutputNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  refusals: { params: 'nodeOutputNotFound' },
  async handler({ params, services, request, signal }) {
    const found = await findOutput(services.database, params.nodeOutputId);
    if (found === undefined) throw new Problem('nodeOutputNotFound');
    const { method, headers } = request;
    return await serveOutput(services.objects, found.dataSource, found.output, { method, headers, signal });
  },
});

const latest = defineRoute({
  id: 'getLatestNodeOutputData',
  method: 'GET',
  path: '/api/v2/node-instance/{nodeInstanceId}/outputs/latest/data',
  summary: 'Bytes of the newest output',
  description:
    'Content-Type is application/json when the output is a JSON document of 4 MB or less, else application/octet-stream.',
  tags,
  access: access.outputRead,
  params,
  headers: downloadHeaders,
  responses: downloadResponses,
  errors: ['latestOutputNotFound', 'nodeOutputNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  refusals: { params: 'latestOutputNotFound' },
  async handler({ params, services, request, signal }) {
    const found = await findLatestOutput(services.database, params.nodeInstanceId);
    if (found === undefined) throw new Problem('latestOutputNotFound');
    const { output, dataSource } = found;
    const isJson = await isJsonDocument({
      name: `${output.objectKey}@${output.objectOffset ?? 0}+${output.sizeBytes}`,
      sizeBytes: output.sizeBytes,
      contentEncoding: output.contentEncoding,
      open: () => openStoredBytes(services.objects, dataSource, output, null, signal),
    }).catch((error) => {
      throw storageProblem(error);
    });
    return await serveOutput(services.objects, dataSource, output, {
      method: request.method,
      headers: request.headers,
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
  outputLineage,
  reprocessNode,
  explainNodeInstance,
];
