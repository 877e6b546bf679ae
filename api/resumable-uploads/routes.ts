/** Resumable uploads by tus 1.0.0 (additions 3): they go on where the line broke, by any process. */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import {
  readPieceChecksum,
  readUploadLength,
  readUploadMetadata,
  requireTus,
  tusVersion,
} from '../../domain/outputs/tus.ts';
import type { ResumableUpload } from '../../store/uploads/resumable-uploads.ts';
import { nodeInstanceParams } from '../node-instances/schema.ts';
import { findTarget } from '../node-instances/upload.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { finishUpload, type LastCall } from './finish.ts';
import { begin, continued, namedUpload, readPiece, terminate } from './handling.ts';
import { endOf, offsetOf, present, requirePieceType, supported } from './present.ts';
import {
  creationHeaders,
  endHeaders,
  offsetHeaders,
  ofPieces,
  pieceHeaders,
  resumableUploadSchema,
  supportedHeaders,
  tusHeaders,
  uploadParams,
} from './schema.ts';

const path = '/api/v2/node-instance/{nodeInstanceId}/uploads';
const shared = {
  tags: ['Node outputs'],
  access: access.outputUpload,
  refusals: { params: 'nodeInstanceNotFound' },
  replyHeaders: { 'tus-resumable': tusVersion },
} as const;
const asPlain = [
  'nodeInstanceNotFound',
  'sessionFrozen',
  'invalidNodeConfiguration',
  'missingDataSourceName',
  'dataSourceNotFound',
] as const;
const notHere = 'When the last byte is stored, the audit shows uploadNodeOutput.';

const discover = defineRoute({
  ...shared,
  id: 'resumableUploadOptions',
  method: 'OPTIONS',
  path,
  summary: 'What the server supports of tus',
  description: 'Versions, extensions, checksums and the largest upload, in the headers of the reply.',
  params: nodeInstanceParams,
  audit: { notHere: 'Changes nothing.' },
  responses: {
    204: {
      description: 'In the headers.',
      headers: supportedHeaders,
    },
  },
  handler: ({ services }) => ({ status: 204, headers: supported(services) }),
});

const create = defineRoute({
  ...shared,
  id: 'createResumableUpload',
  method: 'POST',
  path,
  summary: 'Begins a resumable upload',
  description:
    'Version 1.0.0 of tus with creation, creation-with-upload, termination, checksum and expiration: any client works with ' +
    'this address and a bearer token. Checks and limits are those of a plain upload, and come before the body. A body ' +
    'needs `Content-Type: application/offset+octet-stream`. Only its caller may continue an upload, with any token ' +
    `that reaches the node. It expires ${limits.resumableUploadSeconds / 3600} hours after its last byte came; a caller may have ${limits.resumableUploadsPerCaller} unfinished ones.`,
  idempotent: 'plain',
  audit: { notHere },
  params: nodeInstanceParams,
  headers: creationHeaders,
  body: 'stream',
  share: 'uploads',
  responses: {
    201: {
      description: 'Begun. When the body was all of it, the upload is finished as by its last piece.',
      headers: { location: 'Address of the upload.', ...offsetHeaders, ...endHeaders },
    },
  },
  errors: [...asPlain, ...ofPieces, 'invalidOutputIdentifier', 'invalidOutputMetadata', 'tooManyUploads'],
  async handler(context) {
    const { headers } = context.request;
    requireTus(headers);
    const said = readUploadMetadata(headers);
    const sizeBytes = readUploadLength(headers, context.services.settings.MAX_UPLOAD_BYTES);
    const target = await findTarget(context.services.database, context.params.nodeInstanceId);
    context.note({ sessionId: target.sessionId });
    if (context.body.declaredBytes !== 0) requirePieceType(headers);
    const checksum = readPieceChecksum(headers);
    const place = {
      userId: context.principal.userId,
      nodeInstanceId: context.params.nodeInstanceId,
      ingestId: null,
    };
    const { upload, isNew } = await begin(context.services, place, target.dataSource, said, sizeBytes);
    const location = `${context.request.url.split('?', 1)[0]!.replace(/\/$/, '')}/${upload.id}`;
    const isDue = isNew && (context.body.declaredBytes !== 0 || sizeBytes === 0);
    const first = { offset: 0, checksum };
    const now = isDue
      ? await continued(context, upload, first, (writer) => finishUpload(context.services, writer, context))
      : upload;
    return { status: 201, headers: { location, ...offsetOf(now), ...endOf(now) } };
  },
});

const proceed = defineRoute({
  ...shared,
  id: 'continueResumableUpload',
  method: 'PATCH',
  path: `${path}/{uploadId}`,
  summary: 'Sends the next piece of a resumable upload',
  description:
    'The reply comes when the bytes are stored for good. A piece that breaks off is kept up to the break; `HEAD` tells ' +
    'how far. A new request ends one that is still open. With the last byte the upload becomes an output, exactly as ' +
    'a plain one: the reply has its id, or says that it is queued.',
  audit: { notHere },
  params: uploadParams,
  headers: pieceHeaders,
  body: 'stream',
  share: 'uploads',
  traced: false,
  responses: {
    204: { description: 'Stored.', headers: { ...offsetHeaders, ...endHeaders } },
  },
  errors: [...asPlain, ...ofPieces, 'notTheUploader', 'uploadOffsetDiffers'],
  async handler(context) {
    const piece = readPiece(context.request.headers);
    const upload = await ownUpload(context);
    if (upload.state === 'done') {
      if (piece.offset !== upload.sizeBytes) throw new Problem('uploadOffsetDiffers');
      return { status: 204, headers: { ...offsetOf(upload), ...endOf(upload) } };
    }
    const target = await findTarget(context.services.database, context.params.nodeInstanceId);
    context.note({ sessionId: target.sessionId });
    const now = await continued(context, upload, piece, (writer) =>
      finishUpload(context.services, writer, context),
    );
    return { status: 204, headers: { ...offsetOf(now), ...endOf(now) } };
  },
});

const read = defineRoute({
  ...shared,
  id: 'getResumableUpload',
  method: 'GET',
  path: `${path}/{uploadId}`,
  summary: 'How far a resumable upload is',
  description:
    'A client of tus asks by `HEAD`, which ends a piece that is still open and so tells where to go on. `GET` ' +
    'disturbs nothing.',
  params: uploadParams,
  headers: tusHeaders,
  responses: {
    200: {
      description: 'The upload.',
      schema: resumableUploadSchema,
      headers: { 'upload-length': 'Bytes of the whole upload.', ...offsetHeaders, ...endHeaders },
    },
  },
  errors: [...asPlain, 'uploadNotFound', 'notTheUploader', 'uploadBusy', 'tusVersionMissing'],
  async handler(context) {
    const isHead = context.request.method === 'HEAD';
    if (isHead) requireTus(context.request.headers);
    const upload = await ownUpload(context);
    const now =
      isHead && upload.state !== 'done'
        ? await continued(context, upload, null, (writer) => finishUpload(context.services, writer, context))
        : upload;
    const headers = { 'upload-length': String(now.sizeBytes), ...offsetOf(now), ...endOf(now) };
    return { status: 200, headers, body: present(now, context.params.nodeInstanceId) };
  },
});

const remove = defineRoute({
  ...shared,
  id: 'terminateResumableUpload',
  method: 'DELETE',
  path: `${path}/{uploadId}`,
  summary: 'Gives a resumable upload up',
  description: 'A piece that is still open ends. An upload that has become an output is refused.',
  audit: { notHere: 'No output is touched.' },
  params: uploadParams,
  headers: tusHeaders,
  responses: { 204: { description: 'Its bytes are removed.' } },
  errors: [
    'uploadNotFound',
    'nodeInstanceNotFound',
    'notTheUploader',
    'uploadBusy',
    'tusVersionMissing',
    'conflict',
  ],
  async handler(context) {
    requireTus(context.request.headers);
    await terminate(context, await ownUpload(context));
    return { status: 204 };
  },
});

/**
 * The upload that the path names, of this caller.
 * @throws Problem `uploadNotFound`, `notTheUploader`
 */
async function ownUpload({
  services,
  params,
  principal,
}: Pick<LastCall, 'principal'> & {
  readonly services: Services;
  readonly params: { readonly nodeInstanceId: number; readonly uploadId: string };
}): Promise<ResumableUpload> {
  const upload = await namedUpload(services, params.uploadId);
  if (upload.ingestId !== null || upload.nodeInstanceId !== params.nodeInstanceId)
    throw new Problem('uploadNotFound');
  if (upload.userId !== principal.userId) throw new Problem('notTheUploader');
  return upload;
}

export const resumableUploadRoutes = [discover, create, proceed, read, remove];
