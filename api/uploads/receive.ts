/** From a request's bytes to an object that waits to be published: for uploads and outputs of runners. */
import { bodyTooLarge, Problem, type ProblemKey } from '../../domain/errors.ts';
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
import { PendingNodeGone } from '../../store/objects/held-objects.ts';
import { newOutputKey, type PutResult } from '../../store/objects/object-store.ts';
import { type UploadKind, uploadEnded } from '../../telemetry/metrics.ts';
import type { Services } from '../services.ts';
import { bytesProblem, checkDigests } from './bytes-problem.ts';

/** An object in its store with a pending row, which goes when something refers to the object. */
export interface ReceivedObject extends OutputHeaders {
  readonly objectKey: string;
  readonly dataSourceId: number;
  readonly contentType: string | null;
  readonly contentEncoding: 'gzip' | null;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly etag: string;
}

/** What a request's headers say about an output. */
interface ContentHeaders extends OutputHeaders {
  readonly contentType: string | null;
  readonly contentEncoding: 'gzip' | null;
}

/** The same, where its bytes follow. */
export interface UploadHeaders extends ContentHeaders {
  readonly sent: SentDigests;
}

/** @throws Problem for invalid headers */
export function readContentHeaders(headers: HeaderValues): ContentHeaders {
  const contentType = headers['content-type'];
  return {
    ...readOutputHeaders(headers),
    contentEncoding: readContentEncoding(headers['content-encoding']),
    contentType: contentType === undefined ? null : safeMediaType(contentType),
  };
}

/** @throws Problem for invalid headers */
export function readUploadHeaders(headers: HeaderValues): UploadHeaders {
  return { ...readContentHeaders(headers), sent: readSentDigests(headers) };
}

export interface ReceiveOptions {
  /** The kind under which metrics count its bytes and time. */
  readonly kind: UploadKind;
  readonly dataSource: DataSourceRow;
  readonly announced: UploadHeaders;
  readonly body: UploadBody;
  readonly maxBytes: number;
  /** The node to which a caller uploads; outputs of tasks have none. */
  readonly nodeInstanceId?: number;
  /** The key of a pending row that the caller has just written; default: a new one. */
  readonly objectKey?: string;
  /** The refusal for more; default `bodyTooLarge`. */
  readonly tooLarge?: ProblemKey;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  /** Called for each received chunk. */
  readonly onBytes?: (count: number) => void;
  /** What the caller of the route is told when the bytes could not be stored; default: the error as it is. */
  readonly asRefusal?: (error: unknown) => unknown;
}

/**
 * Stores a request's bytes, and does the work that refers to the object. No database connection is held while they
 * flow. No object is left when this throws, or when the result of the work does not use it.
 * @throws Problem for what the caller did wrong (size, checksum, too slow); what the work throws; anything else is a
 *   failure of storage or database
 */
export async function receiveObject<T>(
  services: Pick<Services, 'objects' | 'pending'>,
  options: ReceiveOptions,
  work: (received: ReceivedObject) => Promise<T>,
  isUsed: (result: T) => boolean,
): Promise<T> {
  const { body, dataSource, nodeInstanceId, maxBytes } = options;
  if (body.declaredBytes !== null && body.declaredBytes > maxBytes) throw tooLarge(options);
  const startedAtMs = performance.now();
  const objectKey = options.objectKey ?? newOutputKey();
  const object = { objectKey, dataSource, nodeInstanceId, hasRow: options.objectKey !== undefined };
  const receive = async () => {
    const stored = await storeBody(services, objectKey, options, startedAtMs);
    return await work(describe(objectKey, options, stored));
  };
  try {
    return await services.pending.hold(object, receive, isUsed);
  } catch (error) {
    if (error instanceof PendingNodeGone) throw new Problem('nodeInstanceNotFound');
    throw error;
  }
}

const tooLarge = ({ tooLarge: key, maxBytes }: ReceiveOptions) =>
  key === undefined ? bodyTooLarge(maxBytes) : new Problem(key);

async function storeBody(
  { objects }: Pick<Services, 'objects'>,
  objectKey: string,
  options: ReceiveOptions,
  startedAtMs: number,
): Promise<PutResult> {
  const { kind, dataSource, body, maxBytes, signal, onBytes, asRefusal = (error) => error } = options;
  const { sent } = options.announced;
  let storedBytes: number | null = null;
  try {
    const stored = await objects.of(dataSource).put(objectKey, body.open(), {
      declaredBytes: body.declaredBytes,
      maxBytes,
      withMd5: sent.md5 !== null,
      signal,
      caller: body.caller,
      ...(onBytes === undefined ? {} : { onBytes }),
    });
    checkDigests(sent, stored);
    noteKeyedBody(stored);
    storedBytes = stored.sizeBytes;
    return stored;
  } catch (error) {
    throw asRefusal(bytesProblem(error, { tooLarge: tooLarge(options), signal }));
  } finally {
    uploadEnded(kind, (performance.now() - startedAtMs) / 1000, storedBytes);
  }
}

function describe(objectKey: string, options: ReceiveOptions, stored: PutResult): ReceivedObject {
  const { sent: _sent, contentEncoding, ...announced } = options.announced;
  const { sizeBytes, sha256 } = stored;
  return {
    ...announced,
    objectKey,
    dataSourceId: options.dataSource.id,
    contentEncoding: storedEncoding(sizeBytes, contentEncoding),
    sizeBytes,
    sha256,
    etag: sha256,
  };
}
