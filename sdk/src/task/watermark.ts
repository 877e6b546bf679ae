/** The watermark of an incremental node: up to which input everything is consumed (contract: Runner rules 4). */

import type { TaskCalls } from '../calls/task-calls.ts';
import type { IncrementalWire } from '../calls/wire.ts';
import type { Input } from '../inputs/inputs.ts';
import { inputIdOf } from '../outputs/output-headers.ts';
import type { NodeState } from './node-state.ts';

export class Watermark {
  readonly #calls: TaskCalls;
  readonly #state: NodeState<unknown>;
  readonly #written: () => Promise<void>;
  #current: number | null;
  /** Undefined when it must be asked for. */
  #pendingInputs: number | undefined;
  #hasMoved = false;

  /** @param written resolves when all outputs that were begun are written */
  constructor(
    calls: TaskCalls,
    incremental: IncrementalWire,
    state: NodeState<unknown>,
    written: () => Promise<void>,
  ) {
    this.#calls = calls;
    this.#state = state;
    this.#written = written;
    this.#current = incremental.watermark;
    this.#pendingInputs = incremental.pendingInputs;
  }

  /** Id of the last consumed input; null before the first. */
  get current(): number | null {
    return this.#current;
  }

  /** True once this task moved it. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /** Inputs of this task above the watermark, those beyond the cap included. */
  async pendingInputs(): Promise<number> {
    this.#pendingInputs ??= (await this.#calls.state()).incremental.pendingInputs;
    return this.#pendingInputs;
  }

  /**
   * Says that all inputs up to this one are consumed, durable at once and together with what `task.state.set` was given
   * before, and publishes all outputs that were written before: write what belongs to an input first. It waits for writes
   * under way. Repeats of the present position are fine.
   * @throws ApiError `watermark_regression` for an older input, `watermark_unknown_input` for one of another task; what a
   *   write under way throws, and then the watermark stays
   */
  async advance(input: Input | number): Promise<void> {
    await this.#written();
    const state = this.#state.unstored;
    const moved = await this.#calls.advance(inputIdOf(input), state);
    this.#state.noteStored(state);
    this.#noteMove(moved.watermark, moved.pendingInputs);
  }

  /** After an output that moved it. */
  noteOutput(input: Input | number): void {
    this.#noteMove(inputIdOf(input), undefined);
  }

  #noteMove(position: number | null, pendingInputs: number | undefined): void {
    this.#hasMoved ||= position !== this.#current;
    this.#current = position;
    this.#pendingInputs = pendingInputs;
  }
}
