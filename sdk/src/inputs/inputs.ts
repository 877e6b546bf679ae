/** Inputs of a task: lists by pages, bytes as streams that survive broken connections. */
import type { Readable } from 'node:stream';
import type { TaskCalls } from '../calls/task-calls.ts';
import type { InputMode, InputWire } from '../calls/wire.ts';
import { messageOf, TaskFailure } from '../errors.ts';
import { OtherBytes } from './checksum.ts';
import {
  type LineOptions,
  type Row,
  type RowOptions,
  readLines,
  readNamedRows,
  readRows,
} from './delimited-text.ts';
import { readResumed } from './resumed-read.ts';
import { sourceKeyOf } from './source-key.ts';
import { boundTo } from './task-stream.ts';
import { unzip } from './unzip.ts';

const pageInputs = 100;
const bytesDefaultMax = 256 * 1024 * 1024;

/** An output of a parent node (or, as `previousOutput`, of the node itself). */
export interface InputInfo {
  readonly outputId: number;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  /** `gzip` when it is stored compressed. */
  readonly contentEncoding: string | null;
  /** As stored. */
  readonly sizeBytes: number;
  /** The SHA-256 of the stored bytes, lower-case hexadecimal; null where none was computed. */
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** Stays the same when its node makes it again: the source key of the output, else a name of what it came from. */
  readonly sourceKey: string;
  readonly createdAt: Date;
}

export interface ReadLimit {
  /** More than this rejects with a RangeError; default 256 MiB, after decoding. */
  readonly maxBytes?: number;
}

export class Input implements InputInfo {
  readonly outputId: number;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly sourceKey: string;
  readonly createdAt: Date;
  readonly #calls: TaskCalls;
  /** Opens the stream when it is read first. */
  readonly #bytes: AsyncIterable<Buffer> = {
    [Symbol.asyncIterator]: () => this.stream()[Symbol.asyncIterator](),
  };

  constructor(wire: InputWire, calls: TaskCalls) {
    const info = inputInfo(wire);
    this.outputId = info.outputId;
    this.nodeInstanceId = info.nodeInstanceId;
    this.nodeName = info.nodeName;
    this.outputIdentifier = info.outputIdentifier;
    this.contentType = info.contentType;
    this.contentEncoding = info.contentEncoding;
    this.sizeBytes = info.sizeBytes;
    this.sha256 = info.sha256;
    this.metadata = info.metadata;
    this.sourceKey = info.sourceKey;
    this.createdAt = info.createdAt;
    this.#calls = calls;
  }

  /**
   * The bytes, decoded. After a broken connection the read resumes where it broke, so the reader sees one complete stream; it
   * fails only for a definite refusal (ApiError), broken gzip (TaskFailure `validation`), bytes that are not those of the
   * platform, or when the task is cancelled. It ends with its task.
   * @param options `raw` returns the bytes as stored, compressed or not
   */
  stream(options: { readonly raw?: boolean } = {}): Readable {
    const stored = readResumed(this.#calls, this);
    const isPlain = options.raw === true || this.contentEncoding !== 'gzip';
    return boundTo(this.#calls, isPlain ? stored : unzip(stored));
  }

  /**
   * The lines of a UTF-8 text of any size, without their line breaks (`\n` or `\r\n`) and a byte order mark. Leaving
   * the loop ends the read.
   * @throws TaskFailure `validation` with the line, for one that is too long or not text; and as {@link Input.stream}
   */
  lines(options: LineOptions = {}): AsyncGenerator<string, void, void> {
    return readLines(this.#bytes, options);
  }

  /**
   * The rows of a comma-, semicolon- or tab-separated table of any size, by the names of its header; with `header:
   * false` each as the list of its fields. All values are text. Quoted fields may hold delimiters, line breaks and
   * doubled quotes. Leaving the loop ends the read.
   * @throws TaskFailure `validation` with the line, when it is not a table; and as {@link Input.stream}
   */
  rows(options: RowOptions & { readonly header: false }): AsyncGenerator<readonly string[], void, void>;
  rows(options?: RowOptions): AsyncGenerator<Row, void, void>;
  rows(options: RowOptions = {}): AsyncGenerator<Row | readonly string[], void, void> {
    const read = options.header === false ? readRows : readNamedRows;
    return read(this.#bytes, options);
  }

  /** All bytes, decoded. @throws RangeError for more than the limit, and as {@link Input.stream} */
  async bytes(limit: ReadLimit = {}): Promise<Buffer> {
    const { maxBytes = bytesDefaultMax } = limit;
    try {
      return await this.#readAll(maxBytes);
    } catch (error) {
      if (!(error instanceof OtherBytes)) throw error;
      // The store is not asked any more.
      return await this.#readAll(maxBytes);
    }
  }

  async #readAll(maxBytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of this.stream()) {
      sizeBytes += (chunk as Buffer).length;
      if (sizeBytes > maxBytes) {
        throw new RangeError(
          `Input ${this.outputId} holds more than ${maxBytes} bytes; read it by stream().`,
        );
      }
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks, sizeBytes);
  }

  /**
   * All of it as UTF-8 text, without a byte order mark.
   * @throws as {@link Input.bytes}; TaskFailure `validation` for bytes that are not text
   */
  async text(limit: ReadLimit = {}): Promise<string> {
    const bytes = await this.bytes(limit);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch (cause) {
      throw new TaskFailure('validation', 'it holds bytes that are not UTF-8 text', { cause });
    }
  }

  /** All of it parsed as JSON. @throws TaskFailure `validation` for what is no JSON, and as {@link Input.text} */
  async json<T = unknown>(limit: ReadLimit = {}): Promise<T> {
    const text = await this.text(limit);
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new TaskFailure('validation', `it is no JSON: ${messageOf(cause)}`, { cause });
    }
  }
}

/** All inputs of a mode, oldest first; a page is fetched when the one before is used up. */
export async function* listInputs(calls: TaskCalls, mode: InputMode): AsyncGenerator<Input, void, void> {
  let cursor: string | null = null;
  do {
    const page = await calls.inputs(mode, cursor, pageInputs);
    for (const wire of page.inputs) yield new Input(wire, calls);
    cursor = page.nextCursor;
  } while (cursor !== null);
}

export function inputInfo(wire: InputWire): InputInfo {
  return { ...wire, sourceKey: sourceKeyOf(wire), createdAt: new Date(wire.createdAt) };
}
