/** Serving the bytes of an output, for every route that does (contract: Node instances and outputs; decisions 8). */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import {
  acceptsGzip,
  type ByteRange,
  type DownloadReply,
  headersAtStore,
  serveBytes,
  sizeHeader,
} from '../http/bodies/download.ts';
import { paced } from '../http/bodies/paced.ts';
import type { DataSourceRow } from '../store/objects/data-sources.ts';
import { ObjectStoreError } from '../store/objects/object-store.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';
import type { OutputBytes } from '../store/outputs/outputs.ts';
import type { Services } from './services.ts';

export interface ServeOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  /** Sent instead of the stored Content-Type. */
  readonly contentType?: string;
  /** Sent instead of the output's identifier. */
  readonly fileName?: string;
}

/** Opens the stored bytes of an output, or a part of them; the output may be a slice of a bundled object. */
export async function openStoredBytes(
  stores: ObjectStores,
  dataSource: DataSourceRow,
  bytes: OutputBytes,
  range: ByteRange | null,
  signal: AbortSignal,
): Promise<Readable> {
  const offset = bytes.objectOffset ?? 0;
  const isWhole = range === null && bytes.objectOffset === null;
  const { start, end } = range ?? { start: 0, end: bytes.sizeBytes - 1 };
  const { stream } = await stores.of(dataSource).get(bytes.objectKey, {
    signal,
    ...(isWhole ? {} : { range: { start: offset + start, end: offset + end } }),
  });
  return stream;
}

const describedBytes = (bytes: OutputBytes, sent: Pick<ServeOptions, 'contentType' | 'fileName'>) => ({
  sizeBytes: bytes.sizeBytes,
  etag: bytes.sha256 ?? bytes.etag,
  contentType: sent.contentType ?? bytes.contentType,
  contentEncoding: bytes.contentEncoding,
  fileName: sent.fileName ?? bytes.outputIdentifier,
});

/**
 * The reply with an output's bytes. The store is read before the reply's head is sent, so that its failure still gets
 * its own status.
 * @throws Problem `nodeOutputNotFound`, `rangeNotSatisfiable`, `upstreamFailed`, `unavailable`
 */
export async function serveOutput(
  services: Pick<Services, 'objects' | 'log'>,
  dataSource: DataSourceRow,
  bytes: OutputBytes,
  options: ServeOptions,
): Promise<DownloadReply | { status: 200 | 206; headers: Record<string, string>; stream: Readable }> {
  const isHead = options.method === 'HEAD';
  const reply = serveBytes({
    // A range is a matter of GET alone (RFC 9110, 14.2).
    requestHeaders: isHead ? { ...options.headers, range: undefined } : options.headers,
    ...describedBytes(bytes, options),
    open: (range) => openStoredBytes(services.objects, dataSource, bytes, range, options.signal),
  });
  if (reply.status === 304 || isHead) return reply;
  const isDecoded = bytes.contentEncoding === 'gzip' && !acceptsGzip(options.headers['accept-encoding']);
  const { status, headers } = reply;
  try {
    const stream = await reply.stream();
    if (isDecoded) await firstBytes(stream);
    return { status, headers, stream: paced(stream) };
  } catch (error) {
    throw storageProblem(error, services.log, bytes.objectKey);
  }
}

/** As `serveOutput`; with `redirect` large bytes are left to the store where callers can reach it. */
export async function sendOutput(
  services: Pick<Services, 'objects' | 'log'>,
  dataSource: DataSourceRow,
  bytes: OutputBytes,
  options: ServeOptions & { readonly redirect: boolean },
) {
  const location = options.redirect ? await addressAtStore(services, dataSource, bytes, options) : undefined;
  return location ?? (await serveOutput(services, dataSource, bytes, options));
}

/** Undefined where the bytes have to pass through this process. */
async function addressAtStore(
  { objects, log }: Pick<Services, 'objects' | 'log'>,
  dataSource: DataSourceRow,
  bytes: OutputBytes,
  options: ServeOptions,
): Promise<{ status: 307; headers: Record<string, string> } | undefined> {
  // A slice of an object cannot be signed: the address would open the whole one.
  if (bytes.objectOffset !== null || bytes.sizeBytes < limits.redirectedDownloadBytes) return undefined;
  const { method, headers: requestHeaders } = options;
  const headers = headersAtStore({ method, requestHeaders, ...describedBytes(bytes, options) });
  if (headers === undefined) return undefined;
  const location = await objects.downloadAddress(dataSource, bytes.objectKey, headers).catch((error) => {
    throw storageProblem(error, log, bytes.objectKey);
  });
  if (location === undefined) return undefined;
  const { etag } = headers;
  const sizeBytes = String(bytes.sizeBytes);
  return {
    status: 307,
    headers: { location, 'cache-control': 'no-store', [sizeHeader]: sizeBytes, ...(etag && { etag }) },
  };
}

/** Waits for the first bytes, so that invalid gzip is reported before the head is sent. */
async function firstBytes(stream: Readable): Promise<void> {
  if (stream.readableLength === 0 && !stream.readableEnded) await once(stream, 'readable');
}

/**
 * The problem to answer when stored bytes cannot be read; unknown errors pass unchanged. Lost bytes are logged: the 404
 * shows them to the caller alone.
 */
export function storageProblem(error: unknown, log: Services['log'], objectKey: string): unknown {
  if (error instanceof ObjectStoreError) {
    if (error.kind === 'missing') {
      log.error({ err: error, objectKey }, 'the bytes of an output are missing');
      return new Problem('nodeOutputNotFound', { cause: error });
    }
    return new Problem(error.httpStatus === 503 ? 'unavailable' : 'upstreamFailed', { cause: error });
  }
  if (isGzipFault(error)) {
    const message = 'The stored gzip data cannot be decoded. Request it with Accept-Encoding: gzip.';
    return new Problem('upstreamFailed', { message, cause: error });
  }
  return error;
}

/** True for the errors that zlib throws when bytes are not gzip. */
export function isGzipFault(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith('Z_');
}
