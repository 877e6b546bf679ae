/** Reading stored bytes over connections that may break. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { BackOff } from '../calls/back-off.ts';
import { bodyOf } from '../calls/http-request.ts';
import type { TaskCalls } from '../calls/task-calls.ts';
import { Checksum, OtherBytes } from './checksum.ts';

const silenceMs = 60_000;
const maxBackOffMs = 5_000;

export interface StoredBytes {
  readonly outputId: number;
  readonly sizeBytes: number;
  readonly contentEncoding: string | null;
}

/**
 * The bytes of an input as stored; after a break it asks for the rest by Range, or skips the bytes that it already has.
 * Where the platform announces their SHA-256 they are checked: the last bytes of a wrong read are never handed out.
 */
export function readResumed(calls: TaskCalls, stored: StoredBytes): Readable {
  const over = new AbortController();
  const signal = AbortSignal.any([calls.signal, over.signal]);
  const stream = Readable.from(chunks(calls, stored, signal), { objectMode: false });
  const destroy = stream._destroy;
  // At once, and not on close: it closes only when the pending answer has arrived.
  stream._destroy = function (this: Readable, error, callback) {
    over.abort();
    destroy.call(this, error, callback);
  };
  return stream;
}

async function* chunks(
  calls: TaskCalls,
  stored: StoredBytes,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, void> {
  const backOff = new BackOff(maxBackOffMs);
  const place: Place = {
    receivedBytes: 0,
    etag: undefined,
    checksum: new Checksum(undefined),
    isFirst: true,
  };
  while (place.receivedBytes < stored.sizeBytes || stored.sizeBytes === 0) {
    try {
      const message = await open(calls, stored, place, signal);
      let skipBytes = skippedBytes(message, place);
      for await (const chunk of bodyOf(message, silenceMs)) {
        signal.throwIfAborted();
        const fresh = skipBytes === 0 ? chunk : chunk.subarray(skipBytes);
        skipBytes -= chunk.length - fresh.length;
        if (fresh.length === 0) continue;
        place.receivedBytes += fresh.length;
        place.checksum.update(fresh);
        if (place.receivedBytes === stored.sizeBytes) place.checksum.check(stored.outputId);
        backOff.reset();
        yield fresh;
      }
      if (place.receivedBytes !== stored.sizeBytes) {
        throw new Error(
          `Input ${stored.outputId} came with ${place.receivedBytes} of ${stored.sizeBytes} bytes.`,
        );
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OtherBytes) calls.avoidStore();
      if (!backOff.isWorthIt(error)) throw error;
      await backOff.wait(error, signal);
    }
  }
}

interface Place {
  receivedBytes: number;
  etag: string | undefined;
  /** The checksum of the bytes received so far. */
  checksum: Checksum;
  /** No try was made yet. */
  isFirst: boolean;
}

/** Requests exactly the stored bytes: plain bytes stay plain on the way, and gzip stays gzip. */
async function open(
  calls: TaskCalls,
  stored: StoredBytes,
  place: Place,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const coding = stored.contentEncoding ?? 'identity';
  const headers = { 'accept-encoding': coding, ...rangeHeaders(place) };
  const { isFirst } = place;
  place.isFirst = false;
  const message = await calls.openInput(stored.outputId, { isFirst, headers, signal });
  const sent = message.headers['content-encoding'] ?? 'identity';
  if (sent === coding) return message;
  message.destroy();
  throw new Error(`Input ${stored.outputId} came as ${sent} and is stored as ${coding}.`);
}

function rangeHeaders({ receivedBytes, etag }: Place): Record<string, string> {
  if (receivedBytes === 0) return {};
  return {
    range: `bytes=${receivedBytes}-`,
    // Only a strong tag is allowed there.
    ...(etag === undefined || etag.startsWith('W/') ? {} : { 'if-range': etag }),
  };
}

/** How many bytes of this answer were already read. Throws when the stored bytes are different ones. */
function skippedBytes(message: IncomingMessage, place: Place): number {
  const { etag } = message.headers;
  if (place.receivedBytes > 0 && etag !== place.etag) {
    message.destroy();
    throw new Error('The input changed while it was read.');
  }
  place.etag = etag;
  if (place.receivedBytes === 0) place.checksum = new Checksum(etag);
  if (place.receivedBytes === 0 || message.statusCode !== 206) return place.receivedBytes;
  const start = /^bytes (\d+)-/.exec(message.headers['content-range'] ?? '')?.[1];
  if (Number(start) === place.receivedBytes) return 0;
  message.destroy();
  throw new Error(`A range from byte ${place.receivedBytes} was asked for, and one from ${start} came.`);
}
