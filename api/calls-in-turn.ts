/** A caller that asks for a thousand things at once must not hold up the calls of others. */
import { limits } from '../domain/limits.ts';
import type { CallerKey } from '../http/bodies/json-body.ts';
import type { RouteMiddleware } from '../http/call.ts';
import type { Route } from '../http/route.ts';
import { KeyedLimiter } from './keyed-limiter.ts';

/**
 * Does a few calls of a person or a device at once; further ones wait. Without it they would take all connections to the
 * database and all of the process's time.
 */
export function callsInTurn(callerKey: CallerKey): RouteMiddleware {
  const calls = new KeyedLimiter(Number.POSITIVE_INFINITY, limits.callsAtOncePerCaller);
  return (route) => {
    if (!isCounted(route)) return undefined;
    return async ({ state }, next) => {
      const caller = callerKey(state);
      if (caller === null) return await next();
      await calls.run(async () => {
        state.life.throwIfCut();
        await next();
      }, caller);
    };
  };
}

/** JSON in and out. Bytes wait for a store or a slow line, and calls with a share for what they ask for. */
function isCounted({ method, body, share, shareOf, responses, access }: Route): boolean {
  // One token may be that of a thousand runners, whose calls are brief; and a heartbeat must not wait for lists.
  if (!access.open && access.tokens.includes('runner')) return false;
  if (share !== undefined || shareOf !== undefined || body === 'stream') return false;
  return method !== 'GET' || responses[200]?.schema !== undefined || responses[200]?.items !== undefined;
}
