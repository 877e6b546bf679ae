/** What a runner is, before it is started. */
import { messageOf } from '../errors.ts';
import type { RunResult } from '../task/outcome.ts';
import type { BadInput, JsonObject, Task } from '../task/task.ts';

export interface RunnerDefinition<C = JsonObject, S = JsonObject> {
  /** Name of the program; default: its first template. Part of the `User-Agent` and of instance ids. */
  readonly name?: string;
  /** Version of the program; default `0.0.0`. */
  readonly version?: string;
  /** Names of the node templates whose tasks it claims; empty: all that its token may claim. */
  readonly templates: readonly string[];
  /**
   * How long the code of a cancelled task may clean up, in seconds, 0 to 60; default 5. Then the kit reports the end of
   * the task, even while the code computes without a pause.
   */
  readonly cancelGraceSeconds?: number;
  /**
   * What a TaskFailure of category `validation` from the handler of `task.eachNewInput` means: `fail` (default) fails the
   * task, and the inputs after that one wait; `reject` rejects that input and continues.
   */
  readonly onBadInput?: BadInput;
  /** Whether what a run prints is copied into its log; default true. It is printed all the same. */
  readonly captureConsole?: boolean;
  /**
   * Works on one task. Its return value completes the task; an exception fails it: `TaskFailure` by its category,
   * anything else as `error`. When `task.signal` is aborted it should end soon, by throwing.
   */
  run(task: Task<C, S>): Promise<RunResult<S>> | RunResult<S>;
}

/** A checked definition. The platform's runner host starts the one that a module exports by default. */
export interface Runner {
  readonly name: string;
  readonly version: string;
  readonly templates: readonly string[];
  /** Absent in one that an older copy of this package made. */
  readonly cancelGraceSeconds?: number;
  readonly onBadInput?: BadInput;
  readonly captureConsole?: boolean;
  run(task: Task): Promise<RunResult>;
}

export const defaultCancelGraceSeconds = 5;
/** The platform itself ends a cancelled task a lease and a minute after the cancel. */
const maxCancelGraceSeconds = 60;

const templateForm = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/**
 * Checks a definition and makes a runner.
 * @throws TypeError for an invalid definition
 */
export function defineRunner<C = JsonObject, S = JsonObject>(definition: RunnerDefinition<C, S>): Runner {
  const { templates, run } = definition;
  if (!Array.isArray(templates)) throw new TypeError('templates must be a list of node template names.');
  for (const name of templates) {
    if (typeof name !== 'string' || !templateForm.test(name)) {
      throw new TypeError(`'${messageOf(name)}' is not the name of a node template.`);
    }
  }
  if (typeof run !== 'function') throw new TypeError('run must be a function.');
  const {
    cancelGraceSeconds = defaultCancelGraceSeconds,
    onBadInput = 'fail',
    captureConsole = true,
  } = definition;
  if (!(cancelGraceSeconds >= 0 && cancelGraceSeconds <= maxCancelGraceSeconds)) {
    throw new TypeError(`cancelGraceSeconds must be a number from 0 to ${maxCancelGraceSeconds}.`);
  }
  if (onBadInput !== 'fail' && onBadInput !== 'reject')
    throw new TypeError("onBadInput must be 'fail' or 'reject'.");
  const name = definition.name ?? templates[0] ?? 'runner';
  return {
    name: productToken(name),
    version: productToken(definition.version ?? '0.0.0'),
    templates: [...templates],
    cancelGraceSeconds,
    onBadInput,
    captureConsole,
    // Only the runner's code knows that its configuration and state have the declared types.
    run: async (task) => await run(task as unknown as Task<C, S>),
  };
}

/** True for what {@link defineRunner} made, also by another copy of this package. */
export function isRunner(value: unknown): value is Runner {
  const runner = (value ?? {}) as Partial<Runner>;
  return (
    typeof runner.run === 'function' && Array.isArray(runner.templates) && typeof runner.name === 'string'
  );
}

/** Text that is valid in both a `User-Agent` and an instance id. */
function productToken(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60) || 'runner';
}
