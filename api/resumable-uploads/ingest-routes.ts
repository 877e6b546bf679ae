/** Resumable uploads to managed ingests by tus 1.0.0: at the last byte the ingest is performed, as by a plain upload. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { coversContentType } from '../../domain/outputs/managed-ingest.ts';
import {
  readPieceChecksum,
  readUploadLength,
  readUploadMetadata,
  requireTus,
  tusVersion,
} from '../../domain/outputs/tus.ts';
import type { RouteContext, UploadBody } from '../../http/route.ts';
import type { Queryable } from '../../store/connection/database.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import { findIngest, findIngestByPath } from '../../store/ingests/ingests.ts';
import { findUploadTarget } from '../../store/outputs/outputs.ts';
import type { ResumableUpload } from '../../store/uploads/resumable-uploads.ts';
import { answerIngestOnce } from '../ingests/answer-once.ts';
import { ingestPath } from '../ingests/schema.ts';
import { admitted, givenSecret, ingestCaller } from '../ingests/secret.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { begin, continued, type NextPiece, namedUpload, readPiece, terminate } from './handling.ts';
import { finishIngest } from './ingest-finish.ts';
import { endOf, offsetOf, presentIngest, requirePieceType, supported } from './present.ts';
import {
  ingestCreationHeaders,
  ingestEndHeaders,
  ingestPieceHeaders,
  ingestTusHeaders,
  ingestUploadParams,
  ingestUploadSchema,
  offsetHeaders,
  ofPieces,
  supportedHeaders,
} from './schema.ts';

const path = '/api/v2/ingest-uploads';
const shared = {
  tags: ['Managed ingest'],
  access: access.open,
  credentials: ['ingestSecret', 'ingestToken', 'none'],
  replyHeaders: { 'tus-resumable': tusVersion },
} as const;
const ofIngest = ['ingestNotFound', 'ingestSecretRequired'] as const;
const ofTheEnd = ['sessionFrozen', 'nodeInstanceNotFound'] as const;
const ofUpload = ['uploadNotFound', 'notTheUploader', 'uploadBusy', 'tusVersionMissing'] as const;
const notHere = 'When the last byte is stored, the audit shows ingestFile.';

const discover = defineRoute({
  ...shared,
  id: 'ingestUploadOptions',
  method: 'OPTIONS',
  path: `${path}/{urlPath+}`,
  summary: 'What the server supports of tus',
  description: 'As for resumable uploads to a node.',
  params: z.object({ urlPath: ingestPath() }),
  refusals: { params: 'ingestNotFound' },
  audit: { notHere: 'Changes nothing.' },
  responses: { 204: { description: 'In the headers.', headers: supportedHeaders } },
  handler: ({ services }) => ({ status: 204, headers: supported(services) }),
});

const create = defineRoute({
  ...shared,
  id: 'createIngestUpload',
  method: 'POST',
  path: `${path}/{urlPath+}`,
  summary: 'Begins a resumable upload to a managed ingest',
  description:
    'As a resumable upload to a node, with the path, the secret, the limits and the refusals of the ingest: they come ' +
    'before the body. At the last byte the ingest creates or feeds its session, once. The same caller continues it: with ' +
    'the secret, or anonymously if it was begun so.',
  idempotent: 'plain',
  audit: { notHere },
  params: z.object({ urlPath: ingestPath() }),
  refusals: { params: 'ingestNotFound' },
  headers: ingestCreationHeaders,
  body: 'stream',
  share: 'ingests',
  responses: {
    201: {
      description: 'Begun. When the body was all of it, the ingest is performed as by its last piece.',
      headers: { location: 'Address of the upload.', ...offsetHeaders, ...ingestEndHeaders },
    },
  },
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
    const ingest = admitted(services, await findIngestByPath(services.database, params.urlPath), given);
    return await answerIngestOnce(context, 'createIngestUpload', ingest, given, () =>
      begun(context, ingest, given),
    );
  },
});

interface Begun {
  readonly status: 201;
  readonly headers: Readonly<Record<string, string>>;
}
type StreamContext = Pick<
  RouteContext<unknown, unknown, unknown, UploadBody, unknown, Services>,
  'body' | 'request' | 'requestId' | 'services' | 'shutdown' | 'signal'
>;
type PieceContext = Omit<StreamContext, 'body'> & { readonly body?: UploadBody | undefined };

async function begun(context: StreamContext, ingest: Ingest, given: string | null): Promise<Begun> {
  const { services, body, request } = context;
  const { headers } = request;
  requireTus(headers);
  const said = readUploadMetadata(headers);
  if (!coversContentType(ingest.ingestDataType, said['content-type']))
    throw new Problem('unsupportedMediaType');
  const sizeBytes = readUploadLength(headers, services.settings.MAX_UPLOAD_BYTES);
  if (body.declaredBytes !== 0) requirePieceType(headers);
  const checksum = readPieceChecksum(headers);
  const place = { userId: ingestCaller(ingest, given), nodeInstanceId: null, ingestId: ingest.id };
  const { upload, isNew } = await begin(services, place, ingest.dataSource, said, sizeBytes);
  const isDue = isNew && (body.declaredBytes !== 0 || sizeBytes === 0);
  const now = isDue ? await proceeded(context, upload, ingest, { offset: 0, checksum }) : upload;
  const location = `${path}/${upload.id}`;
  return { status: 201, headers: { location, ...(await stateOf(services.database, now)).headers } };
}

async function proceeded(
  context: PieceContext,
  upload: ResumableUpload,
  ingest: Ingest,
  piece: NextPiece | null,
): Promise<ResumableUpload> {
  return await continued(context, upload, piece, (writer) =>
    finishIngest(context.services, writer, ingest, context),
  );
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
  id: 'continueIngestUpload',
  method: 'PATCH',
  path: `${path}/{uploadId}`,
  summary: 'Sends the next piece of a resumable upload to a managed ingest',
  description: `As for resumable uploads to a node. It expires ${limits.resumableUploadSeconds / 3600} hours after its last byte came.`,
  audit: { notHere },
  params: ingestUploadParams,
  headers: ingestPieceHeaders,
  body: 'stream',
  share: 'ingests',
  traced: false,
  responses: {
    204: { description: 'Stored.', headers: { ...offsetHeaders, ...ingestEndHeaders } },
  },
  errors: [...ofIngest, ...ofTheEnd, ...ofPieces, 'notTheUploader', 'uploadOffsetDiffers'],
  async handler(context) {
    const piece = readPiece(context.request.headers);
    const { upload, ingest } = await ownUpload(context);
    const isDone = upload.state === 'done';
    if (isDone && piece.offset !== upload.sizeBytes) throw new Problem('uploadOffsetDiffers');
    const now = isDone ? upload : await proceeded(context, upload, ingest, piece);
    const state = await stateOf(context.services.database, now);
    if (state.sessionId !== null) context.note({ sessionId: state.sessionId });
    return { status: 204, headers: state.headers };
  },
});

const read = defineRoute({
  ...shared,
  id: 'getIngestUpload',
  method: 'GET',
  path: `${path}/{uploadId}`,
  summary: 'How far a resumable upload to a managed ingest is',
  description: '`HEAD` ends a piece that is still open and so tells where to go on. `GET` disturbs nothing.',
  params: ingestUploadParams,
  headers: ingestTusHeaders,
  responses: {
    200: {
      description: 'The upload.',
      schema: ingestUploadSchema,
      headers: { 'upload-length': 'Bytes of the whole upload.', ...offsetHeaders, ...ingestEndHeaders },
    },
  },
  errors: [...ofIngest, ...ofTheEnd, ...ofUpload],
  async handler(context) {
    const isHead = context.request.method === 'HEAD';
    if (isHead) requireTus(context.request.headers);
    const { upload, ingest } = await ownUpload(context);
    const isDue = isHead && upload.state !== 'done';
    const now = isDue ? await proceeded(context, upload, ingest, null) : upload;
    const { sessionId, headers } = await stateOf(context.services.database, now);
    const length = { 'upload-length': String(now.sizeBytes) };
    return { status: 200, headers: { ...length, ...headers }, body: presentIngest(now, sessionId) };
  },
});

const remove = defineRoute({
  ...shared,
  id: 'terminateIngestUpload',
  method: 'DELETE',
  path: `${path}/{uploadId}`,
  summary: 'Gives a resumable upload to a managed ingest up',
  description: 'A piece that is still open ends. An upload that has become an output is refused.',
  audit: { notHere: 'No output is touched.' },
  params: ingestUploadParams,
  headers: ingestTusHeaders,
  responses: { 204: { description: 'Its bytes are removed.' } },
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
  readonly params: { readonly uploadId: string };
  readonly headers: { readonly 'x-ingest-secret'?: string | undefined };
  readonly request: { readonly bearer: string | null };
}): Promise<{ readonly upload: ResumableUpload; readonly ingest: Ingest }> {
  const upload = await namedUpload(services, params.uploadId);
  if (upload.ingestId === null) throw new Problem('uploadNotFound');
  const given = givenSecret(headers['x-ingest-secret'], request.bearer);
  const ingest = admitted(services, await findIngest(services.database, upload.ingestId), given);
  if (upload.userId !== ingestCaller(ingest, given)) throw new Problem('notTheUploader');
  return { upload, ingest };
}

export const ingestUploadRoutes = [discover, create, proceed, read, remove];
