/** One instance of a runner: claims a task, works on it, reports, and claims the next. */
import { setTimeout as delay } from 'node:timers/promises';
import { pause } from '../calls/back-off.ts';
import type { Call } from '../calls/connection.ts';
import { PlatformTaskCalls } from '../calls/task-calls.ts';
import type { ClaimWire } from '../calls/wire.ts';
import { TaskCancelled } from '../errors.ts';
import type { Report } from '../task/outcome.ts';
import { sendReport } from '../task/report.ts';
import { perform, type SlotParts } from './perform.ts';

/** A claim that returns sooner without a task did not wait. */
const shortWaitMs = 1_000;
const withdrawMs = 3_000;

export class Slot {
  readonly #parts: SlotParts;
  readonly #instanceId: string;

  constructor(parts: SlotParts, instanceId: string) {
    this.#parts = parts;
    this.#instanceId = instanceId;
  }

  /** Resolves after `stopping`. @throws ApiError when the platform refuses the claim for good */
  async work(): Promise<void> {
    const { stopping } = this.#parts;
    let next: ClaimWire | undefined;
    while (!stopping.aborted) {
      const beganAtMs = performance.now();
      const claim: ClaimWire | undefined = next ?? (await this.#claim());
      next = undefined;
      if (claim !== undefined) next = await perform(this.#parts, this.#instanceId, claim);
      else if (!stopping.aborted && performance.now() - beganAtMs < shortWaitMs) {
        await pause(shortWaitMs * (0.5 + Math.random() / 2), stopping).catch(() => undefined);
      }
    }
    if (next !== undefined) await this.#releaseTask(next);
  }

  /** Waits for a task. A task that arrives when the runner is about to stop is released. */
  async #claim(): Promise<ClaimWire | undefined> {
    const { stopping, settings } = this.#parts;
    const over = new AbortController();
    const waiting = this.#sendClaim(settings.waitSeconds, { patience: 'always', signal: over.signal });
    let withdrawal: Promise<void> | undefined;
    const onStopping = () => {
      withdrawal = this.#withdraw(waiting).finally(() => over.abort());
    };
    stopping.addEventListener('abort', onStopping, { once: true });
    try {
      const claim = await waiting.catch((error) => {
        if (stopping.aborted) return undefined;
        throw error;
      });
      if (claim === undefined || !stopping.aborted) return claim;
      await this.#releaseTask(claim);
      return undefined;
    } finally {
      stopping.removeEventListener('abort', onStopping);
      await withdrawal;
    }
  }

  /**
   * Ends a waiting claim by a newer one that does not wait. Closing the connection could lose a task that is on its way:
   * it would stay held until its lease ends, and count as lost.
   */
  async #withdraw(waiting: Promise<unknown>): Promise<void> {
    try {
      const signal = AbortSignal.timeout(withdrawMs);
      const claim = await this.#sendClaim(0, { patience: 'never', silenceMs: withdrawMs, signal });
      if (claim !== undefined) await this.#releaseTask(claim);
      await Promise.race([waiting, delay(withdrawMs, undefined, { signal })]);
    } catch {
      // The platform does not answer: nothing can be released either.
    }
  }

  async #sendClaim(
    waitSeconds: number,
    how: Pick<Call, 'patience' | 'signal' | 'silenceMs'>,
  ): Promise<ClaimWire | undefined> {
    const { connection, runner } = this.#parts;
    const { status, body } = await connection.call<ClaimWire | undefined>({
      method: 'POST',
      path: '/tasks/claim',
      json: { instanceId: this.#instanceId, templates: runner.templates, waitSeconds },
      silenceMs: (waitSeconds + 15) * 1_000,
      ...how,
    });
    return status === 200 ? body : undefined;
  }

  async #releaseTask(claim: ClaimWire): Promise<void> {
    const signal = AbortSignal.timeout(withdrawMs);
    const parts = { connection: this.#parts.connection, claim, instanceId: this.#instanceId };
    const ignore = () => undefined;
    const calls = new PlatformTaskCalls({ ...parts, cancel: signal, onEnd: ignore, onUnheard: ignore });
    const report: Report = { kind: 'release', reason: new TaskCancelled('shutdown').message };
    await sendReport(calls, report, signal).catch(() => undefined);
  }
}
