/** The routes of one held task. */
import type { IncomingMessage } from 'node:http';
import { ApiError, isEnd, TaskCancelled } from '../errors.ts';
import type { Call, Connection, Reply } from './connection.ts';
import type {
  AnnotationWire,
  ClaimWire,
  InputMode,
  InputsWire,
  OutputWire,
  PartWire,
  RejectionWire,
  StateWire,
  UploadWire,
  WatermarkWire,
} from './wire.ts';

/** A store may need minutes to put a large upload together. */
const uploadCompleteSilenceMs = 10 * 60_000;

export interface TaskCallsOptions {
  readonly connection: Connection;
  readonly claim: ClaimWire;
  readonly instanceId: string;
  /** Aborted when the task is cancelled. */
  readonly cancel: AbortSignal;
  /** Called when a call learns that the task is lost. */
  readonly onEnd: (error: ApiError) => void;
  /** Called when an input fails and the task's code does not listen for it. */
  readonly onUnheard: (error: unknown) => void;
}

export interface InputOpening {
  /** The first try of a read is made at the store where that is possible; one that broke there continues at the platform. */
  readonly isFirst: boolean;
  /** Further headers, for example for a range. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The calls of one held task. */
export interface TaskCalls {
  /** Aborted when the task is cancelled or has ended; ends every call but the last report. */
  readonly signal: AbortSignal;
  /** Aborted when the task is cancelled, and not by its end. */
  readonly cancel: AbortSignal;
  readonly hasEnded: boolean;
  /** An input has failed, and no code of the task listened for it. */
  unheard(error: unknown): void;
  inputs(mode: InputMode, cursor: string | null, limit: number): Promise<InputsWire>;
  state(): Promise<StateWire>;
  advance(inputId: number, state: unknown): Promise<WatermarkWire>;
  reject(inputId: number, category: string, reason: string): Promise<RejectionWire>;
  annotate(annotations: readonly AnnotationWire[]): Promise<void>;
  /** Opens the stored bytes of an input, one try. */
  openInput(outputId: number, opening: InputOpening): Promise<IncomingMessage>;
  /** Other bytes came: inputs are opened through the platform for a while. */
  avoidStore(): void;
  writeOutput(headers: Record<string, string>, bytes: readonly Uint8Array[]): Promise<Reply<OutputWire>>;
  /** 201 with the upload, or 200 with the output that already exists. */
  startUpload(headers: Record<string, string>): Promise<Reply<UploadWire | OutputWire>>;
  writePart(handle: string, part: number, bytes: Uint8Array): Promise<PartWire>;
  completeUpload(handle: string): Promise<Reply<OutputWire>>;
  abortUpload(handle: string): Promise<void>;
  /**
   * The last call: repeated until the platform's answer is definite, even after the task's signal was aborted.
   * @throws ApiError when it is refused; the signal's reason when it is aborted
   */
  end(how: 'complete' | 'fail' | 'release', json: unknown, signal?: AbortSignal): Promise<unknown>;
}

/** The same over HTTP. */
export class PlatformTaskCalls implements TaskCalls {
  /** Headers of every call for the task. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly #options: TaskCallsOptions;
  readonly #ending = new AbortController();

  constructor(options: TaskCallsOptions) {
    this.#options = options;
    this.signal = AbortSignal.any([options.cancel, this.#ending.signal]);
    const { traceparent } = options.claim;
    this.headers = {
      'x-platform-runner-instance': options.instanceId,
      ...(typeof traceparent === 'string' ? { traceparent } : {}),
    };
  }

  get cancel(): AbortSignal {
    return this.#options.cancel;
  }

  get hasEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** The task's code has ended: its open calls and streams end too, and further calls are refused. */
  finish(): void {
    this.#ending.abort(new TaskCancelled('ended'));
  }

  unheard(error: unknown): void {
    if (!this.signal.aborted) this.#options.onUnheard(error);
  }

  async inputs(mode: InputMode, cursor: string | null, limit: number): Promise<InputsWire> {
    const query = new URLSearchParams({
      mode,
      limit: String(limit),
      ...(cursor === null ? {} : { cursor }),
    });
    return (await this.#call<InputsWire>({ method: 'GET', path: `/inputs?${query}` })).body;
  }

  async state(): Promise<StateWire> {
    return (await this.#call<StateWire>({ method: 'GET', path: '/state' })).body;
  }

  async advance(inputId: number, state: unknown): Promise<WatermarkWire> {
    const json = { inputId, state };
    return (await this.#call<WatermarkWire>({ method: 'PUT', path: '/watermark', json })).body;
  }

  async reject(inputId: number, category: string, reason: string): Promise<RejectionWire> {
    const path = `/rejections/${inputId}`;
    return (await this.#call<RejectionWire>({ method: 'PUT', path, json: { category, reason } })).body ?? {};
  }

  async annotate(annotations: readonly AnnotationWire[]): Promise<void> {
    await this.#call({ method: 'POST', path: '/annotations', json: { annotations } });
  }

  async openInput(outputId: number, { isFirst, headers, signal }: InputOpening): Promise<IncomingMessage> {
    const { connection } = this.#options;
    const call = { ...this.#taskCall({ method: 'GET', path: `/inputs/${outputId}/data`, headers }), signal };
    const opened = isFirst ? connection.openDownload(call) : connection.open(call);
    return await opened.catch((error) => this.#ended(error));
  }

  avoidStore(): void {
    this.#options.connection.avoidStore();
  }

  writeOutput(headers: Record<string, string>, bytes: readonly Uint8Array[]): Promise<Reply<OutputWire>> {
    return this.#call({ method: 'POST', path: '/outputs', headers, bytes });
  }

  startUpload(headers: Record<string, string>): Promise<Reply<UploadWire | OutputWire>> {
    return this.#call({ method: 'POST', path: '/outputs/uploads', headers });
  }

  async writePart(handle: string, part: number, bytes: Uint8Array): Promise<PartWire> {
    const path = `/outputs/uploads/${handle}/parts/${part}`;
    const headers = { 'content-type': 'application/octet-stream' };
    return (await this.#call<PartWire>({ method: 'PUT', path, headers, bytes: [bytes] })).body;
  }

  completeUpload(handle: string): Promise<Reply<OutputWire>> {
    const path = `/outputs/uploads/${handle}/complete`;
    return this.#call({ method: 'POST', path, silenceMs: uploadCompleteSilenceMs });
  }

  async abortUpload(handle: string): Promise<void> {
    await this.#call({ method: 'DELETE', path: `/outputs/uploads/${handle}`, patience: 'never' });
  }

  async end(how: 'complete' | 'fail' | 'release', json: unknown, signal?: AbortSignal): Promise<unknown> {
    const call = this.#taskCall({ method: 'PUT', path: `/${how}`, json, patience: 'always' });
    return (await this.#options.connection.call({ ...call, signal })).body;
  }

  async #call<T>(call: Call): Promise<Reply<T>> {
    return await this.#options.connection.call<T>(this.#taskCall(call)).catch((error) => this.#ended(error));
  }

  #taskCall(call: Call): Call {
    const { claim } = this.#options;
    return {
      signal: this.signal,
      ...call,
      path: `/tasks/${claim.taskId}${call.path}`,
      headers: { ...this.headers, ...call.headers },
    };
  }

  /** Throws the error, or the signal's reason when the error means that the task is over. */
  #ended(error: Error): never {
    if (error instanceof ApiError && isEnd(error)) this.#options.onEnd(error);
    this.signal.throwIfAborted();
    throw error;
  }
}
