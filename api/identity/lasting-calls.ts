/**
 * Calls of people and devices that last: uploads that come slowly, downloads that are read slowly, long work. Each is
 * checked again every few seconds, as it was at its beginning, and ends with the right to it: the token, the role, and for
 * a Trainee the session. Calls with a runner token are cut by its own checks (api/runner-tokens/tokens.ts).
 */
import { Problem } from '../../domain/errors.ts';
import type { Call } from '../../http/call.ts';
import type { Route } from '../../http/route.ts';
import type { OpenServices } from '../services.ts';
import { refusalNow } from '../session-guard.ts';
import { type OpenCall, OpenCalls } from './open-calls.ts';

const checkEveryMs = 2_000;

/** Their replies are silent for long, and check the same themselves. */
const checkedApart: readonly unknown[] = ['sessionEvents', 'runLogs', 'claims'];

interface LastingCall extends OpenCall {
  readonly call: Call;
  readonly sinceMs: number;
}

export class LastingCalls {
  readonly #services: Pick<OpenServices, 'auth' | 'database' | 'settings'>;
  readonly #open = new OpenCalls<LastingCall>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(services: Pick<OpenServices, 'auth' | 'database' | 'settings'>) {
    this.#services = services;
  }

  /** Until the call is over. */
  add(bearer: string, call: Call): void {
    if (call.route === null || isCheckedApart(call.route)) return;
    const { life } = call;
    this.#open.add(bearer, { call, life, sinceMs: performance.now() });
    this.#timer ??= setInterval(() => void this.#checkAll(), checkEveryMs).unref();
    life.onEnd(() => {
      if (!this.#open.isEmpty) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  /** One token after the other, so that these checks never keep the others of this process waiting. */
  async #checkAll(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const before = performance.now() - checkEveryMs;
      for (const bearer of this.#open.tokens) {
        const lasting = this.#open.of(bearer).filter(({ sinceMs }) => sinceMs <= before);
        const calls = lasting.map(({ call }) => call);
        if (calls.length > 0 && !(await this.#check(bearer, calls))) break;
      }
    } finally {
      this.#isChecking = false;
    }
  }

  /** False where there is no answer: the calls go on, and are checked again. */
  async #check(bearer: string, calls: readonly Call[]): Promise<boolean> {
    try {
      const person = await this.#services.auth.identify(bearer, calls[0]!.requestId);
      for (const call of calls) {
        const refusal = await refusalNow(this.#services, call.route!, call, person);
        if (refusal !== null) call.life.cut(refusal);
      }
      return true;
    } catch (error) {
      return !(error instanceof Problem && error.key === 'unavailable');
    }
  }
}

/** Calls about tasks are short, or wait for one. */
function isCheckedApart({ share, errorStyle, method, body }: Route): boolean {
  return checkedApart.includes(share) || (errorStyle === 'coded' && method !== 'GET' && body !== 'stream');
}
