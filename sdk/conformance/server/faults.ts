/** The faults that the test double injects into calls. */
import type { Call, RouteId } from './journal.ts';

export type Fault =
  /** The connection is reset as soon as the call's head is in: no effect. */
  | { readonly kind: 'reset' }
  /** The connection is reset in the middle of the call's body: no effect. */
  | { readonly kind: 'cut-request' }
  /** Gets this answer instead: no effect. */
  | {
      readonly kind: 'answer';
      readonly status: 500 | 503 | 404;
      readonly code: string;
      readonly retryAfterSeconds?: number;
    }
  /** Something happens just before the call takes effect. */
  | { readonly kind: 'meanwhile'; readonly act: (call: Call) => void; readonly happened: string }
  /** Reads are answered, writes take effect, only when `until` resolves. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** Takes effect at once and is answered later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /**
   * Takes effect; the connection closes instead of an answer. `unseen`: a claim's task stays held, as if the loss went
   * unnoticed.
   */
  | { readonly kind: 'lose-answer'; readonly unseen?: boolean }
  /** The answer's head and half of its bytes arrive. */
  | { readonly kind: 'cut-answer' };

const descriptions: Readonly<Record<Fault['kind'], string>> = {
  reset: 'connection reset',
  'cut-request': 'connection reset in the middle of the body',
  answer: 'answered so on purpose',
  meanwhile: '',
  hold: 'answer held back',
  delay: 'answered late',
  'lose-answer': 'took effect, answer lost',
  'cut-answer': 'answer cut in the middle',
};

/** The moment of a call at which a fault acts. */
export type Phase = 'arrival' | 'effect' | 'answer';
const phases: Readonly<Record<Fault['kind'], Phase>> = {
  reset: 'arrival',
  'cut-request': 'arrival',
  answer: 'effect',
  meanwhile: 'effect',
  hold: 'effect',
  delay: 'effect',
  'lose-answer': 'answer',
  'cut-answer': 'answer',
};

export interface FaultRule {
  readonly on: readonly RouteId[] | ((call: Call) => boolean);
  readonly fault: Fault;
  /** Default 1. */
  readonly times?: number;
}

/** A rule at work; `hits` are the calls that it met. */
export class ArmedFault {
  readonly rule: FaultRule;
  readonly hits: Call[] = [];

  constructor(rule: FaultRule) {
    this.rule = rule;
  }

  get isSpent(): boolean {
    return this.hits.length >= (this.rule.times ?? 1);
  }
}

export class Faults {
  readonly #armed: ArmedFault[] = [];

  add(rule: FaultRule): ArmedFault {
    const armed = new ArmedFault(rule);
    this.#armed.push(armed);
    return armed;
  }

  /** The faults that a call meets in this phase; only a call with an answer can lose it. */
  take(phase: Phase, call: Call): Fault[] {
    const isSuccess = call.status === 200 || call.status === 201 || call.status === 206;
    if (phase === 'answer' && !isSuccess) return [];
    const faults: Fault[] = [];
    for (const armed of this.#armed) {
      const { on, fault } = armed.rule;
      if (armed.isSpent || phases[fault.kind] !== phase) continue;
      if (!(typeof on === 'function' ? on(call) : on.includes(call.route))) continue;
      armed.hits.push(call);
      const text = fault.kind === 'meanwhile' ? fault.happened : descriptions[fault.kind];
      call.fault = call.fault === undefined ? text : `${call.fault}, ${text}`;
      faults.push(fault);
    }
    return faults;
  }
}
