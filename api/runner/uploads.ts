/** The object store's side of uploads in parts; the rows are checked before and after each call to the store. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { type HeaderValues, readSentDigests } from '../../domain/outputs/output-headers.ts';
import type { UploadBody } from '../../http/route.ts';
import { uuid } from '../../http/schemas.ts';
import { failpoint } from '../../store/connection/failpoint.ts';
import { refusable } from '../../store/connection/refused.ts';
import { type DataSourceRow, findDataSource } from '../../store/objects/data-sources.ts';
import {
  abortMultipart,
  beginMultipart,
  completeMultipart,
  MultipartGone,
  PartsDiffer,
} from '../../store/objects/multipart.ts';
import { putPart } from '../../store/objects/put-part.ts';
import type { TaskHolder } from '../../store/runners/holder.ts';
import { type HeldTask, renewLease } from '../../store/runners/lease.ts';
import {
  beginTaskUpload,
  discardTaskUpload,
  findTaskUpload,
  forgetParts,
  listParts,
  type NewTaskUpload,
  nameTaskUpload,
  savePart,
  type TaskUpload,
  type TaskUploadPart,
} from '../../store/runs/task-uploads.ts';
import { checkWatermark } from '../../store/runs/watermark.ts';
import type { WriteRefusal } from '../../store/runs/write-task.ts';
import { uploadEnded } from '../../telemetry/metrics.ts';
import type { Services } from '../services.ts';
import { SharedWork } from '../shared-work.ts';
import { bytesProblem, checkDigests, storeProblem } from '../uploads/bytes-problem.ts';
import { heldTask } from './identity.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { writeProblem } from './write-problem.ts';

const meanwhileMs = 2_000;

/** An upload of the task, open or ended; throws the 404 when none has this handle. */
export async function heldUpload(services: Services, taskId: string, handle: string): Promise<TaskUpload> {
  const id = uuid().safeParse(handle);
  const upload = id.success ? await findTaskUpload(services.database, taskId, id.data) : undefined;
  if (upload === undefined) throw new Problem('uploadNotFound');
  return upload;
}

/** An upload that accepts parts, with the store's id for it. */
export type OpenUpload = TaskUpload & { readonly storeUploadId: string };

/** @throws Problem `taskNotFound`, `uploadNotFound` */
export async function openUpload(
  services: Services,
  caller: TaskHolder,
  handle: string,
): Promise<OpenUpload> {
  await heldTask(services, caller);
  const upload = await heldUpload(services, caller.taskId, handle);
  if (upload.state !== 'open' || upload.isExpired || !isNamed(upload)) throw new Problem('uploadNotFound');
  return upload;
}

function isNamed(upload: TaskUpload): upload is OpenUpload {
  return upload.storeUploadId !== null;
}

/**
 * Writes the row, calls the store, then saves the store's id: an interruption at any point leaves a row to clean up
 * from.
 */
export async function beginUpload(
  services: Services,
  dataSource: DataSourceRow,
  caller: TaskHolder,
  upload: NewTaskUpload,
): Promise<Date> {
  const { database, objects } = services;
  const expiresAt = await beginTaskUpload(database, caller, upload, limits.taskUploadDays * 86_400);
  if (expiresAt === undefined) throw new Problem('taskNotFound');
  const place = objects.of(dataSource).multipart(upload.objectKey);
  try {
    const storeUploadId = await beginMultipart(place);
    if (await nameTaskUpload(database, upload.handle, storeUploadId)) return expiresAt;
    // The task ended at this moment, and the sweeper has already run.
    await abortMultipart(place, storeUploadId);
  } catch (error) {
    await discardTaskUpload(database, upload.handle).catch(() => undefined);
    throw storeProblem(error);
  }
  throw new Problem('taskNotFound');
}

export interface PartJob {
  readonly caller: TaskHolder;
  readonly upload: OpenUpload;
  readonly part: number;
  readonly headers: HeaderValues;
  readonly body: UploadBody;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

/**
 * Stores a part. The task is checked before the bytes, while they flow, before any of them goes to the store, and with
 * the row: a part of a lost task has no effect.
 */
export async function receivePart(services: Services, job: PartJob): Promise<TaskUploadPart> {
  const { caller, upload, body } = job;
  const { database, objects } = services;
  const sent = readSentDigests(job.headers);
  const maxBytes = limits.uploadPartMaxBytes;
  if ((body.declaredBytes ?? 0) > maxBytes) throw partTooLarge();
  const place = objects.of(await dataSourceOf(services, upload)).multipart(upload.objectKey);
  const keeper = new LeaseKeeper(database, caller);
  const startedAtMs = performance.now();
  let storedBytes: number | null = null;
  try {
    const stored = await putPart(place, upload.storeUploadId, job.part, body.open(), {
      maxBytes,
      declaredBytes: body.declaredBytes,
      withMd5: sent.md5 !== null,
      signal: AbortSignal.any([job.signal, keeper.lost]),
      onBytes: keeper.onBytes,
      caller: body.caller,
      async admit(bytes) {
        checkDigests(sent, bytes);
        await openUpload(services, caller, upload.handle);
      },
    });
    storedBytes = stored.sizeBytes;
    const part = { ...stored, number: job.part };
    if (await savePart(database, caller, upload.handle, part)) return part;
  } catch (error) {
    if (keeper.lost.aborted) throw new Problem('taskNotFound');
    if (!(error instanceof MultipartGone))
      throw storeProblem(bytesProblem(error, { tooLarge: partTooLarge(), signal: job.signal }));
  } finally {
    uploadEnded('part', (performance.now() - startedAtMs) / 1000, storedBytes);
  }
  // Task or upload ended meanwhile; the rows show which.
  await openUpload(services, caller, upload.handle);
  throw new Problem('uploadNotFound');
}

function partTooLarge(): Problem {
  return new Problem('bodyTooLarge', {
    message: `A part must have at most ${limits.uploadPartMaxBytes} bytes.`,
  });
}

async function dataSourceOf(services: Services, upload: TaskUpload): Promise<DataSourceRow> {
  const dataSource = await findDataSource(services.database, upload.dataSourceId);
  if (dataSource === undefined) throw new Problem('uploadNotFound');
  return dataSource;
}

/** Completions at the store by this process: concurrent calls share one. */
const completions = new SharedWork<Completed>();

interface Completed {
  readonly sizeBytes: number;
  readonly etag: string;
}

/**
 * Makes the object in the store, after all checks that could refuse it.
 * @returns null when another completion of the upload, perhaps by another process, has made the output meanwhile
 * @throws Problem `uploadIncomplete`, `partTooSmall`, `watermarkRegression`, `watermarkUnknownInput`, `uploadNotFound`,
 *   `taskNotFound`, `unavailable`
 */
export async function completeUpload(
  services: Services,
  task: HeldTask,
  upload: TaskUpload,
  watermarkInputId: number | undefined,
): Promise<Completed | null> {
  const { database, objects } = services;
  if (!isNamed(upload)) throw new Problem('uploadNotFound');
  const parts = await listParts(database, upload.handle);
  const sizeBytes = wholeSize(parts);
  if (watermarkInputId !== undefined) {
    const checked = await refusable<number, WriteRefusal>(() =>
      checkWatermark(database, task, watermarkInputId),
    );
    if (typeof checked !== 'number') throw writeProblem(checked.why);
  }
  const place = objects.of(await dataSourceOf(services, upload)).multipart(upload.objectKey);
  const keeper = new LeaseKeeper(database, task);
  try {
    // Not cancelled when the caller hangs up: the repeated call then finds it done.
    // Calls that share a completion share its size: one may have listed a part that came too late for it.
    const complete = async () => ({
      sizeBytes,
      etag: await completeMultipart(place, upload.storeUploadId, parts, sizeBytes, keeper.lost),
    });
    const completed = await keeper.during(() => completions.run(upload.handle, complete));
    await failpoint('multipart-completed');
    return completed;
  } catch (error) {
    if ((await renewLease(database, task)) === undefined) throw new Problem('taskNotFound');
    const isElsewhere = error instanceof PartsDiffer || error instanceof MultipartGone;
    if (!isElsewhere) throw storeProblem(error);
    if (await isCompletedMeanwhile(services, task.taskId, upload.handle)) return null;
    if (error instanceof MultipartGone) throw new Problem('uploadNotFound', { cause: error });
    if (error.numbers.length === 0) throw new Problem('unavailable', { cause: error });
    await forgetParts(database, upload.handle, error.numbers);
    throw partsMissing(error.numbers);
  }
}

/**
 * Whether another process has just made the output: the parts disappear from the store some time before its row shows
 * the output.
 */
async function isCompletedMeanwhile(services: Services, taskId: string, handle: string): Promise<boolean> {
  const untilMs = performance.now() + meanwhileMs;
  for (;;) {
    const upload = await findTaskUpload(services.database, taskId, handle);
    if (upload?.state !== 'open') return upload?.outputId != null;
    if (performance.now() > untilMs) return false;
    await sleep(meanwhileMs / 20);
  }
}

/** The sum of the parts. Throws when they are not 1 to n, or one but the last is too small. */
function wholeSize(parts: readonly TaskUploadPart[]): number {
  const last = parts.at(-1)?.number ?? 1;
  if (parts.length < last) {
    const present = new Set(parts.map(({ number }) => number));
    const missing: number[] = [];
    for (let number = 1; number <= last; number += 1) if (!present.has(number)) missing.push(number);
    throw partsMissing(missing);
  }
  for (const { number, sizeBytes } of parts.slice(0, -1)) {
    if (sizeBytes >= limits.uploadPartMinBytes) continue;
    const message = `Part ${number} has ${sizeBytes} bytes; every part except the last must have at least ${limits.uploadPartMinBytes}.`;
    throw new Problem('partTooSmall', { message });
  }
  return parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function partsMissing(numbers: readonly number[]): Problem {
  const shown = `${numbers.slice(0, 20).join(', ')}${numbers.length > 20 ? ' ...' : ''}`;
  return new Problem('uploadIncomplete', { message: `Parts are missing: ${shown}.` });
}

/** Removes the parts at once if the store answers; otherwise the sweeper does. */
export async function abortAtStore(services: Services, upload: OpenUpload): Promise<void> {
  try {
    const dataSource = await dataSourceOf(services, upload);
    await abortMultipart(services.objects.of(dataSource).multipart(upload.objectKey), upload.storeUploadId);
  } catch (error) {
    services.log.warn({ err: error, handle: upload.handle }, 'parts of an upload left to the sweeper');
  }
}
