/** Outputs of a task in one request (contract: Runner rule 3; decisions 9). */
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import {
  type HeaderValues,
  outputIdentifierForm,
  readOutputHeaders,
} from '../../domain/outputs/output-headers.ts';
import type { Reply, RouteContext, UploadBody } from '../../http/route.ts';
import { pathId, textHeader } from '../../http/schemas.ts';
import { isMadeAlready } from '../../store/connection/idempotency.ts';
import { newOutputKey } from '../../store/objects/object-store.ts';
import { PendingObjectGone } from '../../store/objects/pending-objects.ts';
import { findOutputByIdentifier } from '../../store/outputs/outputs.ts';
import type { TaskHolder } from '../../store/runners/holder.ts';
import {
  beginTaskOutput,
  type OutputWrite,
  type TaskOutput,
  writeTaskOutput,
} from '../../store/runs/task-outputs.ts';
import { answerHandled, type HandledContext } from '../idempotency.ts';
import { defineRoute } from '../route.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import type { Services } from '../services.ts';
import { storeProblem } from '../uploads/bytes-problem.ts';
import { checksumHeaders } from '../uploads/checksum-headers.ts';
import {
  type ReceiveOptions,
  readUploadHeaders,
  receiveObject,
  type UploadHeaders,
} from '../uploads/receive.ts';
import { callerOf, heldTask, taskRoute } from './identity.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { presentWrittenOutput } from './present.ts';
import { writtenOutputSchema } from './task-schema.ts';
import { writeProblem } from './write-problem.ts';

/** For the reference; the values are read by the rules that uploads share. */
export const outputHeaders = taskRoute.headers.extend({
  'x-platform-output-identifier': textHeader(
    'Identifies the output: 1 to 100 letters, digits, `.`, `_`, `-`; unique in the node. Default: the platform generates one.',
    runnerExampleValues.outputIdentifier,
    outputIdentifierForm,
  ),
  'x-platform-output-metadata': textHeader(
    'A JSON object of up to 4 KB, stored with the output; no key begins with `$`. Outputs of a node with the same `sourceKey` (1 to 255 characters) are versions of one source: dashboards show the newest.',
    '{"laps":12}',
  ),
  'x-platform-watermark': textHeader(
    'Id of the last input consumed with this output. Publishes the output and all that the run staged before.',
    String(runnerExampleValues.inputId),
  ),
  'content-encoding': textHeader('`gzip` when the bytes are compressed; they are stored as sent.', 'gzip'),
});

const writeOutput = defineRoute({
  ...taskRoute,
  headers: outputHeaders.extend(checksumHeaders),
  id: 'writeTaskOutput',
  method: 'POST',
  path: '/api/v2/runner/tasks/{taskId}/outputs',
  summary: 'Writes an output of up to 16 MB',
  description:
    'The body is the payload itself, with its `Content-Type` and, if it is compressed, `Content-Encoding: gzip`. ' +
    'An existing identifier of the node gets the existing output with 200. With `X-Platform-Watermark` the ' +
    'watermark advances at once, and the output and all that the run staged before it are published. Without it the ' +
    'output is staged until the watermark moves or the task completes. Each write without an identifier makes another ' +
    'output, so send its repeats under one `Idempotency-Key`.',
  body: 'stream',
  share: 'uploads',
  idempotent: 'handled',
  responses: {
    201: { description: 'Written.', schema: writtenOutputSchema },
    200: { description: 'The existing output of this identifier.', schema: writtenOutputSchema },
  },
  errors: [
    'invalidOutputIdentifier',
    'invalidOutputMetadata',
    'checksumMismatch',
    'outputTooLarge',
    'unsupportedMediaType',
    'dataSourceNotFound',
    'watermarkRegression',
    'watermarkUnknownInput',
  ],
  async handler(context) {
    const caller = callerOf(context);
    return await answerHolder(context, caller, () => receiveOutput(context, caller));
  },
});

type OutputContext = Pick<
  RouteContext<unknown, unknown, unknown, UploadBody, unknown, Services>,
  'body' | 'services' | 'request' | 'signal' | 'note'
>;

async function receiveOutput(context: OutputContext, caller: TaskHolder) {
  const { body, services, request, signal } = context;
  const { outputIdentifier } = readOutputHeaders(request.headers);
  const watermarkInputId = readWatermark(request.headers['x-platform-watermark']);
  if ((body.declaredBytes ?? 0) > limits.runnerOutputBytes) throw new Problem('outputTooLarge');
  const { database } = services;
  // A resend may say what it likes of its bytes, which are not read: the refusal of other headers comes after it.
  const announced = headersOrRefusal(request.headers);
  const objectKey = announced instanceof Problem ? null : newOutputKey();
  const task = await beginTaskOutput(database, caller, outputIdentifier, objectKey);
  if (task === undefined) throw new Problem('taskNotFound');
  context.note({ sessionId: task.sessionId, nodeInstanceId: task.nodeInstanceId, runId: task.runId });
  const write = (upload: TaskOutput) => writeTaskOutput(database, caller, upload, watermarkInputId);
  if (task.isKnown && outputIdentifier !== null) {
    const existing = await findOutputByIdentifier(database, task.nodeInstanceId, outputIdentifier);
    // A resend: its bytes are not read again, unless its output is removed at this moment.
    const resent = existing && (await write(existing).catch(goneAsUndefined));
    if (resent !== undefined) return written(resent);
  }
  const { dataSource } = task;
  if (dataSource === null) throw new Problem('dataSourceNotFound');
  if (announced instanceof Problem) throw announced;
  const keeper = new LeaseKeeper(database, caller);
  const bytes: ReceiveOptions = {
    kind: 'output',
    dataSource,
    ...(task.isBegun && objectKey !== null ? { objectKey } : {}),
    announced,
    body,
    maxBytes: limits.runnerOutputBytes,
    tooLarge: 'outputTooLarge',
    signal: AbortSignal.any([signal, keeper.lost]),
    onBytes: keeper.onBytes,
    asRefusal: (error) => (keeper.lost.aborted ? new Problem('taskNotFound') : storeProblem(error)),
  };
  const isUsed = ({ kind }: OutputWrite) => kind === 'created' && !isMadeAlready();
  return written(await receiveObject(services, bytes, write, isUsed));
}

function headersOrRefusal(headers: HeaderValues): UploadHeaders | Problem {
  try {
    return readUploadHeaders(headers);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function goneAsUndefined(error: unknown): undefined {
  if (!(error instanceof PendingObjectGone)) throw error;
}

/** Answers a request under an `Idempotency-Key` once. A repeat too is only for the holder of the task, and renews its lease. */
export async function answerHolder<R extends Reply>(
  context: HandledContext,
  caller: TaskHolder,
  run: () => Promise<R>,
): Promise<R> {
  const { request, services } = context;
  if (request.headers['idempotency-key'] !== undefined) await heldTask(services, caller);
  return await answerHandled(context, caller.holder, run);
}

/** The id in `X-Platform-Watermark`; throws for an invalid id. */
export function readWatermark(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const id = pathId().safeParse(value.trim());
  if (id.success) return id.data;
  throw new Problem('invalidRequest', { message: 'X-Platform-Watermark must be the id of an input.' });
}

/** The reply to a write; throws its refusal. */
export function written(write: OutputWrite) {
  if (write.kind === 'refused') throw writeProblem(write.why);
  const status = write.kind === 'created' ? (201 as const) : (200 as const);
  return { status, body: presentWrittenOutput(write.output) };
}

export const outputRoutes = [writeOutput];
