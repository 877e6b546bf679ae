/** From a request's bytes to an object that waits to be published: for uploads and outputs of runners. */
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import {
  type HeaderValues,
  type OutputHeaders,
  readContentEncoding,
  readOutputHeaders,
  readSentDigests,
  type SentDigests,
  storedEncoding,
} from '../../domain/outputs/output-headers.ts';
import { safeMediaType } from '../../http/headers.ts';
import type { UploadBody } from '../../http/route.ts';
import { noteKeyedBody } from '../../store/connection/idempotency.ts';
import type { DataSourceRow } from '../../store/objects/data-sources.ts';
import { newOutputKey, type PutResult } from '../../store/objects/object-store.ts';
import { PendingNodeGone } from '../../store/objects/pending-objects.ts';
import { type UploadKind, uploadEnded } from '../../telemetry/metrics.ts';
import type { Services } from '../services.ts';
import { bytesProblem, checkDigests } from './bytes-problem.ts';

/** An object in its store with a pending row: `pending.release` it once published, or `pending.discard` it. */
export interface ReceivedObject extends OutputHeaders {
  readonly objectKey: string;
  readonly dataSourceId: number;
  readonly contentType: string | null;
  readonly contentEncoding: 'gzip' | null;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly etag: string;
}

/** What a request's headers say about the bytes that follow. */
export interface SaidOfBytes extends OutputHeaders {
  readonly contentType: string | null;
  readonly contentEncoding: 'gzip' | null;
  readonly sent: SentDigests;
}

/** @throws Problem for invalid headers */
export function readSaidOfBytes(headers: HeaderValues): SaidOfBytes {
  const contentType = headers['content-type'];
  return {
    ...readOutputHeaders(headers),
    contentEncoding: readContentEncoding(headers['content-encoding']),
    sent: readSentDigests(headers),
    contentType: contentType === undefined ? null : safeMediaType(contentType),
  };
}

export interface ReceiveOptions {
  /** The kind under which metrics count its bytes and time. */
  readonly kind: UploadKind;
  readonly dataSource: DataSourceRow;
  readonly said: SaidOfBytes;
  readonly body: UploadBody;
  readonly maxBytes: number;
  /** The node to which a caller uploads; outputs of tasks have none. */
  readonly nodeInstanceId?: number;
  /** Of a pending row that the caller has written; default: a new one. */
  readonly objectKey?: string;
  /** The refusal for more; default `bodyTooLarge`. */
  readonly tooLarge?: ProblemKey;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  /** Called for each received chunk. */
  readonly onBytes?: (count: number) => void;
}

/**
 * Stores a request's bytes. No database connection is held while they flow.
 * @throws Problem for what the caller did wrong (size, checksum, too slow); anything else is a failure of storage or
 *   database. No object is left then.
 */
export async function receiveObject(
  services: Pick<Services, 'objects' | 'pending'>,
  options: ReceiveOptions,
): Promise<ReceivedObject> {
  const { body, dataSource } = options;
  const { sent, contentEncoding, ...said } = options.said;
  const tooLarge = options.tooLarge ?? 'bodyTooLarge';
  if (body.declaredBytes !== null && body.declaredBytes > options.maxBytes) throw new Problem(tooLarge);
  const startedAtMs = performance.now();
  const seconds = () => (performance.now() - startedAtMs) / 1000;
  const objectKey = options.objectKey ?? newOutputKey();
  if (options.objectKey === undefined) await beginObject(services.pending, objectKey, options);
  let stored: PutResult;
  try {
    stored = await services.objects.of(dataSource).put(objectKey, body.open(), {
      declaredBytes: body.declaredBytes,
      maxBytes: options.maxBytes,
      withMd5: sent.md5 !== null,
      signal: options.signal,
      ...(options.onBytes === undefined ? {} : { onBytes: options.onBytes }),
    });
    checkDigests(sent, stored);
    noteKeyedBody(stored);
  } catch (error) {
    uploadEnded(options.kind, seconds(), null);
    await services.pending.discard(objectKey, dataSource);
    throw bytesProblem(error, { tooLarge: new Problem(tooLarge), signal: options.signal });
  }
  uploadEnded(options.kind, seconds(), stored.sizeBytes);
  return {
    ...said,
    objectKey,
    dataSourceId: dataSource.id,
    contentEncoding: storedEncoding(stored.sizeBytes, contentEncoding),
    sizeBytes: stored.sizeBytes,
    sha256: stored.sha256,
    etag: stored.sha256,
  };
}

async function beginObject(pending: Services['pending'], objectKey: string, options: ReceiveOptions) {
  try {
    await pending.begin(objectKey, options.dataSource.id, options.nodeInstanceId);
  } catch (error) {
    if (error instanceof PendingNodeGone) throw new Problem('nodeInstanceNotFound');
    throw error;
  }
}
