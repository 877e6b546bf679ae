/** Writing outputs of any size within bounded memory. */
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { TaskCalls } from '../calls/task-calls.ts';
import type { OutputWire } from '../calls/wire.ts';
import { type OutputLimits, type PartedOutput, PartMemory, uploadInParts } from './multi-part.ts';
import { type OutputOptions, outputHeaders } from './output-headers.ts';
import { type Bytes, isBytes, type Part, PartReader, type Source, toBytes } from './part-reader.ts';

export interface WrittenOutput {
  readonly outputId: number;
  readonly outputIdentifier: string;
  /** As stored. */
  readonly sizeBytes: number;
  /** Lower-case hexadecimal; null for what was written in several parts. */
  readonly sha256: string | null;
  readonly createdAt: Date;
  /** False when the node had an output of this identifier already; its bytes are unchanged. */
  readonly created: boolean;
}

/** An output before it is sent. */
export interface NewOutput {
  readonly source: Source;
  readonly options: OutputOptions;
  readonly identifier: string;
  /** Resolves when the call that makes the output count may be sent; its bytes are read before. */
  readonly mayCount: () => Promise<unknown>;
}

/** @returns the output and whether it was written now */
export async function writeOutput(
  calls: TaskCalls,
  limits: OutputLimits,
  { source, options, identifier, mayCount }: NewOutput,
): Promise<WrittenOutput> {
  const isText = typeof source === 'string';
  const headers = outputHeaders(
    options,
    identifier,
    isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
  );
  // A byte array that fits is sent without a copy.
  if (isBytes(source) && options.gzip !== true) {
    const bytes = toBytes(source);
    if (bytes.length <= limits.singleBytes) return await single(calls, headers, [bytes], mayCount);
  }
  const memory = new PartMemory(limits.bufferBytes, limits.partBytes);
  const reader = new PartReader(options.gzip === true ? gzipped(source) : source, memory.make);
  try {
    return await writeRead(calls, limits, { reader, memory, headers, mayCount });
  } finally {
    await reader.close().catch(() => undefined);
  }
}

/** One request when the source ends early enough, else parts. */
async function writeRead(
  calls: TaskCalls,
  limits: OutputLimits,
  { reader, memory, headers, mayCount }: Omit<PartedOutput, 'first'>,
): Promise<WrittenOutput> {
  const first: Part[] = [];
  let sizeBytes = 0;
  let isLast = false;
  // Full parts even when the last one exceeds a single request: only an upload's last part may be small.
  while (!isLast && sizeBytes < limits.singleBytes) {
    calls.signal.throwIfAborted();
    const part = await reader.read(limits.partBytes);
    first.push(part);
    sizeBytes += part.bytes.length;
    isLast = part.isLast;
  }
  if (isLast && sizeBytes <= limits.singleBytes) {
    const bytes = first.map((part) => part.bytes);
    return await single(calls, headers, bytes, mayCount);
  }
  const reply = await uploadInParts(calls, limits, { first, reader, memory, headers, mayCount });
  return written(reply.body, reply.status === 201);
}

async function single(
  calls: TaskCalls,
  headers: Readonly<Record<string, string>>,
  bytes: readonly Uint8Array[],
  mayCount: NewOutput['mayCount'],
): Promise<WrittenOutput> {
  await mayCount();
  const { status, body } = await calls.writeOutput({ ...headers }, bytes);
  return written(body, status === 201);
}

function written(wire: OutputWire, created: boolean): WrittenOutput {
  return { ...wire, createdAt: new Date(wire.createdAt), created };
}

function gzipped(source: Source): Source {
  const plain = Readable.from(bytesOf(isBytes(source) ? [source] : source));
  // A source that fails makes the reader fail, by the last stream.
  return pipeline(plain, createGzip(), () => undefined);
}

async function* bytesOf(source: Exclude<Source, Bytes>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) yield toBytes(chunk);
}
