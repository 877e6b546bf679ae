/**
 * Finds processes of deployed runners that hang, and ends them: they are started again, and what they held goes to the
 * next. The kit keeps the lease of a task however long its code computes, so only two signs tell: a process that holds
 * no task and asks for none, and one that goes on with a cancelled task.
 */
import { isInterfaceUp, lookAtProcesses } from '../../store/deployed-runners.ts';
import type { DeployedRunner, HostParts } from './deployed-runner.ts';

export class HangWatch {
  readonly #parts: HostParts;
  /** Since when the interface has been seen up at every look: while it is away all are silent. */
  #upSinceMs: number | undefined;
  /** Since when a cancelled run has been seen held. */
  #cancelledSinceMs = new Map<string, number>();

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  async look(runners: readonly DeployedRunner[]): Promise<void> {
    const { database, settings, log } = this.#parts;
    const hangSeconds = settings.SDK_RUNNERS_HANG_SECONDS;
    const longAgoMs = performance.now() - hangSeconds * 1_000;
    if (runners.length === 0 || !(await isInterfaceUp(database))) {
      this.#upSinceMs = undefined;
      this.#cancelledSinceMs.clear();
      return;
    }
    this.#upSinceMs ??= performance.now();
    const byToken = new Map(
      runners.flatMap((runner) => (runner.readyToken ? [[runner.readyToken.id, runner] as const] : [])),
    );
    const cancelledSinceMs = new Map<string, number>();
    for (const seen of await lookAtProcesses(database, [...byToken.keys()], hangSeconds)) {
      const runner = byToken.get(seen.tokenId)!;
      let why: string | undefined;
      if (seen.cancelledRunId !== null) {
        const sinceMs = this.#cancelledSinceMs.get(seen.cancelledRunId) ?? performance.now();
        cancelledSinceMs.set(seen.cancelledRunId, sinceMs);
        if (sinceMs < longAgoMs) why = `it went on with a cancelled task for ${hangSeconds} s`;
      } else if (seen.isSilent && Math.max(this.#upSinceMs, runner.readyToken?.readyAtMs ?? 0) < longAgoMs) {
        why = `it held no task and asked for none for ${hangSeconds} s`;
      }
      if (why === undefined) continue;
      log.warn({ runnerType: runner.plan.runnerType, why }, 'a deployed runner hangs and is started anew');
      runner.kill(why);
    }
    this.#cancelledSinceMs = cancelledSinceMs;
  }
}
