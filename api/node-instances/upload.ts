/** Uploads to a node instance (contract: Node instances and outputs, Upload rules; decisions 8). */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { isJsonObject } from '../../domain/text.ts';
import type { Queryable } from '../../store/connection/database.ts';
import { whenDatabaseReturns } from '../../store/connection/database-returns.ts';
import {
  type DataSourceRow,
  findDataSource,
  findDataSourceByName,
} from '../../store/objects/data-sources.ts';
import { findUploadTarget } from '../../store/outputs/outputs.ts';
import { findStoredRepeat, forgetLostRepeat } from '../../store/outputs/stored-repeat.ts';
import { publishUpload } from '../../store/uploads/publish-upload.ts';
import { queueUpload } from '../../store/uploads/queued-uploads.ts';
import { defineRoute } from '../route.ts';
import { type CommittedUpload, commitUpload, publishToSession } from '../uploads/commit-upload.ts';
import { readUploadHeaders } from '../uploads/receive.ts';
import { presentOutput, presentQueued } from './present.ts';
import { nodeInstanceParams, nodeOutputSchema, queuedSchema, uploadHeaders } from './schema.ts';

export const uploadOutput = defineRoute({
  id: 'uploadNodeOutput',
  method: 'POST',
  path: '/api/v2/node-instance/{nodeInstanceId}/outputs/data',
  summary: 'Uploads bytes as an output of a node instance',
  description:
    'The body is the payload itself with its Content-Type, no multipart and no JSON envelope; an empty body is an ' +
    'output too. The configuration of the node instance names the data source (`dataSourceName`). Order of the ' +
    'checks: node instance, frozen session, configuration, data source. A checksum that is sent must match. If the same ' +
    'upload is repeated (same identifier, SHA-256, Content-Type, Content-Encoding and metadata), the response is the ' +
    'existing output, and nothing runs again. If `x-amz-checksum-sha256`, `Content-Digest` or `Repr-Digest` states the ' +
    'SHA-256, the response comes before the body is read.',
  tags: ['Node outputs'],
  access: access.outputUpload,
  audit: { object: 'nodeInstance', from: 'nodeInstanceId' },
  idempotent: 'plain',
  params: nodeInstanceParams,
  headers: uploadHeaders,
  body: 'stream',
  share: 'uploads',
  responses: {
    201: { description: 'A new output.', schema: nodeOutputSchema },
    200: {
      description:
        'The existing output of this identifier: with new bytes, or unchanged when they are the same.',
      schema: nodeOutputSchema,
    },
    202: {
      description:
        'Stored and queued: the project has queued ingestion, and the output is published from the queue.',
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
  async handler({ params: { nodeInstanceId }, body, request, services, signal, note }) {
    try {
      const checks = async () => {
        const target = await findTarget(services.database, nodeInstanceId);
        note({ sessionId: target.sessionId });
        const announced = readUploadHeaders(request.headers);
        const repeat = await findStoredRepeat(services, {
          ...announced,
          nodeInstanceId,
          sha256: announced.sent.sha256,
          sizeBytes: body.declaredBytes,
        });
        return { target, announced, repeat };
      };
      const { target, announced, repeat } = await whenDatabaseReturns(checks, signal);
      const { dataSource } = target;
      if (repeat !== undefined) return await answer(services.database, target, repeat);
      const bytes = {
        kind: 'upload',
        dataSource,
        announced,
        body,
        maxBytes: services.settings.MAX_UPLOAD_BYTES,
        nodeInstanceId,
        signal,
      } as const;
      const committed = await commitUpload(services, bytes, (received) =>
        publishToSession(
          target.sessionId,
          async () => {
            const upload = { ...received, nodeInstanceId };
            if (announced.sent.sha256 === null) await forgetLostRepeat(services, upload);
            return target.queuedIngestion
              ? queueUpload(services.database, upload)
              : publishUpload(services.database, upload);
          },
          signal,
        ),
      );
      return await answer(services.database, target, committed);
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem('nodeOutputFailed', { cause: error });
    }
  },
});

/** The reply to an upload that was accepted, now or earlier. */
async function answer(database: Queryable, target: UploadTarget, committed: CommittedUpload) {
  if (!('output' in committed)) return { status: 202 as const, body: presentQueued(committed) };
  const { outcome, output } = committed;
  const { dataSource } = target;
  // The output may be in the store that the node used before its configuration was changed.
  const holder =
    output.dataSourceId === dataSource.id ? dataSource : await findDataSource(database, output.dataSourceId);
  if (holder === undefined) throw new Error(`Data source ${output.dataSourceId} no longer exists.`);
  const status = outcome === 'created' ? (201 as const) : (200 as const);
  return { status, body: presentOutput({ output, dataSource: holder }) };
}

export interface UploadTarget {
  readonly sessionId: string;
  readonly dataSource: DataSourceRow;
  readonly queuedIngestion: boolean;
}

/**
 * The checks before the first byte, in the decided order.
 * @throws Problem `nodeInstanceNotFound`, `sessionFrozen`, `invalidNodeConfiguration`, `missingDataSourceName`,
 *   `dataSourceNotFound`
 */
export async function findTarget(database: Queryable, nodeInstanceId: number): Promise<UploadTarget> {
  const target = await findUploadTarget(database, nodeInstanceId);
  if (target === undefined) throw new Problem('nodeInstanceNotFound');
  if (target.frozen) throw new Problem('sessionFrozen');
  const name = dataSourceName(target.configuration);
  const dataSource = await findDataSourceByName(database, name);
  if (dataSource?.kind === 's3') return { ...target, dataSource };
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
