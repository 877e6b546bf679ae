/** Outputs above the size of one request: parts in parallel, within a bound of memory. */
import { createHash } from 'node:crypto';
import type { Reply } from '../calls/connection.ts';
import type { TaskCalls } from '../calls/task-calls.ts';
import type { OutputWire, UploadWire } from '../calls/wire.ts';
import { NetworkError } from '../errors.ts';
import type { Part, PartReader } from './part-reader.ts';

export interface OutputLimits {
  /** Largest output of one request. */
  readonly singleBytes: number;
  /** Size of a part of larger ones, to begin with. */
  readonly partBytes: number;
  /** Memory for the parts of one output that are being sent. */
  readonly bufferBytes: number;
}

/** Parts of one size; then the size doubles, so that ten thousand parts hold any output. */
const partsOfOneSize = 1_000;
const triesOfBrokenParts = 3;

/** Buffers for parts, used again: bytes outside the heap are freed late. */
export class PartMemory {
  readonly boundBytes: number;
  readonly #reusedBytes: number;
  readonly #free: Uint8Array[] = [];

  /** @param reusedBytes the size of buffers that are kept for the next part */
  constructor(boundBytes: number, reusedBytes: number) {
    this.boundBytes = boundBytes;
    this.#reusedBytes = reusedBytes;
  }

  readonly make = (sizeBytes: number): Uint8Array =>
    (sizeBytes === this.#reusedBytes ? this.#free.pop() : undefined) ?? Buffer.allocUnsafeSlow(sizeBytes);

  /** Reuses a part's memory when nothing reads it any more. */
  readonly free = ({ buffer }: Uint8Array): void => {
    if (buffer.byteLength === this.#reusedBytes) this.#free.push(new Uint8Array(buffer));
  };
}

export interface PartedOutput {
  /** Read already. */
  readonly first: readonly Part[];
  readonly reader: PartReader;
  readonly memory: PartMemory;
  readonly headers: Readonly<Record<string, string>>;
  /** Resolves when the output may be completed. */
  readonly mayCount: () => Promise<unknown>;
}

/**
 * Sends an output by parts. A part without an answer is sent again, under the same number.
 * @returns status 201 for a new output, 200 for one that already existed (the source is then not read to its end)
 */
export async function uploadInParts(
  calls: TaskCalls,
  limits: OutputLimits,
  output: PartedOutput,
): Promise<Reply<OutputWire>> {
  const started = await calls.startUpload({ ...output.headers });
  if (!('handle' in started.body)) return { status: started.status, body: started.body };
  const upload = started.body;
  try {
    await sendParts(calls, limits, upload, output);
    await output.mayCount();
    return await calls.completeUpload(upload.handle);
  } catch (error) {
    // It ends with its task anyway.
    if (!calls.signal.aborted) await calls.abortUpload(upload.handle).catch(() => undefined);
    throw error;
  }
}

async function sendParts(
  calls: TaskCalls,
  limits: OutputLimits,
  upload: UploadWire,
  { first, reader, memory }: PartedOutput,
): Promise<void> {
  const flight = new Flight();
  const waiting = [...first];
  try {
    for (let number = 1; ; number += 1) {
      calls.signal.throwIfAborted();
      const sizeBytes = partSize(number, limits.partBytes, upload);
      await flight.until((bytes) => bytes === 0 || bytes + sizeBytes <= memory.boundBytes);
      const part = waiting.shift() ?? (await reader.read(sizeBytes));
      flight.add(part.bytes.length, async () => {
        await sendPart(calls, upload.handle, number, part.bytes);
        memory.free(part.bytes);
      });
      if (part.isLast) return await flight.until((bytes) => bytes === 0);
      if (number === upload.maxParts) throw new RangeError(`The output needs more than ${number} parts.`);
    }
  } finally {
    await flight.settled();
  }
}

function partSize(number: number, firstBytes: number, upload: UploadWire): number {
  const doubled = firstBytes * 2 ** Math.floor((number - 1) / partsOfOneSize);
  return Math.max(upload.minPartBytes, Math.min(upload.maxPartBytes, doubled));
}

/** Sends a part until the received bytes match the sent ones. */
async function sendPart(calls: TaskCalls, handle: string, number: number, bytes: Uint8Array): Promise<void> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  for (let tries = 1; ; tries += 1) {
    const reply = await calls.writePart(handle, number, bytes);
    if (reply.sizeBytes === bytes.length && (reply.sha256 ?? sha256) === sha256) return;
    if (tries === triesOfBrokenParts) throw new NetworkError(`part ${number} arrived changed`);
  }
}

/** Running work, counted in bytes. The next wait throws the first failure. */
class Flight {
  readonly #works = new Set<Promise<void>>();
  #bytes = 0;
  #failure: { readonly error: unknown } | undefined;

  add(bytes: number, send: () => Promise<void>): void {
    this.#bytes += bytes;
    const work = send()
      .catch((error) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#bytes -= bytes;
        this.#works.delete(work);
      });
    this.#works.add(work);
  }

  async until(isFine: (bytes: number) => boolean): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (isFine(this.#bytes)) return;
      await Promise.race(this.#works);
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#works);
  }
}
