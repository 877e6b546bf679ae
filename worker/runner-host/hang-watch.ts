/**
 * Finds processes of deployed runners that hang, and ends them: they are restarted, and other processes get their
 * tasks. The kit renews the lease of a task however long its code computes, so there are only two signs: a process that
 * holds no task and claims none, and one that continues with a cancelled task.
 */
import type { HeldProcess } from '../../domain/runners/runner-host.ts';
import type { DeployedRunner, HostParts } from './deployed-runner.ts';

export class HangWatch {
  readonly #parts: HostParts;
  /** Since when the API has answered every time: while it is unavailable all are silent. */
  #upSinceMs: number | undefined;
  /** Since when a cancelled run has been seen held. */
  #cancelledSinceMs = new Map<string, number>();

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  /** The API did not answer: silence counts from its return on. */
  reset(): void {
    this.#upSinceMs = undefined;
    this.#cancelledSinceMs.clear();
  }

  check(seen: readonly (readonly [DeployedRunner, HeldProcess])[]): void {
    const hangSeconds = this.#parts.settings.SDK_RUNNERS_HANG_SECONDS;
    const longAgoMs = performance.now() - hangSeconds * 1_000;
    this.#upSinceMs ??= performance.now();
    const cancelledSinceMs = new Map<string, number>();
    for (const [runner, { isSilent, cancelledRunId }] of seen) {
      const { readyAtMs } = runner;
      if (readyAtMs === undefined) continue;
      let why: string | undefined;
      if (cancelledRunId !== null) {
        const sinceMs = this.#cancelledSinceMs.get(cancelledRunId) ?? performance.now();
        cancelledSinceMs.set(cancelledRunId, sinceMs);
        if (sinceMs < longAgoMs) why = `it continued a cancelled task for ${hangSeconds} s`;
      } else if (isSilent && Math.max(this.#upSinceMs, readyAtMs) < longAgoMs) {
        why = `it held no task and claimed none for ${hangSeconds} s`;
      }
      if (why === undefined) continue;
      this.#parts.log.warn(
        { runnerType: runner.plan.runnerType, why },
        'a deployed runner hangs and is restarted',
      );
      runner.kill(why);
    }
    this.#cancelledSinceMs = cancelledSinceMs;
  }
}
