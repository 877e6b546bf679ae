/** The state of a node between its runs: a JSON object that only its runner understands. */
import type { TaskCalls } from '../calls/task-calls.ts';
import type { StateWire } from '../calls/wire.ts';
import { messageOf } from '../errors.ts';
import { jsonText } from '../json.ts';

const stateBytes = 64 * 1024;

export class NodeState<S> {
  readonly #calls: TaskCalls;
  #read: Promise<StateWire> | undefined;
  #set: S | undefined;
  #unstored: S | undefined;
  /** Last stored in this task. */
  #stored: S | undefined;

  constructor(calls: TaskCalls) {
    this.#calls = calls;
  }

  /** The state as last set in this task, else as stored by the node's runs before; null when there is none. */
  async get(): Promise<S | null> {
    return structuredClone(this.#set ?? ((await this.read()).state as S | null));
  }

  /**
   * Sets the state: an object of up to 64 KB as JSON. It is stored with the next `task.watermark.advance`, or when the
   * task completes; a task that fails or is released stores nothing more.
   * @throws TypeError, RangeError for what the platform would refuse
   */
  set(state: S): void {
    checkState(state);
    this.#set = structuredClone(state);
    this.#unstored = this.#set;
  }

  /** The state for the next call that can store it; undefined when it has not changed. */
  get unstored(): S | undefined {
    return this.#unstored;
  }

  /** Restores an earlier `unstored`, and drops what was set since. */
  restore(unstored: S | undefined): void {
    // Nothing was set since, or it is stored already.
    if (this.#unstored === unstored || this.#unstored === undefined) return;
    this.#set = unstored ?? this.#stored;
    this.#unstored = unstored;
  }

  /** Call it with the stored state. */
  noteStored(state: S | undefined): void {
    this.#stored = state ?? this.#stored;
    if (this.#unstored === state) this.#unstored = undefined;
  }

  /** The platform's answer, read once. */
  read(): Promise<StateWire> {
    this.#read ??= this.#calls.state().catch((error) => {
      this.#read = undefined;
      throw error;
    });
    return this.#read;
  }
}

/** @throws TypeError, RangeError for what the platform would refuse */
export function checkState(state: unknown): void {
  if (typeof state !== 'object' || state === null || Array.isArray(state))
    throw new TypeError('The state is an object.');
  const size = Buffer.byteLength(asJson(state));
  if (size > stateBytes)
    throw new RangeError(`The state holds at most ${stateBytes} bytes as JSON, not ${size}.`);
}

function asJson(state: object): string {
  try {
    return jsonText(state);
  } catch (error) {
    throw new TypeError(`The state is no JSON: ${messageOf(error)}`, { cause: error });
  }
}
