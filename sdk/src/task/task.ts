/** A held task as the runner's code sees it. */

import type { TaskCalls } from '../calls/task-calls.ts';
import type { ClaimWire, InputMode } from '../calls/wire.ts';
import { ApiError, type FailureCategory, isTaskFailure, messageOf, TaskCancelled } from '../errors.ts';
import type { Progress } from '../heartbeats/heartbeat-messages.ts';
import { type Input, type InputInfo, inputInfo, listInputs } from '../inputs/inputs.ts';
import { jsonText } from '../json.ts';
import type { RunLog } from '../logs/task-log.ts';
import type { OutputLimits } from '../outputs/multi-part.ts';
import { inputIdOf, type OutputOptions } from '../outputs/output-headers.ts';
import { type WrittenOutput, writeOutput } from '../outputs/outputs.ts';
import type { Source } from '../outputs/part-reader.ts';
import { clip } from '../text.ts';
import { type Annotation, Annotations } from './annotation.ts';
import { NodeState } from './node-state.ts';
import { Watermark } from './watermark.ts';

const reasonCharacters = 4_000;

export type JsonObject = Readonly<Record<string, unknown>>;

export interface TaskParts {
  readonly claim: ClaimWire;
  readonly calls: TaskCalls;
  readonly limits: OutputLimits;
  /** Aborted when the process is asked to end, some time before `calls.cancel`. */
  readonly stopping: AbortSignal;
  readonly report: (progress: Progress) => void;
  readonly log: RunLog;
  readonly onBadInput: BadInput;
}

/** What an invalid input means for its task: a failure, or only the rejection of the input. */
export type BadInput = 'fail' | 'reject';

/** How far {@link Task.eachNewInput} came. */
export interface NewInputs {
  /** Inputs that were handled. */
  readonly handled: number;
  /** Inputs that were rejected. */
  readonly rejected: number;
  /** True when inputs are left: the task is completed with `hasMore`, and a follow-up task comes. */
  readonly hasMore: boolean;
}

/**
 * @template C the node's configuration
 * @template S the node's state between its runs
 */
export class Task<C = JsonObject, S = JsonObject> {
  readonly taskId: string;
  /** The same for all attempts at the same work. */
  readonly runId: string;
  /** From 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly reason: ClaimWire['reason'];
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  /** Validated by the node template's schema. */
  readonly configuration: C;
  readonly parents: ClaimWire['parents'];
  readonly claimedAt: Date;
  /** The most inputs that `since-watermark` returns to one task. */
  readonly maxInputsPerTask: number;
  readonly watermark: Watermark;
  readonly state: NodeState<S>;
  /** Lines for the run's page; what the code prints goes there too. */
  readonly log: RunLog;
  /** Aborted, with a TaskCancelled as reason, when the work must end now: its results no longer count. */
  readonly signal: AbortSignal;
  /** Aborted some time before `signal` when the process shuts down: time to stop at a consistent point. */
  readonly stopping: AbortSignal;
  readonly #parts: TaskParts;
  readonly #writing = new Map<Promise<unknown>, Promise<unknown>>();
  #unnamed = { watermark: 0, outputs: 0 };
  readonly #annotations: Annotations;
  #hasOutput = false;
  #hasMore = false;
  readonly #loops = new Set<Promise<NewInputs>>();

  constructor(parts: TaskParts) {
    const { claim, calls } = parts;
    this.#parts = parts;
    this.taskId = claim.taskId;
    this.runId = claim.runId;
    this.attempt = claim.attempt;
    this.maxAttempts = claim.maxAttempts;
    this.reason = claim.reason;
    this.projectId = claim.projectId;
    this.sessionId = claim.sessionId;
    this.sessionName = claim.sessionName;
    this.nodeInstanceId = claim.nodeInstanceId;
    this.nodeName = claim.nodeName;
    this.nodeTemplate = claim.nodeTemplate;
    this.runnerType = claim.runnerType;
    this.configuration = claim.configuration as C;
    this.parents = claim.parents;
    this.claimedAt = new Date(claim.claimedAt);
    this.maxInputsPerTask = claim.incremental.maxInputsPerTask;
    this.log = parts.log;
    this.state = new NodeState<S>(calls);
    this.watermark = new Watermark(calls, claim.incremental, this.state, () => this.written());
    this.#annotations = new Annotations(calls);
    this.signal = calls.cancel;
    this.stopping = parts.stopping;
  }

  /** Shows progress to operators. Call it as often as you like. */
  progress(progress: Progress): void {
    this.#parts.report(progress);
  }

  /**
   * The task's inputs, oldest first, fetched by pages.
   * @param mode `since-watermark` (default): those above the watermark, up to `maxInputsPerTask`, beyond which only an
   *   incremental node gets a follow-up task; `latest`: of each parent those it published last together; `all`
   * @throws ApiError; TaskCancelled
   */
  inputs(mode: InputMode = 'since-watermark'): AsyncGenerator<Input, void, void> {
    return listInputs(this.#parts.calls, mode);
  }

  /**
   * Writes an output. It is published with the next move of the watermark, or when the task completes. With `watermark`
   * it moves that itself, once all earlier writes are done. Up to 16 MB are sent in one request; more in parts of 8
   * MiB, several at once, within 32 MiB of memory. Calls without an answer are repeated.
   * @param source bytes, text, or any stream or generator of them; not read to its end when the output already exists
   * @throws ApiError, for example `watermark_regression`; RangeError for options out of bounds; what the source throws
   */
  write(source: Source, options: OutputOptions = {}): Promise<WrittenOutput> {
    const writing = this.#write(source, options);
    // A separate promise for the caller: if the caller does not await it and it fails, Node must report an unhandled
    // rejection.
    const returned = writing.then((output) => output);
    this.#writing.set(writing, returned);
    const done = () => this.#writing.delete(writing);
    writing.then(done, done);
    return returned;
  }

  async #write(source: Source, options: OutputOptions): Promise<WrittenOutput> {
    const identifier = options.identifier ?? this.#nextIdentifier();
    const before = new Map(options.watermark === undefined ? [] : this.#writing);
    const mayCount = () => allOf(before);
    const { calls, limits } = this.#parts;
    const output = await writeOutput(calls, limits, { source, options, identifier, mayCount });
    this.#hasOutput = true;
    if (options.watermark !== undefined) this.watermark.noteOutput(options.watermark);
    return output;
  }

  /**
   * Counts from the watermark on: an attempt that resumes where the previous one broke off finds the outputs from there
   * on, and none of earlier inputs.
   */
  #nextIdentifier(): string {
    const current = this.watermark.current ?? 0;
    if (this.#unnamed.watermark !== current) this.#unnamed = { watermark: current, outputs: 0 };
    this.#unnamed.outputs += 1;
    return `${this.runId}.${current}.${this.#unnamed.outputs}`;
  }

  /** Writes a value as JSON, `application/json`. @throws as {@link Task.write}; TypeError for what JSON has not, as `NaN` */
  writeJson(value: unknown, options: OutputOptions = {}): Promise<WrittenOutput> {
    try {
      return this.write(Buffer.from(jsonText(value)), { contentType: 'application/json', ...options });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Marks a moment, or with `to` a range, of the session with words. People see it on the time axis once the outputs of
   * this run are published; the same annotation of a node counts once, and a run without an output has none. Times of a
   * recording without dates are milliseconds since its beginning.
   * @throws ApiError, for example `invalid_request`
   */
  annotate(...annotations: readonly Annotation[]): Promise<void> {
    return this.#annotations.add(annotations);
  }

  /** The node's own newest output, as of the first call; null when it has none. */
  async previousOutput(): Promise<InputInfo | null> {
    const { previousOutput } = await this.state.read();
    return previousOutput === null ? null : inputInfo(previousOutput);
  }

  /**
   * The loop of an incremental node: handles each input above the watermark, oldest first, and moves the watermark
   * (with `state`) past it, which publishes what was written for it. It ends at the cap, or early at a shutdown; the
   * rest comes in a follow-up task, because the task is then completed with `hasMore`. A shutdown before the first input
   * releases the task.
   * @param options `advance: 'by-hand'` leaves moving the watermark to the handler, for example with an output
   *
   * With `onBadInput: 'reject'` of the runner, a TaskFailure of category `validation` from the handler rejects its
   * input, and the loop continues; the state is then what it was before that input.
   * @throws what the handler throws: that input and those after it stay new, those before it keep their outputs
   */
  eachNewInput(
    handle: (input: Input) => unknown,
    options: { readonly advance?: 'each' | 'by-hand' } = {},
  ): Promise<NewInputs> {
    const loop = this.#eachNewInput(handle, options.advance).finally(() => this.#loops.delete(loop));
    this.#loops.add(loop);
    return loop;
  }

  async #eachNewInput(handle: (input: Input) => unknown, advance: string | undefined): Promise<NewInputs> {
    let handled = 0;
    let rejected = 0;
    for await (const input of this.inputs('since-watermark')) {
      if (this.#endsAtShutdown(handled)) break;
      this.signal.throwIfAborted();
      const before = this.state.unstored;
      try {
        await handle(input);
      } catch (error) {
        await this.#rejectBad(input, error);
        this.state.restore(before);
        rejected += 1;
        continue;
      }
      if (advance !== 'by-hand') await this.watermark.advance(input);
      handled += 1;
    }
    this.#hasMore = this.watermark.hasMoved && (await this.watermark.pendingInputs()) > 0;
    return { handled, rejected, hasMore: this.#hasMore };
  }

  /** @throws TaskCancelled before the first input: a task that is completed without any would leave them all unread */
  #endsAtShutdown(handled: number): boolean {
    if (!this.stopping.aborted) return false;
    if (handled === 0 && !this.watermark.hasMoved) throw new TaskCancelled('shutdown');
    return true;
  }

  /** Rejects the input of a handler that failed. @throws the failure, when it does not reject or the platform refuses */
  async #rejectBad(input: Input, error: unknown): Promise<void> {
    const { onBadInput, log } = this.#parts;
    if (onBadInput !== 'reject' || !isTaskFailure(error) || error.category !== 'validation') throw error;
    try {
      await this.reject(input, error.category, messageOf(error));
    } catch (refusal) {
      // A platform without rejected inputs, or a handler that has moved the watermark past this one.
      throw refusal instanceof ApiError ? error : refusal;
    }
    log.warning(`Input ${input.outputIdentifier} was rejected: ${messageOf(error)}`, {
      outputId: input.outputId,
    });
  }

  /**
   * Rejects an input: it gets no result, and operators see the reason. In an incremental node the watermark moves
   * there at once and publishes what was written before; in others it counts when the task completes. It waits for
   * pending writes. Repeats are fine.
   * @throws ApiError `watermark_regression`, `watermark_unknown_input`; `not_found` by a platform that is older than this
   */
  async reject(input: Input | number, category: FailureCategory, reason: string): Promise<void> {
    await this.written();
    const inputId = inputIdOf(input);
    const moved = await this.#parts.calls.reject(inputId, category, clip(reason, reasonCharacters));
    this.watermark.noteRejection(moved);
  }

  /** After the code has returned. @throws what a write throws, and for a loop over new inputs that still runs */
  async finished(): Promise<void> {
    // The end of the task ends these loops with an error, which nothing else handles.
    for (const loop of this.#loops) loop.catch(() => undefined);
    if (this.#loops.size > 0)
      throw new Error(
        'The code returned while eachNewInput was running: write "await task.eachNewInput(...)".',
      );
    await this.written();
    if (!this.#hasOutput && !this.watermark.hasMoved) this.#annotations.warnWithoutOutput(this.log);
  }

  /** Waits for outputs that the code did not wait for. @throws what a write throws */
  async written(): Promise<void> {
    await allOf(this.#writing);
  }

  /** Whether a loop over new inputs left some. */
  get hasMore(): boolean {
    return this.#hasMore;
  }
}

/** Waits for writes, each with the promise that its caller got. @throws what the first to fail throws */
async function allOf(writes: ReadonlyMap<Promise<unknown>, Promise<unknown>>): Promise<void> {
  for (const returned of writes.values()) returned.catch(() => undefined);
  await Promise.all(writes.keys());
}
