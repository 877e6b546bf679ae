/** The watermark of an incremental node: the input up to which all are consumed (contract: Runner rules 4). */

import type { TaskCalls } from '../calls/task-calls.ts';
import type { IncrementalWire, RejectionWire } from '../calls/wire.ts';
import type { Input } from '../inputs/inputs.ts';
import { inputIdOf } from '../outputs/output-headers.ts';
import type { NodeState } from './node-state.ts';

export class Watermark {
  readonly #calls: TaskCalls;
  readonly #state: NodeState<unknown>;
  readonly #written: () => Promise<void>;
  #current: number | null;
  /** Undefined when it must be read from the platform. */
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
   * Marks all inputs up to this one as consumed, durably and together with the state of `task.state.set`, and publishes
   * all earlier outputs: write an input's outputs first. It waits for pending writes. Repeats of the present position
   * are fine.
   * @throws ApiError `watermark_regression` for an older input, `watermark_unknown_input` for one of another task; the
   * error of a pending write, and then the watermark does not move
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

  /** After an input was rejected, which moves it in incremental nodes alone. */
  noteRejection({ watermark = this.#current, pendingInputs }: RejectionWire): void {
    this.#noteMove(watermark, pendingInputs);
  }

  #noteMove(position: number | null, pendingInputs: number | undefined): void {
    this.#hasMoved ||= position !== this.#current;
    this.#current = position;
    this.#pendingInputs = pendingInputs;
  }
}
