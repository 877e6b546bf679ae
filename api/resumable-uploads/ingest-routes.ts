/** Resumable uploads to managed ingests by tus 1.0.0: at the last byte the ingest is performed, as by a plain upload. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { requireDataType } from '../../domain/outputs/managed-ingest.ts';
import { readUploadLength, requireTus } from '../../domain/outputs/tus.ts';
import type { Queryable } from '../../store/connection/database.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import { findIngest, findIngestByPath } from '../../store/ingests/ingests.ts';
import { findUploadTarget } from '../../store/outputs/outputs.ts';
import type { ResumableUpload } from '../../store/uploads/resumable-uploads.ts';
import { answerHandled } from '../idempotency.ts';
import { ingestPath } from '../ingests/schema.ts';
import { admitted, givenSecret, ingestCaller } from '../ingests/secret.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import type { CompletingCall } from './finish.ts';
import {
  appendPiece,
  createUpload,
  namedUpload,
  readCreationHeaders,
  readPiece,
  shareOf,
  terminate,
} from './handling.ts';
import { finishIngest } from './ingest-finish.ts';
import { announcedOf, endOf, offsetOf, presentIngest } from './present.ts';
import {
  ingestCreationHeaders,
  ingestEndHeaders,
  ingestPieceHeaders,
  ingestTusHeaders,
  ingestUploadParams,
  ingestUploadSchema,
  ofPieces,
} from './schema.ts';
import { ofTus, tusRoutesAt } from './tus-routes.ts';
import type { UploadWriter } from './writers.ts';

const path = '/api/v2/ingest-uploads';
const routes = tusRoutesAt({
  // One name for both: OpenAPI forbids two paths that differ by the names of their parameters alone.
  paths: { list: `${path}/{pathOrId+}`, one: `${path}/{pathOrId}` },
  params: { list: z.object({ pathOrId: ingestPath() }), one: ingestUploadParams },
  headers: { creation: ingestCreationHeaders, piece: ingestPieceHeaders, question: ingestTusHeaders },
  share: 'ingests',
  audited: 'ingestFile',
  target: ' to a managed ingest',
  uploadSchema: ingestUploadSchema,
  endHeaders: ingestEndHeaders,
});
const shared = {
  tags: ['Managed ingest'],
  access: access.open,
  credentials: ['ingestSecret', 'ingestToken', 'none'],
  ...ofTus,
} as const;
const ofIngest = ['ingestNotFound', 'ingestSecretRequired'] as const;
const ofTheEnd = ['sessionFrozen', 'nodeInstanceNotFound'] as const;
const ofUpload = ['uploadNotFound', 'notTheUploader', 'uploadBusy', 'tusVersionMissing'] as const;

const discover = defineRoute({
  ...shared,
  ...routes.discover,
  id: 'ingestUploadOptions',
  description: 'As for resumable uploads to a node.',
  refusals: { params: 'ingestNotFound' },
});

const create = defineRoute({
  ...shared,
  ...routes.create,
  id: 'createIngestUpload',
  idempotent: 'handled',
  description:
    'As a resumable upload to a node, with the path, the secret, the limits and the refusals of the ingest: they come ' +
    'before the body. At the last byte the ingest creates or feeds its session, once. The same caller continues it: with ' +
    'the secret, or anonymously if it was begun so.',
  refusals: { params: 'ingestNotFound' },
  errors: [
    ...ofIngest,
    ...ofTheEnd,
    ...ofPieces,
    'invalidOutputIdentifier',
    'invalidOutputMetadata',
    'tooManyUploads',
  ],
  async handler(context) {
    const { services, params, headers, request } = context;
    const given = givenSecret(headers['x-ingest-secret'], request.bearer);
    const ingest = admitted(services, await findIngestByPath(services.database, params.pathOrId), given);
    const caller = ingestCaller(ingest, given);
    return await answerHandled(context, caller, async () => {
      const creationHeaders = readCreationHeaders(request.headers);
      requireDataType(ingest.ingestDataType, creationHeaders['content-type']);
      const sizeBytes = readUploadLength(request.headers, services.settings.MAX_UPLOAD_BYTES);
      const place = { userId: caller, nodeInstanceId: null, ingestId: ingest.id };
      const { dataSource } = ingest;
      const uploadMetadata = request.headers['upload-metadata'];
      const countedFor = shareOf(services, null, request);
      const creation = { place, countedFor, dataSource, creationHeaders, uploadMetadata, sizeBytes };
      const upload = await createUpload(
        { ...context, requireStill: stillAdmitted(services, ingest.id, given) },
        creation,
        finishing(context, ingest),
      );
      const state = await stateOf(services.database, upload);
      return { status: 201, headers: { location: `${path}/${upload.id}`, ...state.headers } } as const;
    });
  },
});

/** Performs the ingest when the upload's last byte has come. */
function finishing(context: CompletingCall & { readonly services: Services }, ingest: Ingest) {
  return (writer: UploadWriter) => finishIngest(context.services, writer, ingest, context);
}

async function stateOf(database: Queryable, upload: ResumableUpload) {
  const { nodeInstanceId } = upload;
  const target = nodeInstanceId === null ? undefined : await findUploadTarget(database, nodeInstanceId);
  const sessionId = target?.sessionId ?? null;
  const session = sessionId === null ? {} : { 'x-platform-session-id': sessionId };
  return { sessionId, headers: { ...offsetOf(upload), ...endOf(upload), ...session } };
}

const proceed = defineRoute({
  ...shared,
  ...routes.proceed,
  id: 'continueIngestUpload',
  description: `As for resumable uploads to a node. It expires ${limits.resumableUploadSeconds / 3600} hours after its last byte came.`,
  errors: [...ofIngest, ...ofTheEnd, ...ofPieces, 'notTheUploader', 'uploadOffsetDiffers'],
  async handler(context) {
    const piece = readPiece(context.request.headers);
    const { upload, ingest, requireStill } = await ownUpload(context);
    const now = await appendPiece({ ...context, requireStill }, upload, piece, finishing(context, ingest));
    const state = await stateOf(context.services.database, now);
    if (state.sessionId !== null) context.note({ sessionId: state.sessionId });
    return { status: 204, headers: state.headers };
  },
});

const read = defineRoute({
  ...shared,
  ...routes.read,
  id: 'getIngestUpload',
  description: '`HEAD` ends a piece that is still open and so tells where to go on. `GET` disturbs nothing.',
  errors: [...ofIngest, ...ofTheEnd, ...ofUpload],
  async handler(context) {
    const isHead = context.request.method === 'HEAD';
    if (isHead) requireTus(context.request.headers);
    const { upload, ingest } = await ownUpload(context);
    const now = isHead ? await appendPiece(context, upload, null, finishing(context, ingest)) : upload;
    const { sessionId, headers } = await stateOf(context.services.database, now);
    return { status: 200, headers: { ...announcedOf(now), ...headers }, body: presentIngest(now, sessionId) };
  },
});

const remove = defineRoute({
  ...shared,
  ...routes.remove,
  id: 'terminateIngestUpload',
  errors: [...ofIngest, ...ofUpload, 'conflict'],
  async handler(context) {
    requireTus(context.request.headers);
    await terminate(context, (await ownUpload(context)).upload);
    return { status: 204 };
  },
});

/**
 * The upload that the path names, and its ingest, for the caller who began it.
 * @throws Problem `uploadNotFound`, `ingestNotFound`, `ingestSecretRequired`, `notTheUploader`
 */
async function ownUpload({
  services,
  params,
  headers,
  request,
}: {
  readonly services: Services;
  readonly params: { readonly pathOrId: string };
  readonly headers: { readonly 'x-ingest-secret'?: string | undefined };
  readonly request: { readonly bearer: string | null };
}): Promise<{
  readonly upload: ResumableUpload;
  readonly ingest: Ingest;
  readonly requireStill: () => Promise<void>;
}> {
  const upload = await namedUpload(services, params.pathOrId);
  if (upload.ingestId === null) throw new Problem('uploadNotFound');
  const given = givenSecret(headers['x-ingest-secret'], request.bearer);
  const ingest = admitted(services, await findIngest(services.database, upload.ingestId), given);
  if (upload.userId !== ingestCaller(ingest, given)) throw new Problem('notTheUploader');
  return { upload, ingest, requireStill: stillAdmitted(services, ingest.id, given) };
}

/** The ingest may be deleted, or get another secret, while the bytes come. */
function stillAdmitted(services: Services, ingestId: number, given: string | null): () => Promise<void> {
  return async () => {
    admitted(services, await findIngest(services.database, ingestId), given);
  };
}

export const ingestUploadRoutes = [discover, create, proceed, read, remove];
