/** A caller that asks for a thousand lists at once must not hold up the calls of others. */
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { CallerKey } from '../http/bodies/json-body.ts';
import type { RouteMiddleware } from '../http/call.ts';
import type { Route } from '../http/route.ts';
import { KeyedLimiter } from './keyed-limiter.ts';

/**
 * Does a few reads of a caller at once; further ones wait. Without it they would take all connections to the database and
 * all of the process's time. Reads of bytes wait for a store, which may be away, so they do not count.
 */
export function readsInTurn(callerKey: CallerKey): RouteMiddleware {
  const reads = new KeyedLimiter(Number.POSITIVE_INFINITY, limits.readsAtOncePerCaller);
  return (route) => {
    if (!readsJson(route)) return undefined;
    return async ({ state }, next) => {
      const caller = callerKey(state);
      if (caller === null) return await next();
      await reads.run(async () => {
        // The connection is closed, and nothing was done.
        if (state.life.signal.aborted) throw state.life.refusal ?? new Problem('malformedRequest');
        await next();
      }, caller);
    };
  };
}

const readsJson = ({ method, readOnly, share, shareOf, responses }: Route): boolean =>
  (method === 'GET' || readOnly === true) &&
  share === undefined &&
  shareOf === undefined &&
  [responses[200]?.schema, responses[200]?.items].some((schema) => schema !== undefined);
