/** Processes that are killed and started again, or stopped for a while, at random moments. */
import { setTimeout as delay } from 'node:timers/promises';
import type { TestProcess } from '../support/processes.ts';

export interface Member<Process extends TestProcess = TestProcess> {
  /** For the count, in the plural: `runner processes`. */
  readonly kind: string;
  process: Process;
  /** Starts its successor. */
  readonly start: () => Process | Promise<Process>;
  /** The longest and the shortest stop. */
  readonly stopMs: readonly [number, number];
}

export class Disturbance {
  readonly counts: Record<string, number> = {};
  /** The processes that were killed. */
  readonly ended: TestProcess[] = [];
  readonly #over: AbortSignal;

  /** @param over ends it; a stopped member continues first */
  constructor(over: AbortSignal) {
    this.#over = over;
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Until it is over: pauses, then kills or stops one of the members, one at a time. After a slow restart it
   * pauses longer, so that a busy machine has time for the disturbed members.
   */
  async among(members: readonly Member[], [shortest, longest]: readonly [number, number]): Promise<void> {
    let startMs = 0;
    while (await this.pause(between(shortest, longest) + 2 * startMs)) {
      const member = members[Math.floor(Math.random() * members.length)]!;
      const startedAt = performance.now();
      if (Math.random() < 0.5) await this.#stop(member);
      else {
        await this.#kill(member);
        startMs = performance.now() - startedAt;
      }
    }
  }

  /** False when it is over. */
  async pause(ms: number): Promise<boolean> {
    await delay(ms, undefined, { signal: this.#over }).catch(() => undefined);
    return !this.#over.aborted;
  }

  async #kill(member: Member): Promise<void> {
    member.process.kill('SIGKILL');
    await member.process.ended;
    this.ended.push(member.process);
    member.process = await member.start();
    this.#count(`${member.kind} killed`);
  }

  async #stop({ process, kind, stopMs }: Member): Promise<void> {
    process.kill('SIGSTOP');
    await delay(between(...stopMs));
    process.kill('SIGCONT');
    this.#count(`${kind} stopped`);
  }

  #count(fault: string): void {
    this.counts[fault] = (this.counts[fault] ?? 0) + 1;
  }
}

function between(shortest: number, longest: number): number {
  return shortest + (longest - shortest) * Math.random();
}
