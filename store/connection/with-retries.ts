/** Work that is tried again after a failure that may pass: for transactions and for calls of an object store alike. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryPolicy {
  readonly maxTries: number;
  /** Doubles after each try; each pause is shortened by chance by up to a half. */
  readonly firstPauseMs: number;
  /** No pause is longer. */
  readonly maxPauseMs?: number;
  readonly mayPass: (error: unknown) => boolean;
}

/** @param signal after it aborted nothing is tried again, and a pause ends with its reason */
export async function withRetries<T>(
  { maxTries, firstPauseMs, maxPauseMs = Number.POSITIVE_INFINITY, mayPass }: RetryPolicy,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted || tries === maxTries || !mayPass(error)) throw error;
      const pauseMs = Math.min(firstPauseMs * 2 ** (tries - 1), maxPauseMs) * (0.5 + Math.random() / 2);
      await sleep(pauseMs, undefined, signal && { signal });
    }
  }
}
