/** Uploads to a node instance (contract: Node instances and outputs, Upload rules; decisions 8). */
import { access } from '../../domain/access.ts';
import { Problem } from '../../domain/errors.ts';
import { isJsonObject } from '../../domain/text.ts';
import { type DataSourceRow, findDataSourceByName } from '../../store/data-sources.ts';
import type { Queryable } from '../../store/database.ts';
import { findUploadTarget } from '../../store/outputs.ts';
import { publishUpload } from '../../store/publish.ts';
import { queueUpload } from '../../store/queued-uploads.ts';
import { defineRoute } from '../route.ts';
import { presentOutput, presentQueued } from './present.ts';
import { receiveObject } from './receive.ts';
import { nodeInstanceParams, nodeOutputSchema, queuedSchema, uploadHeaders } from './schema.ts';
import { takeIn } from './take-in.ts';
import { Turns } from './turns.ts';

/**
 * Publishing locks the session, so uploads to one session wait for each other. They wait here, where they hold no
 * database connection that others need.
 */
const publications = new Turns(8, 2);

export const uploadOutput = defineRoute({
  id: 'uploadNodeOutput',
  method: 'POST',
  path: '/api/v2/node-instance/{nodeInstanceId}/outputs/data',
  summary: 'Uploads raw bytes as an output of a node instance',
  description:
    'The body is the payload itself, no multipart and no JSON envelope, with its Content-Type; no bytes at all are an ' +
    'output too. The configuration of the node instance names the data source (`dataSourceName`). Checked in this ' +
    'order: node instance, frozen session, configuration, data source. A checksum that is sent has to match.',
  tags: ['Node outputs'],
  access: access.outputUpload,
  params: nodeInstanceParams,
  headers: uploadHeaders,
  body: 'stream',
  responses: {
    201: { description: 'A new output.', schema: nodeOutputSchema },
    200: { description: 'The output that had this identifier, with new bytes.', schema: nodeOutputSchema },
    202: {
      description:
        'Stored and queued: the project has queued ingestion, and the output appears after the queue drains.',
      schema: queuedSchema,
    },
  },
  errors: [
    'nodeInstanceNotFound',
    'sessionFrozen',
    'invalidNodeConfiguration',
    'missingDataSourceName',
    'dataSourceNotFound',
    'invalidOutputIdentifier',
    'invalidOutputMetadata',
    'checksumMismatch',
    'malformedRequest',
    'requestTimeout',
    'bodyTooLarge',
    'unsupportedMediaType',
    'nodeOutputFailed',
  ],
  refusals: { params: 'nodeInstanceNotFound' },
  async handler({ params, body, request, services, signal, note }) {
    try {
      const { dataSource, queuedIngestion, sessionId } = await findTarget(
        services.database,
        params.nodeInstanceId,
      );
      note({ sessionId });
      const received = await receiveObject(services, {
        kind: 'upload',
        dataSource,
        headers: request.headers,
        body,
        maxBytes: services.settings.MAX_UPLOAD_BYTES,
        nodeInstanceId: params.nodeInstanceId,
        signal,
      });
      const upload = { ...received, nodeInstanceId: params.nodeInstanceId };
      const taken = await takeIn(services, dataSource, received, () =>
        publications.run(sessionId, async () =>
          queuedIngestion ? queueUpload(services.database, upload) : publishUpload(services.database, upload),
        ),
      );
      if (taken.outcome === 'queued') return { status: 202, body: presentQueued(taken) };
      const status = taken.outcome === 'replaced' ? 200 : 201;
      return { status, body: presentOutput({ output: taken.output, dataSource }) };
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem('nodeOutputFailed', { cause: error });
    }
  },
});

/** The checks before the first byte, in the decided order. */
async function findTarget(
  database: Queryable,
  nodeInstanceId: number,
): Promise<{
  readonly dataSource: DataSourceRow;
  readonly queuedIngestion: boolean;
  readonly sessionId: string;
}> {
  const target = await findUploadTarget(database, nodeInstanceId);
  if (target === undefined) throw new Problem('nodeInstanceNotFound');
  if (target.frozen) throw new Problem('sessionFrozen');
  const name = dataSourceName(target.configuration);
  const dataSource = await findDataSourceByName(database, name);
  if (dataSource?.kind === 's3') {
    return { dataSource, queuedIngestion: target.queuedIngestion, sessionId: target.sessionId };
  }
  throw new Problem('dataSourceNotFound', { message: `Data source '${name}' not found.` });
}

function dataSourceName(configuration: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(configuration);
  } catch {
    throw new Problem('invalidNodeConfiguration');
  }
  if (!isJsonObject(parsed)) throw new Problem('invalidNodeConfiguration');
  const name = parsed.dataSourceName;
  if (typeof name !== 'string' || name === '') throw new Problem('missingDataSourceName');
  return name;
}
