/** `Idempotency-Key` on the platform's routes that create (http/idempotency.ts). */
import { type RouteMiddleware, replyAfter } from '../http/call.ts';
import { answerOnce, type KeyedCall, type KeyKeeper } from '../http/idempotency.ts';
import type { IdempotencyKeys } from '../store/connection/idempotency.ts';
import type { SecretBox } from '../store/objects/secrets.ts';
import type { Principal } from './identity/auth-client.ts';

export function keyKeeper(ledger: IdempotencyKeys, secrets: SecretBox): KeyKeeper {
  return { ledger, keyFrom: (text) => secrets.digest(text, 'idempotent reply') };
}

/** Before the audit: a repeat that gets a stored reply is no new write. */
export function answeringOnce(keeper: KeyKeeper): RouteMiddleware {
  return ({ id, body, idempotent }) => {
    if (idempotent === undefined || idempotent === 'forwarded') return undefined;
    return async ({ state }, next) => {
      const header = state.headers['idempotency-key'];
      if (header === undefined || state.principal === null) return await next();
      const { kind, userId } = state.principal as unknown as Principal;
      const keyed: KeyedCall = {
        routeId: id,
        // An offline token sees less than its owner's access token, in replies too.
        caller: `${kind}:${userId}`,
        header,
        isSecret: idempotent === 'secret',
        params: state.params,
        query: state.query,
        headers: state.headers,
        json: state.json,
        upload: body === 'stream' ? state.upload : null,
      };
      state.reply = await answerOnce(keeper, keyed, () => replyAfter(state, next));
    };
  };
}
