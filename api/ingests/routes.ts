/** Managed ingest: files from outside, without an account (contract: Managed ingest; decisions 8). */
import { z } from 'zod';
import { access } from '../../domain/access.ts';
import { Problem } from '../../domain/errors.ts';
import { coversContentType } from '../../domain/managed-ingest.ts';
import { defaultSessionName } from '../../domain/session-name.ts';
import { noteAuditActor, noteAudited } from '../../store/audit-scope.ts';
import { findDataSource } from '../../store/data-sources.ts';
import { feedIngest } from '../../store/feed-ingest.ts';
import { findIngestByPath, type IngestRow } from '../../store/ingests.ts';
import { presentQueued } from '../node-instances/present.ts';
import { receiveObject } from '../node-instances/receive.ts';
import { queuedSchema } from '../node-instances/schema.ts';
import { takeIn } from '../node-instances/take-in.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { ingestAdminRoutes } from './admin-routes.ts';
import { ingestedSchema, ingestHeaders, ingestPath } from './schema.ts';
import { givenSecret, isSecretOf } from './secret.ts';

const ingest = defineRoute({
  id: 'ingestFile',
  method: 'POST',
  path: '/ingest/{urlPath+}',
  summary: 'Takes a file in and makes or feeds a session with it',
  description:
    'The body is the file itself. The secret goes in `X-Ingest-Secret` or as bearer token, unless the ingest allows ' +
    'anonymous uploads. The Content-Type has to be one that the data type of the ingest covers.',
  tags: ['Managed ingest'],
  access: access.open,
  credentials: ['ingestSecret', 'ingestToken', 'none'],
  params: z.object({ urlPath: ingestPath() }),
  headers: ingestHeaders,
  body: 'stream',
  responses: {
    201: { description: 'An output of the session that is named.', schema: ingestedSchema },
    200: { description: 'The output that had this identifier, with new bytes.', schema: ingestedSchema },
    202: { description: 'Stored and queued: the project has queued ingestion.', schema: queuedSchema },
  },
  errors: [
    'ingestNotFound',
    'ingestSecretRequired',
    'unsupportedMediaType',
    'sessionFrozen',
    'nodeInstanceNotFound',
    'invalidOutputIdentifier',
    'invalidOutputMetadata',
    'checksumMismatch',
    'malformedRequest',
    'requestTimeout',
    'bodyTooLarge',
    'nodeOutputFailed',
  ],
  refusals: { params: 'ingestNotFound' },
  async handler({ params, headers, body, request, services, signal, note }) {
    try {
      const found = await admitted(services, params.urlPath, headers['x-ingest-secret'], request.bearer);
      noteAuditActor(found.id);
      noteAudited(found.id);
      if (!coversContentType(found.ingestDataType, request.headers['content-type'])) {
        throw new Problem('unsupportedMediaType');
      }
      const dataSource = await findDataSource(services.database, found.dataSourceId);
      if (dataSource === undefined) throw new Error(`Data source ${found.dataSourceId} is gone.`);
      const received = await receiveObject(services, {
        kind: 'ingest',
        dataSource,
        headers: request.headers,
        body,
        maxBytes: services.settings.MAX_UPLOAD_BYTES,
        signal,
      });
      const name = defaultSessionName(found.sessionTemplateName, new Date());
      const taken = await takeIn(services, dataSource, received, () =>
        feedIngest(services.database, found, received, name),
      );
      const place = taken.outcome === 'queued' ? taken : taken.output;
      note({ sessionId: place.sessionId, nodeInstanceId: place.nodeInstanceId });
      if (taken.outcome === 'queued') return { status: 202, body: presentQueued(taken) };
      const { sessionId, nodeInstanceId, id } = taken.output;
      const status = taken.outcome === 'replaced' ? 200 : 201;
      return { status, body: { status: 'ok' as const, sessionId, nodeInstanceId, nodeOutputId: id } };
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem('nodeOutputFailed', { cause: error });
    }
  },
});

/**
 * The ingest at this path, for a caller that may use it.
 * @throws Problem `ingestNotFound`, `ingestSecretRequired` also for a wrong secret where none is needed
 */
async function admitted(
  services: Services,
  urlPath: string,
  secretHeader: string | undefined,
  bearer: string | null,
): Promise<IngestRow> {
  const found = await findIngestByPath(services.database, urlPath);
  if (found === undefined) throw new Problem('ingestNotFound');
  const given = givenSecret(secretHeader, bearer);
  const isAllowed =
    given === null ? found.allowAnonymous : isSecretOf(services.objects.secrets, given, found.secretDigest);
  if (!isAllowed) throw new Problem('ingestSecretRequired');
  return found;
}

export const ingestRoutes = [...ingestAdminRoutes, ingest];
