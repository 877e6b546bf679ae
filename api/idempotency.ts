/** `Idempotency-Key` on the platform's routes that create (http/idempotency.ts). */
import { type RouteMiddleware, replyAfter } from '../http/call.ts';
import { answerOnce, type KeyedCall, type KeyKeeper } from '../http/idempotency.ts';
import { splitTarget } from '../http/paths.ts';
import type { Reply, RouteContext, UploadBody } from '../http/route.ts';
import type { IdempotencyKeys } from '../store/connection/idempotency.ts';
import type { SecretBox } from '../store/objects/secrets.ts';
import type { Principal } from './identity/auth-client.ts';
import type { Services } from './services.ts';

export function keyKeeper(ledger: IdempotencyKeys, secrets: SecretBox): KeyKeeper {
  return { ledger, keyFrom: (text) => secrets.digest(text, 'idempotent reply') };
}

/** Before the audit: a repeat that gets a stored reply is no new write. */
export function answeringOnce(keeper: KeyKeeper): RouteMiddleware {
  return ({ id, body, idempotent }) => {
    if (idempotent === undefined || idempotent === 'forwarded' || idempotent === 'handled') return undefined;
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

export type HandledContext = Pick<
  RouteContext<unknown, unknown, unknown, UploadBody | undefined, unknown, Services>,
  'routeId' | 'params' | 'body' | 'request' | 'services'
>;

/**
 * For a handler that knows its caller only later, or checks something before a saved reply: the answer of `run`, or the
 * saved one of the same request under its key.
 * @param caller kind and id
 */
export async function answerHandled<R extends Reply>(
  { routeId, params, body, request, services }: HandledContext,
  caller: string,
  run: () => Promise<R>,
): Promise<R> {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return await run();
  const call: KeyedCall = {
    routeId,
    caller,
    header,
    isSecret: false,
    params,
    query: splitTarget(request.url).query,
    headers: request.headers,
    json: undefined,
    upload: body ?? null,
  };
  return (await answerOnce(services.keys, call, run)) as R;
}
