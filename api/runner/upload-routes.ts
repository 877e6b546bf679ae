/** Outputs of a task that come in parts (contract: Runner routes; decisions 9). */
import { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { RouteContext } from '../../http/route.ts';
import { newId } from '../../store/connection/ids.ts';
import { newOutputKey } from '../../store/objects/object-store.ts';
import { outputDataSource } from '../../store/outputs/output-target.ts';
import { findOutputByIdentifier } from '../../store/outputs/outputs.ts';
import type { TaskHolder } from '../../store/runners/holder.ts';
import { writeTaskOutput } from '../../store/runs/task-outputs.ts';
import { abandonTaskUpload, type FinishedUpload, finishTaskUpload } from '../../store/runs/task-uploads.ts';
import { defineRoute } from '../route.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import type { Services } from '../services.ts';
import { checksumHeaders } from '../uploads/checksum-headers.ts';
import { readContentHeaders } from '../uploads/receive.ts';
import { callerOf, heldTask, taskRoute } from './identity.ts';
import { answerHolder, outputHeaders, readWatermark, written } from './output-routes.ts';
import { partLimits } from './part-limits.ts';
import { partSchema, uploadSchema, writtenOutputSchema } from './task-schema.ts';
import { abortAtStore, beginUpload, completeUpload, heldUpload, openUpload, receivePart } from './uploads.ts';

const path = '/api/v2/runner/tasks/{taskId}/outputs/uploads';
/** A handle of another form belongs to no upload of the task; the handlers refuse it. */
const uploadParams = taskRoute.params.extend({
  handle: z
    .string()
    .meta({ description: 'The handle from the start of the upload.', example: runnerExampleValues.handle }),
});
const completeHeaders = taskRoute.headers.extend({
  'x-platform-watermark': z
    .string()
    .optional()
    .meta({
      description: 'As at the start; overrides the value sent there.',
      example: String(runnerExampleValues.inputId),
    }),
});

const start = defineRoute({
  ...taskRoute,
  headers: outputHeaders,
  id: 'startTaskUpload',
  method: 'POST',
  path,
  idempotent: 'handled',
  summary: 'Starts a multi-part output',
  description:
    'For outputs above 16 MB. The request has no body; its headers describe the output like those of a single-request ' +
    'write, `Content-Type` and `Content-Encoding` included. Send the parts, then complete; `X-Platform-Watermark` applies ' +
    'at completion. An existing identifier of the node gets the existing output with 200, and the watermark ' +
    'applies at once. The handle ends with the task.',
  responses: {
    201: { description: 'Started.', schema: uploadSchema },
    200: { description: 'The existing output of this identifier.', schema: writtenOutputSchema },
  },
  errors: [
    'invalidOutputIdentifier',
    'invalidOutputMetadata',
    'unsupportedMediaType',
    'dataSourceNotFound',
    'watermarkRegression',
    'watermarkUnknownInput',
  ],
  async handler(context) {
    const caller = callerOf(context);
    return await answerHolder(context, caller, () => startUpload(context, caller));
  },
});

type StartContext = Pick<
  RouteContext<unknown, unknown, unknown, unknown, unknown, Services>,
  'services' | 'request'
>;

/** A start that is lost before its reply leaves an upload without parts, which ends with the task. */
async function startUpload(context: StartContext, caller: TaskHolder) {
  const { services, request } = context;
  const content = readContentHeaders(request.headers);
  const watermarkInputId = readWatermark(request.headers['x-platform-watermark']);
  const { database } = services;
  const task = await heldTask(services, caller);
  const existing =
    content.outputIdentifier === null
      ? undefined
      : await findOutputByIdentifier(database, task.nodeInstanceId, content.outputIdentifier);
  if (existing !== undefined) {
    const write = await writeTaskOutput(database, caller, existing, watermarkInputId);
    return { ...written(write), status: 200 } as const;
  }
  const dataSource = await outputDataSource(database, task.nodeInstanceId);
  if (dataSource === undefined) throw new Problem('dataSourceNotFound');
  const handle = newId();
  const expiresAt = await beginUpload(services, dataSource, caller, {
    ...content,
    handle,
    dataSourceId: dataSource.id,
    objectKey: newOutputKey(),
    watermarkInputId: watermarkInputId ?? null,
  });
  const body = { handle, ...partLimits, expiresAt: formatTimestamp(expiresAt) };
  return { status: 201, body } as const;
}

const put = defineRoute({
  ...taskRoute,
  id: 'putTaskUploadPart',
  method: 'PUT',
  path: `${path}/{handle}/parts/{n}`,
  summary: 'Uploads a part; replaces an earlier one of the same number',
  description:
    'Parts are numbered 1 to 10,000 and may be sent in any order and in parallel. Each has up to 100 MB and, except ' +
    'the last, at least 5 MB; this is checked at completion. A refused part leaves an ' +
    'earlier one of the same number unchanged.',
  params: uploadParams.extend({
    n: z.string().meta({
      type: 'integer',
      minimum: 1,
      maximum: limits.uploadParts,
      description: 'Part number.',
      example: 1,
    }),
  }),
  headers: taskRoute.headers.extend(checksumHeaders),
  body: 'stream',
  share: 'uploads',
  responses: { 200: { description: 'Stored.', schema: partSchema } },
  errors: ['uploadNotFound', 'checksumMismatch', 'bodyTooLarge'],
  async handler(context) {
    const { params, services, request, body, signal } = context;
    const caller = callerOf(context);
    const part = readPartNumber(params.n);
    const upload = await openUpload(services, caller, params.handle);
    const { sizeBytes, sha256 } = await receivePart(services, {
      caller,
      upload,
      part,
      headers: request.headers,
      body,
      signal,
    });
    return { status: 200, body: { part, sizeBytes, sha256 } };
  },
});

/** A number out of range is an invalid request; text that is no integer is an unknown path. */
function readPartNumber(text: string): number {
  if (!/^(0|-?[1-9]\d*)$/.test(text)) throw new Problem('uploadNotFound');
  const part = Number(text);
  if (part >= 1 && part <= limits.uploadParts) return part;
  throw new Problem('invalidRequest', { message: `Part numbers range from 1 to ${limits.uploadParts}.` });
}

const complete = defineRoute({
  ...taskRoute,
  headers: completeHeaders,
  id: 'completeTaskUpload',
  method: 'POST',
  path: `${path}/{handle}/complete`,
  summary: 'Completes a multi-part output',
  description:
    'The request has no body. The output is staged until the watermark moves or the task completes. With a watermark, ' +
    'the watermark advances at once, and the output and all that the run staged before it are published. A repeat gets the ' +
    'same output with 200, and so does an identifier that the node has received meanwhile. After a refusal the upload stays ' +
    'open. `sha256` is null; the `ETag` of the data is the store’s.',
  params: uploadParams,
  responses: {
    201: { description: 'Written.', schema: writtenOutputSchema },
    200: {
      description: 'The existing output of this upload or its identifier.',
      schema: writtenOutputSchema,
    },
  },
  errors: [
    'uploadNotFound',
    'uploadIncomplete',
    'partTooSmall',
    'watermarkRegression',
    'watermarkUnknownInput',
  ],
  async handler(context) {
    const { params, services, request } = context;
    const caller = callerOf(context);
    const ownWatermark = readWatermark(request.headers['x-platform-watermark']);
    const task = await heldTask(services, caller);
    const upload = await heldUpload(services, task.taskId, params.handle);
    const { handle } = upload;
    const finish = (object: FinishedUpload['object'], watermarkInputId: number | undefined) =>
      finishTaskUpload(services.database, caller, { handle, object, watermarkInputId });
    // A repeat: the watermark of the start has been applied.
    if (upload.outputId !== null) return written(await finish(null, ownWatermark));
    if (upload.state !== 'open' || upload.isExpired) throw new Problem('uploadNotFound');
    const watermarkInputId = ownWatermark ?? upload.watermarkInputId ?? undefined;
    const existing =
      upload.outputIdentifier !== null &&
      (await findOutputByIdentifier(services.database, task.nodeInstanceId, upload.outputIdentifier));
    if (existing) return written(await finish(null, watermarkInputId));
    const object = await completeUpload(services, task, upload, watermarkInputId);
    return written(await finish(object, watermarkInputId));
  },
});

const abort = defineRoute({
  ...taskRoute,
  id: 'abortTaskUpload',
  method: 'DELETE',
  path: `${path}/{handle}`,
  summary: 'Aborts a multi-part output',
  description:
    'Its parts are deleted from the store. Open uploads are aborted automatically when the task ends.',
  params: uploadParams,
  responses: { 204: { description: 'Aborted; its parts are deleted.' } },
  errors: ['uploadNotFound'],
  async handler(context) {
    const { params, services } = context;
    const caller = callerOf(context);
    const upload = await openUpload(services, caller, params.handle);
    const { database } = services;
    const isOver = await abandonTaskUpload(database, caller, upload.handle);
    if (!isOver) throw new Problem('uploadNotFound');
    await abortAtStore(services, upload);
    return { status: 204 };
  },
});

export const uploadRoutes = [start, put, complete, abort];
