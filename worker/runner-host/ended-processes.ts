/** Reports ends of processes: one call at a time, with all ends since the last call, since many may end at once. */
import { limits } from '../../domain/limits.ts';
import type { ProcessEnd } from '../../domain/runners/runner-host.ts';
import type { ApiCalls } from './api-calls.ts';

interface Waiting {
  readonly end: ProcessEnd;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class EndedProcesses {
  readonly #api: ApiCalls;
  readonly #hostId: string;
  #waiting: Waiting[] = [];
  #isReporting = false;

  constructor(api: ApiCalls, hostId: string) {
    this.#api = api;
    this.#hostId = hostId;
  }

  /** Rejects when the API did not accept it. */
  report(end: ProcessEnd): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ end, resolve, reject });
      if (!this.#isReporting) void this.#reportAll();
    });
  }

  async #reportAll(): Promise<void> {
    this.#isReporting = true;
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, limits.deployedChangesPerCall);
      try {
        await this.#api.end({ hostId: this.#hostId, processes: some.map(({ end }) => end) });
        for (const { resolve } of some) resolve();
      } catch (error) {
        // The others would wait as long for the same failure, one call after another.
        for (const { reject } of [...some, ...this.#waiting.splice(0)]) reject(error);
      }
    }
    this.#isReporting = false;
  }
}
