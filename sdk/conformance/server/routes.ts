/** The runner routes: from a call to its reply. */
import { createHash } from 'node:crypto';
import { endTask, type TaskEnd } from './ends.ts';
import {
  annotationsForm,
  claimForm,
  completeForm,
  contentEncodingOf,
  failForm,
  type Headers,
  heartbeatForm,
  idOf,
  inputDataForm,
  inputsForm,
  instanceForm,
  instanceOf,
  logsForm,
  outputHeaders,
  parsed,
  parseJson,
  rejectionForm,
  releaseForm,
  watermarkForm,
  watermarkHeader,
} from './forms.ts';
import type { RouteId } from './journal.ts';
import type { Claim } from './model.ts';
import { keepLog, rejectInput } from './notes.ts';
import {
  findInput,
  leaseExpiresAt,
  listInputs,
  presentClaim,
  readState,
  sendInput,
  whoami,
} from './reads.ts';
import { Refusal } from './refusal.ts';
import { abortUpload, completeUpload, partNumber, putPart, startUpload } from './uploads.ts';
import type { World } from './world.ts';
import {
  digestOf,
  identifierFor,
  moveWatermark,
  presentOutput,
  type Written,
  writeOutput,
} from './writes.ts';

interface Asked {
  readonly world: World;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Aborted when the caller closes the connection. */
  readonly signal: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The claim that this reply delivers. */
  readonly claim?: Claim;
}

export interface Route {
  readonly id: RouteId;
  readonly method: string;
  /** Below `/api/v2/runner`, with `{names}`. */
  readonly path: string;
  readonly pattern: RegExp;
  /** Longest body, and the refusal for more. */
  readonly body: 'none' | 'json' | 'output' | 'part';
  readonly reply: (asked: Asked) => Reply | Promise<Reply>;
}

const ok = (json: unknown): Reply => ({ status: 200, json });
const taskIdForm = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function taskId({ params }: Asked): string {
  const id = params.taskId ?? '';
  if (!taskIdForm.test(id)) throw new Refusal('taskNotFound');
  return id.toLowerCase();
}

/** The task of a call that holds it; every such call renews the lease. */
function held(asked: Asked): Claim {
  const id = taskId(asked);
  return asked.world.desk.touch(id, instanceOf(asked.headers));
}

function json(asked: Asked): unknown {
  const encoding = asked.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity')
    throw new Refusal('unsupportedMediaType', { message: 'Compressed JSON bodies are not accepted.' });
  return parseJson(asked.body);
}

/** Checks id and header first, as the platform does, then the body. */
function bodyOf<T>(asked: Asked, form: Parameters<typeof parsed<T>>[1]): T {
  taskId(asked);
  if (!asked.headers['x-platform-runner-instance']) throw new Refusal('instanceHeaderMissing');
  return parsed('body', form, json(asked));
}

function written({ status, output }: Written): Reply {
  return { status, json: presentOutput(output) };
}

async function claim(asked: Asked): Promise<Reply> {
  const { instanceId, templates, waitSeconds } = parsed('body', claimForm, json(asked));
  const covers = asked.world.covered(templates ?? []);
  const waitMs = waitSeconds * 1_000;
  const found = await asked.world.desk.claim({ instanceId, covers, waitMs, signal: asked.signal });
  if (found === undefined) return { status: 204 };
  return { status: 200, json: presentClaim(asked.world, found), claim: found };
}

function heartbeat(asked: Asked): Reply {
  bodyOf(asked, heartbeatForm);
  const task = held(asked);
  return ok({
    taskId: task.taskId,
    leaseExpiresAt: leaseExpiresAt(task),
    cancelRequested: task.run.cancelRequested,
  });
}

function inputs(asked: Asked): Reply {
  taskId(asked);
  const query = parsed('query', inputsForm, asked.query);
  return ok(listInputs(asked.world, held(asked), query));
}

function inputData(asked: Asked): Reply {
  const input = findInput(held(asked), idOf(asked.params.outputId ?? ''));
  if (input === undefined) throw new Refusal('inputNotFound');
  const { redirect } = parsed('query', inputDataForm, asked.query);
  return sendInput(input, asked.headers, redirect ? asked.world.addressAtStore?.(input) : undefined);
}

function outputs(asked: Asked): Reply {
  taskId(asked);
  instanceOf(asked.headers);
  const headers = outputHeaders(asked.headers);
  const task = held(asked);
  const { body } = asked;
  // The bytes of a resend are not checked again.
  const isResend = headers.identifier !== null && task.run.node.outputs.has(headers.identifier);
  const contentEncoding = isResend ? null : contentEncodingOf(asked.headers);
  if (!isResend) checkDigests(asked);
  const stored = { sizeBytes: body.length, sha256: digestOf(body), contentEncoding };
  const identifier = identifierFor(task, headers.identifier);
  return written(writeOutput(asked.world, task, { ...headers, identifier }, stored));
}

/** `Content-MD5` and `x-amz-checksum-sha256`, where the caller sends them. */
function checkDigests({ headers, body }: Asked): void {
  const sent = [
    ['md5', headers['content-md5']],
    ['sha256', headers['x-amz-checksum-sha256']],
  ] as const;
  for (const [algorithm, value] of sent) {
    if (value === undefined) continue;
    const digest = createHash(algorithm).update(body).digest('base64');
    if (value.trim() !== digest) throw new Refusal('checksumMismatch');
  }
}

function uploadStart(asked: Asked): Reply {
  taskId(asked);
  instanceOf(asked.headers);
  const headers = outputHeaders(asked.headers);
  const contentEncoding = contentEncodingOf(asked.headers);
  const started = startUpload(asked.world, held(asked), headers, contentEncoding);
  if (started.kind === 'existing') return ok(presentOutput(started.output));
  return { status: 201, json: started.body };
}

function uploadPart(asked: Asked): Reply {
  taskId(asked);
  instanceOf(asked.headers);
  const part = partNumber(asked.params.n ?? '');
  const task = held(asked);
  checkDigests(asked);
  return ok(putPart(task, handle(asked), part, asked.body));
}

function uploadComplete(asked: Asked): Reply {
  taskId(asked);
  instanceOf(asked.headers);
  const lastInputId = watermarkHeader(asked.headers);
  return written(completeUpload(asked.world, held(asked), handle(asked), lastInputId));
}

function uploadAbort(asked: Asked): Reply {
  abortUpload(held(asked), handle(asked));
  return { status: 204 };
}

function logs(asked: Asked): Reply {
  const body = bodyOf(asked, logsForm);
  return ok(keepLog(held(asked), body));
}

/** Checked and counted; the kit shows no annotations. */
function annotations(asked: Asked): Reply {
  const { annotations } = bodyOf(asked, annotationsForm);
  held(asked);
  return ok({ staged: annotations.length });
}

function rejection(asked: Asked): Reply {
  const body = bodyOf(asked, rejectionForm);
  return ok(rejectInput(asked.world, held(asked), idOf(asked.params.inputId ?? ''), body));
}

function handle({ params }: Asked): string {
  return (params.handle ?? '').toLowerCase();
}

function watermark(asked: Asked): Reply {
  const { inputId, state } = bodyOf(asked, watermarkForm);
  return ok(moveWatermark(asked.world, held(asked), inputId, state));
}

const complete = async (asked: Asked) =>
  await ended(asked, { kind: 'complete', body: bodyOf(asked, completeForm) });
const fail = async (asked: Asked) => await ended(asked, { kind: 'fail', body: bodyOf(asked, failForm) });
const release = async (asked: Asked) =>
  await ended(asked, { kind: 'release', body: bodyOf(asked, releaseForm) });

/** Ends the task; with `next` it claims another one, and a repeat answers with what the instance then holds. */
async function ended(asked: Asked, end: TaskEnd): Promise<Reply> {
  const { world, signal } = asked;
  const instanceId = instanceOf(asked.headers);
  const { next } = end.body;
  const covers = world.covered(next?.templates ?? []);
  const reply = endTask(world, taskId(asked), instanceId, end);
  if (next == null) return ok(reply);
  const waitMs = next.waitSeconds * 1_000;
  const task =
    world.desk.heldBy(instanceId) ?? (await world.desk.claim({ instanceId, covers, waitMs, signal }));
  return ok({ ...reply, next: task === undefined ? null : presentClaim(world, task) });
}

function signOff({ world, params }: Asked): Reply {
  // A colon may be sent as it is or encoded; text that cannot be decoded is not an id.
  const instanceId = (params.instanceId ?? '').replaceAll(/%3a/gi, ':');
  if (!instanceForm.test(instanceId)) throw new Refusal('notFound');
  world.desk.signOff(instanceId);
  return { status: 204 };
}

function route(id: RouteId, method: string, path: string, body: Route['body'], reply: Route['reply']): Route {
  const pattern = path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return { id, method, path, pattern: new RegExp(`^/api/v2(?:\\.0)?/runner${pattern}$`), body, reply };
}

const upload = '/tasks/{taskId}/outputs/uploads/{handle}';
export const routes: readonly Route[] = [
  route('whoami', 'GET', '/whoami', 'none', ({ world }) => ok(whoami(world, 'conformance'))),
  route('claim', 'POST', '/tasks/claim', 'json', claim),
  route('heartbeat', 'PUT', '/tasks/{taskId}/heartbeat', 'json', heartbeat),
  route('inputs', 'GET', '/tasks/{taskId}/inputs', 'none', inputs),
  route('inputData', 'GET', '/tasks/{taskId}/inputs/{outputId}/data', 'none', inputData),
  route('state', 'GET', '/tasks/{taskId}/state', 'none', (asked) => ok(readState(asked.world, held(asked)))),
  route('outputs', 'POST', '/tasks/{taskId}/outputs', 'output', outputs),
  route('uploadStart', 'POST', '/tasks/{taskId}/outputs/uploads', 'none', uploadStart),
  route('uploadPart', 'PUT', `${upload}/parts/{n}`, 'part', uploadPart),
  route('uploadComplete', 'POST', `${upload}/complete`, 'none', uploadComplete),
  route('uploadAbort', 'DELETE', upload, 'none', uploadAbort),
  route('watermark', 'PUT', '/tasks/{taskId}/watermark', 'json', watermark),
  route('logs', 'POST', '/tasks/{taskId}/logs', 'json', logs),
  route('annotations', 'POST', '/tasks/{taskId}/annotations', 'json', annotations),
  route('rejection', 'PUT', '/tasks/{taskId}/rejections/{inputId}', 'json', rejection),
  route('complete', 'PUT', '/tasks/{taskId}/complete', 'json', complete),
  route('fail', 'PUT', '/tasks/{taskId}/fail', 'json', fail),
  route('release', 'PUT', '/tasks/{taskId}/release', 'json', release),
  route('signOff', 'DELETE', '/instances/{instanceId}', 'none', signOff),
];
