/** The platform's side of one task, in memory: for tests and for saved cases. */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { Reply } from '../calls/connection.ts';
import type { TaskCalls } from '../calls/task-calls.ts';
import type {
  AnnotationWire,
  IncrementalWire,
  InputMode,
  InputsWire,
  InputWire,
  OutputWire,
  RejectionWire,
  StateWire,
  WatermarkWire,
} from '../calls/wire.ts';
import { ApiError, TaskCancelled } from '../errors.ts';

/** An input with its bytes as stored. */
export interface LocalInput {
  readonly wire: InputWire;
  /** The bytes as stored. */
  readonly open: () => Readable;
}

/** An output that the code has written. */
export interface LocalOutput {
  readonly identifier: string;
  readonly contentType: string;
  /** `gzip` when it is stored compressed. */
  readonly contentEncoding: 'gzip' | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly storedBytes: Buffer;
  /** The SHA-256 of the stored bytes, lower-case hexadecimal. */
  readonly sha256: string;
  /** As stored. */
  readonly sizeBytes: number;
  /** The bytes, decoded. */
  bytes(): Buffer;
  text(): string;
  json(): unknown;
}

export interface LocalRejection {
  readonly outputId: number;
  readonly category: string;
  readonly reason: string;
}

export interface LocalNode {
  /** Oldest first, consumed ones too. */
  readonly inputs: readonly LocalInput[];
  readonly watermark: number | null;
  readonly state: Readonly<Record<string, unknown>> | null;
  readonly previousOutput: StateWire['previousOutput'];
  /** What `since-watermark` lists; undefined: the first above the watermark, as many as a task gets. */
  readonly sinceWatermark: readonly number[] | undefined;
  /** What `latest` lists; undefined: the last input of each node. */
  readonly latest: readonly number[] | undefined;
  readonly maxInputsPerTask: number;
}

const outputIdsFrom = 1_000_000;

export class LocalTaskCalls implements TaskCalls {
  readonly signal: AbortSignal;
  readonly cancel: AbortSignal;
  readonly outputs = new Map<string, LocalOutput>();
  readonly published = new Set<string>();
  readonly rejected: LocalRejection[] = [];
  readonly annotations: AnnotationWire[] = [];
  readonly #node: LocalNode;
  readonly #ending = new AbortController();
  readonly #fresh: readonly LocalInput[];
  #watermark: number | null;
  /** How many of the inputs, which are in the order of their publication, the node has consumed. */
  #consumed: number;
  nodeState: Readonly<Record<string, unknown>> | null;

  constructor(node: LocalNode, cancel: AbortSignal) {
    this.#node = node;
    this.cancel = cancel;
    this.signal = AbortSignal.any([cancel, this.#ending.signal]);
    this.#watermark = node.watermark;
    this.nodeState = node.state;
    const { inputs, sinceWatermark } = node;
    const listed = inputs.filter(({ wire }) => sinceWatermark?.includes(wire.outputId));
    this.#consumed = listed[0] === undefined ? consumedBy(node) : inputs.indexOf(listed[0]);
    this.#fresh =
      sinceWatermark === undefined ? this.#aboveWatermark().slice(0, node.maxInputsPerTask) : listed;
  }

  get hasEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  finish(): void {
    this.#ending.abort(new TaskCancelled('ended'));
  }

  get incremental(): IncrementalWire {
    return { ...this.#position(), maxInputsPerTask: this.#node.maxInputsPerTask };
  }

  get watermark(): number | null {
    return this.#watermark;
  }

  unheard(error: unknown): void {
    if (!this.signal.aborted) throw error;
  }

  async inputs(mode: InputMode, cursor: string | null, limit: number): Promise<InputsWire> {
    this.signal.throwIfAborted();
    const start = Number(cursor ?? 0);
    const chosen = this.#chosen(mode);
    const page = chosen.slice(start, start + limit).map(({ wire }) => wire);
    const nextCursor = start + limit < chosen.length ? String(start + limit) : null;
    return { mode, inputs: page, nextCursor, incremental: this.incremental };
  }

  async state(): Promise<StateWire> {
    this.signal.throwIfAborted();
    const { previousOutput } = this.#node;
    return { previousOutput, state: this.nodeState, incremental: this.incremental };
  }

  async advance(inputId: number, state: unknown): Promise<WatermarkWire> {
    this.signal.throwIfAborted();
    this.#move(inputId);
    this.nodeState = (state as typeof this.nodeState) ?? this.nodeState;
    return this.#position();
  }

  async reject(outputId: number, category: string, reason: string): Promise<RejectionWire> {
    this.signal.throwIfAborted();
    this.#move(outputId);
    this.rejected.push({ outputId, category, reason });
    return this.#position();
  }

  async annotate(annotations: readonly AnnotationWire[]): Promise<void> {
    this.signal.throwIfAborted();
    this.annotations.push(...annotations);
  }

  async openInput(outputId: number): Promise<IncomingMessage> {
    this.signal.throwIfAborted();
    const input = this.#node.inputs.find(({ wire }) => wire.outputId === outputId);
    if (input === undefined) throw refusal(404, 'input_not_found', 'Input not found.');
    const { contentEncoding } = input.wire;
    const headers = contentEncoding === null ? {} : { 'content-encoding': contentEncoding };
    return Object.assign(input.open(), { statusCode: 200, headers, complete: true }) as never;
  }

  avoidStore(): void {
    // There is none.
  }

  async writeOutput(
    headers: Readonly<Record<string, string>>,
    bytes: readonly Uint8Array[],
  ): Promise<Reply<OutputWire>> {
    this.signal.throwIfAborted();
    const identifier = headers['x-platform-output-identifier'] ?? randomUUID();
    const isNew = !this.outputs.has(identifier);
    const output = this.outputs.get(identifier) ?? localOutput(identifier, headers, Buffer.concat(bytes));
    const watermark = headers['x-platform-watermark'];
    if (watermark !== undefined) this.#check(Number(watermark));
    this.outputs.set(identifier, output);
    if (watermark !== undefined) this.#move(Number(watermark));
    const { sizeBytes, sha256 } = output;
    const outputId = outputIdsFrom + [...this.outputs.keys()].indexOf(identifier);
    const createdAt = new Date().toISOString();
    const body = { outputId, outputIdentifier: identifier, sizeBytes, sha256, createdAt };
    return { status: isNew ? 201 : 200, body };
  }

  // Outputs of any size come in one request here.
  startUpload = neverCalled;
  writePart = neverCalled;
  completeUpload = neverCalled;
  abortUpload = neverCalled;
  end = neverCalled;

  #position(): { readonly watermark: number | null; readonly pendingInputs: number } {
    return { watermark: this.#watermark, pendingInputs: this.#aboveWatermark().length };
  }

  #indexOf(outputId: number): number {
    return this.#node.inputs.findIndex(({ wire }) => wire.outputId === outputId);
  }

  #aboveWatermark(): readonly LocalInput[] {
    return this.#node.inputs.slice(this.#consumed);
  }

  #chosen(mode: InputMode): readonly LocalInput[] {
    const { inputs, latest } = this.#node;
    if (mode === 'since-watermark') return this.#fresh;
    if (mode === 'all') return inputs;
    const newest = new Map(inputs.map(({ wire }) => [wire.nodeInstanceId, wire.outputId]));
    const ids = latest ?? [...newest.values()];
    return inputs.filter(({ wire }) => ids.includes(wire.outputId));
  }

  #check(inputId: number): void {
    if (inputId === this.#watermark) return;
    const index = this.#indexOf(inputId);
    if (index < 0) throw refusal(409, 'watermark_unknown_input', 'The id is not an input of this task.');
    if (index < this.#consumed)
      throw refusal(409, 'watermark_regression', 'The watermark may only move forward.');
  }

  #move(inputId: number): void {
    this.#check(inputId);
    this.#watermark = inputId;
    this.#consumed = Math.max(this.#consumed, this.#indexOf(inputId) + 1);
    this.publish();
  }

  /** What is written so far counts, however the task ends. */
  publish(): void {
    for (const identifier of this.outputs.keys()) this.published.add(identifier);
  }
}

/** How many inputs the watermark has consumed. A watermark that is no input is compared with the ids of the inputs. */
function consumedBy({ inputs, watermark }: LocalNode): number {
  const index = inputs.findIndex(({ wire }) => wire.outputId === watermark);
  if (index >= 0) return index + 1;
  const first = inputs.findIndex(({ wire }) => wire.outputId > (watermark ?? 0));
  return first < 0 ? inputs.length : first;
}

function neverCalled(): never {
  throw new Error('A local task makes no such call.');
}

function refusal(status: number, code: string, message: string): ApiError {
  return new ApiError({ status, code, message, retryAfterMs: null });
}

function localOutput(
  identifier: string,
  headers: Readonly<Record<string, string>>,
  storedBytes: Buffer,
): LocalOutput {
  const metadata = headers['x-platform-output-metadata'];
  const isPacked = headers['content-encoding'] === 'gzip';
  const bytes = () => (isPacked ? gunzipSync(storedBytes) : storedBytes);
  return {
    identifier,
    contentType: headers['content-type'] ?? 'application/octet-stream',
    contentEncoding: isPacked ? 'gzip' : null,
    metadata: metadata === undefined ? null : JSON.parse(Buffer.from(metadata, 'latin1').toString('utf8')),
    storedBytes,
    sha256: createHash('sha256').update(storedBytes).digest('hex'),
    sizeBytes: storedBytes.length,
    bytes,
    text: () => bytes().toString('utf8'),
    json: () => JSON.parse(bytes().toString('utf8')),
  };
}
