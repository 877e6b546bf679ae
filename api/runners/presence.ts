/**
 * When instances were last seen, and with which version: collected here and written together every few seconds, so that
 * no call of a runner costs an additional statement. A crash loses a few seconds of sightings.
 */
import type { Logger } from 'pino';
import { runnerVersion } from '../../domain/runners/runner-version.ts';
import type { Database } from '../../store/connection/database.ts';
import type { RunnerIdentity } from '../../store/runners/holder.ts';
import { noteSightings, sightingsEverySeconds } from '../../store/runners/runner-instances.ts';

/** Instances beyond this number are dropped; they are seen again soon. */
const maxSightings = 10_000;
/** A sighting that could not be stored for this long is of an instance that never claimed. */
const keptMs = 60_000;

interface Seen extends RunnerIdentity {
  readonly userAgent: string | undefined;
  readonly atMs: number;
}

export interface RunnerPresenceParts {
  readonly database: Database;
  readonly log: Logger;
  /** Instances with waiting claims, which count as seen while they wait. */
  readonly waiting: () => readonly RunnerIdentity[];
}

export class RunnerPresence {
  readonly #parts: RunnerPresenceParts;
  readonly #seen = new Map<string, Seen>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(parts: RunnerPresenceParts) {
    this.#parts = parts;
  }

  /** To be called at every call of an instance. */
  seen(identity: RunnerIdentity, userAgent: string | undefined): void {
    const key = `${identity.holder}\n${identity.instanceId}`;
    if (this.#seen.size >= maxSightings && !this.#seen.has(key)) return;
    this.#seen.set(key, { ...identity, userAgent, atMs: performance.now() });
  }

  /** Begins to write; safe to call again. */
  start(): void {
    this.#timer ??= setInterval(() => void this.#write(), sightingsEverySeconds * 1_000).unref();
  }

  /** Resolves when no work is left; the last sightings are written. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  /** Writes what was seen so far. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#write();
  }

  async #write(): Promise<void> {
    this.#writing ??= this.#writeOnce().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #writeOnce(): Promise<void> {
    for (const identity of this.#parts.waiting()) {
      const known = this.#seen.get(`${identity.holder}\n${identity.instanceId}`);
      this.seen(identity, known?.userAgent);
    }
    if (this.#seen.size === 0) return;
    const now = performance.now();
    const sightings = [...this.#seen].map(([key, seen]) => ({
      key,
      seen,
      holder: seen.holder,
      instanceId: seen.instanceId,
      version: runnerVersion(seen.userAgent),
      agoSeconds: (now - seen.atMs) / 1_000,
    }));
    this.#seen.clear();
    try {
      const left = await noteSightings(this.#parts.database, sightings);
      for (const { key, seen } of left)
        if (now - seen.atMs < keptMs && !this.#seen.has(key)) this.#seen.set(key, seen);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'last-seen times of runners not written');
    }
  }
}
