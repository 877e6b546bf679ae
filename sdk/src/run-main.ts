/** A runner as a separate process. */
import { ApiError, isTaskCancelled, messageOf } from './errors.ts';
import { SettingsError, type StartOptions } from './runner/options.ts';
import type { Runner } from './runner/runner.ts';
import { startRunner } from './runner/start.ts';

/**
 * Runs a runner until it gets a signal, and ends the process: with code 0 after SIGTERM or SIGINT, when unfinished
 * tasks are released; with code 1 when settings are missing or the platform refuses the runner. A second signal ends
 * the process at once. Promises of a task that has ended may reject without a handler; any other such rejection ends
 * the process, as Node does by default.
 *
 * With `SDP_REPLAY_CASE` in the environment it works on that saved case instead, and claims nothing.
 */
export async function runMain(runner: Runner, options: StartOptions = {}): Promise<never> {
  ignoreClosedOutput();
  const { SDP_REPLAY_CASE: savedCase, SDP_REPLAY_OUT: out } = process.env;
  if (savedCase) {
    const { replay } = await import('./testing/replay.ts');
    process.exit(await replay(runner, savedCase, out || undefined));
  }
  const stop = new AbortController();
  const onSignal = () => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  process.on('unhandledRejection', onUnhandledRejection);
  try {
    const running = await startRunner(runner, { ...options, signal: stop.signal });
    await running.ended;
  } catch (error) {
    // The stop came before the start was over.
    if (error !== stop.signal.reason) {
      for (const line of linesOf(error)) console.error(line);
      process.exit(1);
    }
  }
  process.exit(0);
}

/** A promise that the code of an ended task did not await must not end the process, in which other tasks run. */
export function onUnhandledRejection(reason: unknown): void {
  if (!isTaskCancelled(reason)) throw reason;
}

/** The reader of what a process prints may leave: its tasks go on, and their logs have the lines. */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

function linesOf(error: unknown): readonly string[] {
  if (error instanceof SettingsError) return error.problems;
  if (!(error instanceof ApiError)) return [messageOf(error)];
  const hint = error.status === 401 ? ' Is SDP_RUNNER_TOKEN one of this platform, and still valid?' : '';
  return [`The platform refuses the runner (HTTP ${error.status}): ${messageOf(error)}${hint}`];
}
