/** `Idempotency-Key` on the platform's routes that create (http/idempotency.ts). */
import type { GuardOptions } from '../http/guard.ts';
import { answerOnce, type KeyedCall, type KeyKeeper } from '../http/idempotency.ts';
import type { IdempotencyKeys } from '../store/connection/idempotency.ts';
import type { SecretBox } from '../store/objects/secrets.ts';
import type { Principal } from './identity/auth-client.ts';

type Around = NonNullable<GuardOptions<unknown>['around']>;

export function keyKeeper(ledger: IdempotencyKeys, secrets: SecretBox): KeyKeeper {
  return { ledger, keyFrom: (text) => secrets.digest(text, 'idempotent reply') };
}

/** Around `inner`: a repeat that gets a kept reply is no new write. */
export function answeringOnce(keeper: KeyKeeper, inner: Around): Around {
  return async function answered(route, handled, run) {
    const { idempotent } = route;
    const { call, principal, params, body, json } = handled;
    const header = call.headers['idempotency-key'];
    if (header === undefined || principal === null || idempotent === undefined || idempotent === 'forwarded')
      return await inner(route, handled, run);
    const { kind, userId } = principal as unknown as Principal;
    const keyed: KeyedCall = {
      routeId: route.id,
      // An offline token sees less than its owner's access token, in replies too.
      caller: `${kind}:${userId}`,
      header,
      isSecret: idempotent === 'secret',
      params,
      query: call.query,
      headers: call.headers,
      json,
      upload: route.body === 'stream' ? (body as KeyedCall['upload']) : null,
    };
    return await answerOnce(keeper, keyed, () => inner(route, handled, run));
  };
}
