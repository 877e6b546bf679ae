/** Bodies of requests to object stores. */
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';

export type Pieces = AsyncIterator<Buffer, void, undefined>;

/**
 * The type of every object. The caller's type is stored in the output's row alone: stores act on the types of some
 * requests (a form is parsed), and refuse others.
 */
export const objectContentType = 'application/octet-stream';

/** The bytes to be sent are not those that were received. */
export class BytesDiffer extends Error {
  constructor() {
    super('The bytes to send differ from the received ones.');
    this.name = 'BytesDiffer';
  }
}

const bodyBufferBytes = 64 * 1024;

/**
 * Sends one request with pieces as its body. A failing piece aborts the request, and its error is the one to report; a
 * request that ends early leaves the rest unread.
 */
export async function sendBody<T>(
  signal: AbortSignal,
  pieces: Pieces,
  send: (body: Readable, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const broken = new AbortController();
  let failure: unknown;
  // The stream itself never fails: the client's own wrappers would lose the error.
  const body = new Readable({
    highWaterMark: bodyBufferBytes,
    read() {
      pieces.next().then(
        (next) => this.push(next.done === true ? null : next.value),
        (error) => {
          failure = error;
          broken.abort();
        },
      );
    },
  });
  try {
    return await send(body, AbortSignal.any([signal, broken.signal]));
  } catch (error) {
    throw failure ?? error;
  } finally {
    body.destroy();
  }
}

/** Sets headers of a request before it is signed. */
export function setHeaders(
  command: PutObjectCommand | UploadPartCommand,
  headers: Readonly<Record<string, string>>,
): void {
  // The two stacks differ in types of input and output alone, which this step does not read.
  (command.middlewareStack as PutObjectCommand['middlewareStack']).add(
    (next) => async (step) => {
      Object.assign((step.request as { headers: Record<string, string> }).headers, headers);
      return await next(step);
    },
    { step: 'build', name: 'setHeaders' },
  );
}

const checksumName = 'x-amz-checksum-crc32';
/** S3 refuses pieces below 8 KB, but for the last. */
const minPieceBytes = 16 * 1024;

/** Headers of a request whose body comes out of {@link withTrailer}. */
export function trailerHeaders(contentBytes: number): Record<string, string> {
  return {
    'content-encoding': 'aws-chunked',
    // Gives the request a connection of its own: some stores leave the end of such a body unread, where the next
    // request on the connection would begin. It also lets a store refuse before the first byte.
    Expect: '100-continue',
    'transfer-encoding': 'chunked',
    'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    'x-amz-decoded-content-length': String(contentBytes),
    'x-amz-trailer': checksumName,
  };
}

/**
 * Frames pieces with their lengths and puts a CRC-32 after them (S3's `aws-chunked`), so that a store sees whether it
 * got everything. The SDK can do so too, but its stream ends the process when the source fails.
 * @param expected the CRC-32 of the received bytes, read at the end: if other bytes would be sent, nothing is stored
 */
export async function* withTrailer(
  pieces: Pieces,
  expected: () => number,
): AsyncGenerator<Buffer, void, undefined> {
  let sum = 0;
  let end = '';
  for await (const piece of joined(pieces)) {
    sum = crc32(piece, sum);
    yield Buffer.from(`${end}${piece.length.toString(16)}\r\n`);
    yield piece;
    end = '\r\n';
  }
  if (sum !== expected()) throw new BytesDiffer();
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(sum);
  yield Buffer.from(`${end}0\r\n${checksumName}:${bytes.toString('base64')}\r\n\r\n`);
}

async function* joined(pieces: Pieces): AsyncGenerator<Buffer, void, undefined> {
  let small: Buffer[] = [];
  let smallBytes = 0;
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    const piece = next.value;
    if (smallBytes === 0 && piece.length >= minPieceBytes) {
      yield piece;
      continue;
    }
    small.push(piece);
    smallBytes += piece.length;
    if (smallBytes < minPieceBytes) continue;
    yield Buffer.concat(small);
    small = [];
    smallBytes = 0;
  }
  if (smallBytes > 0) yield Buffer.concat(small);
}
