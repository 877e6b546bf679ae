/** Resumable uploads by tus 1.0.0 (additions 3): they go on where the line broke, by any process. */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { readUploadLength, requireTus } from '../../domain/outputs/tus.ts';
import type { ResumableUpload } from '../../store/uploads/resumable-uploads.ts';
import { nodeInstanceParams } from '../node-instances/schema.ts';
import { findTarget } from '../node-instances/upload.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { finishUpload, type SignedInCompletingCall } from './finish.ts';
import {
  appendPiece,
  createUpload,
  namedUpload,
  readCreationHeaders,
  readPiece,
  shareOf,
  terminate,
} from './handling.ts';
import { announcedOf, endOf, offsetOf, present } from './present.ts';
import {
  creationHeaders,
  endHeaders,
  ofPieces,
  pieceHeaders,
  resumableUploadSchema,
  tusHeaders,
  uploadParams,
} from './schema.ts';
import { ofTus, tusRoutesAt } from './tus-routes.ts';
import type { UploadWriter } from './writers.ts';

const path = '/api/v2/node-instance/{nodeInstanceId}/uploads';
const routes = tusRoutesAt({
  paths: { list: path, one: `${path}/{uploadId}` },
  params: { list: nodeInstanceParams, one: uploadParams },
  headers: { creation: creationHeaders, piece: pieceHeaders, question: tusHeaders },
  share: 'uploads',
  audited: 'uploadNodeOutput',
  target: '',
  uploadSchema: resumableUploadSchema,
  endHeaders,
});
const shared = {
  tags: ['Node outputs'],
  access: access.outputUpload,
  refusals: { params: 'nodeInstanceNotFound' },
  ...ofTus,
} as const;
const asPlain = [
  'nodeInstanceNotFound',
  'sessionFrozen',
  'invalidNodeConfiguration',
  'missingDataSourceName',
  'dataSourceNotFound',
] as const;

const discover = defineRoute({
  ...shared,
  ...routes.discover,
  id: 'resumableUploadOptions',
  description: 'Versions, extensions, checksums and the largest upload, in the headers of the reply.',
});

const create = defineRoute({
  ...shared,
  ...routes.create,
  id: 'createResumableUpload',
  description:
    'Version 1.0.0 of tus with creation, creation-with-upload, termination, checksum and expiration: any client works with ' +
    'this address and a bearer token, also one that sends `POST` with `X-HTTP-Method-Override` in place of other methods. ' +
    'Checks and limits are those of a plain upload, and come before the body. A body needs `Content-Type: ' +
    'application/offset+octet-stream`. Only its caller may continue an upload, with any token ' +
    `that reaches the node. It expires ${limits.resumableUploadSeconds / 3600} hours after its last byte came; a caller, and each device, may have ${limits.resumableUploadsPerCaller} unfinished ones.`,
  errors: [...asPlain, ...ofPieces, 'invalidOutputIdentifier', 'invalidOutputMetadata', 'tooManyUploads'],
  async handler(context) {
    const { nodeInstanceId } = context.params;
    const { headers, url } = context.request;
    const creationHeaders = readCreationHeaders(headers);
    const sizeBytes = readUploadLength(headers, context.services.settings.MAX_UPLOAD_BYTES);
    const target = await findTarget(context.services.database, nodeInstanceId);
    context.note({ sessionId: target.sessionId });
    const place = { userId: context.principal.userId, nodeInstanceId, ingestId: null };
    const { dataSource } = target;
    const uploadMetadata = headers['upload-metadata'];
    const countedFor = shareOf(context.services, context.principal, context.request);
    const creation = { place, countedFor, dataSource, creationHeaders, uploadMetadata, sizeBytes };
    const upload = await createUpload(context, creation, finishing(context));
    const location = `${url.split('?', 1)[0]!.replace(/\/$/, '')}/${upload.id}`;
    return { status: 201, headers: { location, ...offsetOf(upload), ...endOf(upload) } };
  },
});

const proceed = defineRoute({
  ...shared,
  ...routes.proceed,
  id: 'continueResumableUpload',
  description:
    'The reply comes when the bytes are stored for good. A piece that breaks off is kept up to the break; `HEAD` tells ' +
    'how far. A new request ends one that is still open. With the last byte the upload becomes an output, exactly as ' +
    'a plain one: the reply has its id, or says that it is queued.',
  errors: [...asPlain, ...ofPieces, 'notTheUploader', 'uploadOffsetDiffers'],
  async handler(context) {
    const piece = readPiece(context.request.headers);
    const upload = await ownUpload(context);
    if (upload.state !== 'done') {
      const target = await findTarget(context.services.database, context.params.nodeInstanceId);
      context.note({ sessionId: target.sessionId });
    }
    const now = await appendPiece(context, upload, piece, finishing(context));
    return { status: 204, headers: { ...offsetOf(now), ...endOf(now) } };
  },
});

const read = defineRoute({
  ...shared,
  ...routes.read,
  id: 'getResumableUpload',
  description:
    'A client of tus asks by `HEAD`, which ends a piece that is still open and so tells where to go on. `GET` ' +
    'disturbs nothing.',
  errors: [...asPlain, 'uploadNotFound', 'notTheUploader', 'uploadBusy', 'tusVersionMissing'],
  async handler(context) {
    const isHead = context.request.method === 'HEAD';
    if (isHead) requireTus(context.request.headers);
    const upload = await ownUpload(context);
    const now = isHead ? await appendPiece(context, upload, null, finishing(context)) : upload;
    const headers = { ...announcedOf(now), ...offsetOf(now), ...endOf(now) };
    return { status: 200, headers, body: present(now, context.params.nodeInstanceId) };
  },
});

const remove = defineRoute({
  ...shared,
  ...routes.remove,
  id: 'terminateResumableUpload',
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

/** Makes the output of the upload when its last byte has come. */
function finishing(context: SignedInCompletingCall & { readonly services: Services }) {
  return (writer: UploadWriter) => finishUpload(context.services, writer, context);
}

/**
 * The upload that the path names, of this caller.
 * @throws Problem `uploadNotFound`, `notTheUploader`
 */
async function ownUpload({
  services,
  params,
  principal,
}: Pick<SignedInCompletingCall, 'principal'> & {
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
