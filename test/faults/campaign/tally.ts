/** The results of calls, during faults and between them. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * `served`: done, or refused for a reason of the caller's. `refused`: a temporary refusal that the
 * contract names. `unnamed`: an error that the contract does not name. `lost`: no answer. `hung`: none in time.
 */
export type Outcome = 'served' | 'refused' | 'unnamed' | 'lost' | 'hung';
export type Outcomes = Record<Outcome, number>;

/** `recovery`: the fault has ended, and not every process serves yet. */
export type Phase = 'calm' | 'fault' | 'recovery';

/** A call without its answer. */
export interface OpenCall {
  readonly startedAt: number;
  readonly phase: Phase;
  /** Counts the changes of phase. */
  readonly turn: number;
}

const keptLast = 20;
const slowMs = 2_500;

export function noneOf(): Outcomes {
  return { served: 0, refused: 0, unnamed: 0, lost: 0, hung: 0 };
}

export class Tally {
  readonly all = noneOf();
  readonly duringFaults = noneOf();
  /** Whether the last calls of each family were served, oldest first. */
  readonly last = new Map<string, boolean[]>();
  /** How often each error was answered, and answers were missed: `upload 500 internal_error`, `upload ECONNRESET`. */
  readonly errors = new Map<string, number>();
  readonly #open = new Set<OpenCall>();
  #phase: Phase = 'calm';
  #turn = 0;
  #disturbed = 0;

  get phase(): Phase {
    return this.#phase;
  }

  set phase(phase: Phase) {
    this.#phase = phase;
    this.#turn += 1;
  }

  get made(): number {
    return Object.values(this.all).reduce((sum, count) => sum + count, 0);
  }

  /** Calls that were not served, or late, those that have been open for long included. */
  get disturbed(): number {
    const now = performance.now();
    const late = [...this.#open].filter(({ startedAt }) => now - startedAt > slowMs);
    return this.#disturbed + late.length;
  }

  begin(): OpenCall {
    const open = { startedAt: performance.now(), phase: this.#phase, turn: this.#turn };
    this.#open.add(open);
    return open;
  }

  /** Resolves when every call that is open now has ended. */
  async untilOthersEnded(): Promise<void> {
    const open = [...this.#open];
    while (open.some((call) => this.#open.has(call))) await delay(20);
  }

  /** The call does not count for the platform. */
  forget(open: OpenCall): void {
    this.#open.delete(open);
  }

  /** True for a call that hung although nothing had failed while it was open. */
  end(open: OpenCall, family: string, outcome: Outcome): boolean {
    this.#open.delete(open);
    this.all[outcome] += 1;
    if (open.phase === 'fault' || this.#phase === 'fault') this.duringFaults[outcome] += 1;
    if (outcome !== 'served' || performance.now() - open.startedAt > slowMs) this.#disturbed += 1;
    const last = this.last.get(family) ?? [];
    this.last.set(family, last);
    last.push(outcome === 'served');
    if (last.length > keptLast) last.shift();
    return outcome === 'hung' && open.phase === 'calm' && open.turn === this.#turn;
  }

  noteError(name: string): void {
    this.errors.set(name, (this.errors.get(name) ?? 0) + 1);
  }

  /** Resets the count of the last calls. */
  forgetLast(): void {
    for (const last of this.last.values()) last.length = 0;
  }
}
