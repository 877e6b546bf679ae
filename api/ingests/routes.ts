/** Managed ingest: files from outside, without an account (contract: Managed ingest; decisions 8). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { requireDataType } from '../../domain/outputs/managed-ingest.ts';
import type { RouteContext, UploadBody } from '../../http/route.ts';
import { noteAuditActor, noteAudited } from '../../store/connection/audit-scope.ts';
import { whenDatabaseReturns } from '../../store/connection/database-returns.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import { feedIngest } from '../../store/ingests/feed-ingest.ts';
import { AlreadyIngested, findIngested, type IngestedPlace } from '../../store/ingests/ingested-files.ts';
import { findIngestByPath } from '../../store/ingests/ingests.ts';
import { answerHandled } from '../idempotency.ts';
import { presentQueued } from '../node-instances/present.ts';
import { queuedSchema } from '../node-instances/schema.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { commitUpload, publishToIngest } from '../uploads/commit-upload.ts';
import { readUploadHeaders } from '../uploads/receive.ts';
import { ingestAdminRoutes } from './admin-routes.ts';
import { ingestedSchema, ingestHeaders, ingestPath } from './schema.ts';
import { admitted, givenSecret, ingestCaller } from './secret.ts';

const ingest = defineRoute({
  id: 'ingestFile',
  method: 'POST',
  path: '/ingest/{urlPath+}',
  summary: 'Uploads a file and creates or feeds a session with it',
  description:
    'The body is the file itself. Send the secret in `X-Ingest-Secret` or as bearer token, unless the ingest allows ' +
    'anonymous uploads. The data type of the ingest must cover the Content-Type. If each upload creates ' +
    'a session, the same file with the same `X-Platform-Output-Identifier` does not create a second one.',
  tags: ['Managed ingest'],
  access: access.open,
  audit: { object: 'ingest' },
  idempotent: 'handled',
  credentials: ['ingestSecret', 'ingestToken', 'none'],
  share: 'ingests',
  params: z.object({ urlPath: ingestPath() }),
  headers: ingestHeaders,
  body: 'stream',
  responses: {
    201: { description: 'A new output of the session.', schema: ingestedSchema },
    200: {
      description:
        'The existing output of this identifier: with new bytes, or unchanged when the file is the same.',
      schema: ingestedSchema,
    },
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
  async handler(context) {
    const { params, headers, request, services } = context;
    try {
      const given = givenSecret(headers['x-ingest-secret'], request.bearer);
      const named = () => findIngestByPath(services.database, params.urlPath);
      const found = admitted(services, await whenDatabaseReturns(named, context.signal), given);
      noteAuditActor(found.id);
      noteAudited(found.id);
      /** It may be deleted, or get another secret, while the bytes come. */
      const requireStill = async () => {
        const now = await named();
        admitted(services, now?.id === found.id ? now : undefined, given);
      };
      return await answerHandled(context, ingestCaller(found, given), () =>
        receiveFile(context, found, requireStill),
      );
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem('nodeOutputFailed', { cause: error });
    }
  },
});

type ReceivedFile =
  | { readonly status: 200 | 201; readonly body: z.input<typeof ingestedSchema> }
  | { readonly status: 202; readonly body: z.input<typeof queuedSchema> };
type FileContext = Pick<
  RouteContext<unknown, unknown, unknown, UploadBody, unknown, Services>,
  'body' | 'request' | 'services' | 'signal' | 'note'
>;

/**
 * Makes the body an output of a session; a repeated file finds the output that it made before.
 * @param requireStill throws where its caller may no longer use the ingest
 */
async function receiveFile(
  context: FileContext,
  found: Ingest,
  requireStill: () => Promise<void>,
): Promise<ReceivedFile> {
  const { body, request, services, signal, note } = context;
  const { dataSource } = found;
  requireDataType(found.ingestDataType, request.headers['content-type']);
  const announced = readUploadHeaders(request.headers);
  const upload = { ...announced, sha256: announced.sent.sha256 };
  const known = await whenDatabaseReturns(() => findIngested(services, found, upload), signal);
  if (known !== undefined && !known.isLost) return presentKnown(known);
  const bytes = {
    kind: 'ingest',
    dataSource,
    announced,
    body,
    maxBytes: services.settings.MAX_UPLOAD_BYTES,
    signal,
  } as const;
  try {
    const committed = await commitUpload(services, bytes, (received) =>
      publishToIngest(found, async () => {
        await requireStill();
        return await feedIngest(services, found, received);
      }),
    );
    const { sessionId, nodeInstanceId } = 'output' in committed ? committed.output : committed;
    note({ sessionId, nodeInstanceId });
    if (!('output' in committed)) return { status: 202, body: presentQueued(committed) };
    const status = committed.outcome === 'created' ? 201 : 200;
    return { status, body: { status: 'ok', sessionId, nodeInstanceId, nodeOutputId: committed.output.id } };
  } catch (error) {
    if (error instanceof AlreadyIngested) return presentKnown(error.place);
    throw error;
  }
}

function presentKnown(place: IngestedPlace): ReceivedFile {
  const { sessionId, nodeInstanceId, outputId } = place;
  if (outputId === null) return { status: 202, body: presentQueued(place) };
  return { status: 200, body: { status: 'ok', sessionId, nodeInstanceId, nodeOutputId: outputId } };
}

export const ingestRoutes = [...ingestAdminRoutes, ingest];
