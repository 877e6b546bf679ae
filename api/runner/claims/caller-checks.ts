/** Whether the caller of a waiting claim may still claim: a runner token and an account are checked in their own ways. */
import type { RunnerPrincipal } from '../../runner-tokens/principal.ts';
import type { RunnerTokens } from '../../runner-tokens/tokens.ts';
import type { RunnerCaller } from '../identity.ts';
import type { RunnerServices } from '../runner-services.ts';
import type { SignedInCall, SignIns } from './sign-ins.ts';

/** False, or the refusal that is thrown, ends the wait. */
export interface CallerChecks {
  /** Before a claim that was woken is tried. */
  readonly mayTry: () => Promise<boolean>;
  /** After that try got nothing: for want of a task, or because the caller may no longer claim. */
  readonly mayWaitOn: () => Promise<boolean>;
  /** The wait, which ends with the caller's sign-in. @param wait ends without a result when its signal is aborted */
  readonly during: <T>(
    signal: AbortSignal,
    wait: (signal: AbortSignal) => Promise<T | undefined>,
  ) => Promise<T | undefined>;
}

export function checksOf(
  { tokens, signIns }: Pick<RunnerServices, 'tokens' | 'signIns'>,
  principal: RunnerCaller,
  requestId: string,
): CallerChecks {
  return principal.kind === 'runner'
    ? tokenChecks(tokens, principal)
    : accountChecks(signIns, { principal, requestId });
}

/** Before the try what was read lately is enough: the statement of the try finds nothing for a token that has ended. */
function tokenChecks(tokens: RunnerTokens, principal: RunnerPrincipal): CallerChecks {
  /** Whether the token still covers the same runner types. */
  async function isUnchanged(known: 'lately' | 'now'): Promise<boolean> {
    const { runnerTypes } = await tokens.identifyAgain(principal, known);
    return principal.runnerTypes.every((name) => runnerTypes.includes(name));
  }
  return {
    mayTry: () => isUnchanged('lately'),
    mayWaitOn: () => isUnchanged('now'),
    during: (signal, wait) => wait(signal),
  };
}

/** Before the try: no statement knows of sign-ins, which belong to the authentication service. */
function accountChecks(signIns: SignIns, call: SignedInCall): CallerChecks {
  return {
    async mayTry() {
      await signIns.check(call);
      return true;
    },
    mayWaitOn: async () => true,
    during: (signal, wait) => signIns.during(call, signal, wait),
  };
}
