/** This service's functions for a platform in the same process, with the rules of the routes. */
import { type AccessRule, access, decideAccess } from '../domain/access/access.ts';
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { answerOnce, type KeyKeeper } from '../http/idempotency.ts';
import { uuid } from '../http/schemas.ts';
import { identify, validateToken } from './callers.ts';
import { callerKey } from './idempotency.ts';
import { createOfflineToken, listOfflineTokens, revokeOfflineToken } from './offline-tokens.ts';
import type { AuthCaller, AuthServices } from './route.ts';
import { isVisible, presentUser, type UserRow } from './user-view.ts';
import { findActive, findUser, findUserByEmail, findUsers, listUsers } from './users.ts';

/** Larger pages than those of the route, because each page checks the token and counts all users. */
const peoplePerPage = 1_000;
const userIdForm = uuid();
/** The platform's own call does not carry its caller's network. */
const originOf = (requestId: string) => ({ requestId, network: null });

export type AuthFunctions = ReturnType<typeof authFunctions>;

/**
 * Callers are named by their token, which is checked at each call. A caller without the right to ask gets an empty
 * result; functions that change something throw `Problem` as their routes do.
 */
export function authFunctions(services: AuthServices, keys: KeyKeeper) {
  return {
    validate: (bearer: string) => validateToken(services, bearer, services.log),
    findActive: (userIds: readonly string[]) => findActive(services.database, userIds),
    ...people(services),
    ...offlineTokens(services, keys),
  };
}

/** @throws Problem when the token is not valid, or its caller may not */
async function required(services: AuthServices, bearer: string, rule: AccessRule): Promise<AuthCaller> {
  const caller = await identify(services, bearer);
  if (caller === null) throw new Problem('unauthorized');
  const decision = decideAccess(rule, caller);
  if (!decision.allowed) throw new Problem(decision.problem);
  return caller;
}

function people(services: AuthServices) {
  const { database } = services;
  /** The users whom the caller may see. */
  async function visible(bearer: string, find: () => Promise<readonly (UserRow | null)[]>) {
    const caller = await identify(services, bearer);
    if (caller === null || !decideAccess(access.usersRead, caller).allowed) return [];
    const users = await find();
    return users.flatMap((user) => (user !== null && isVisible(caller, user) ? presentUser(user) : []));
  }
  return {
    async resolveEmail(bearer: string, email: string) {
      const isTooLong = email.length > limits.nameCharacters;
      const found = await visible(bearer, async () => [
        isTooLong ? null : await findUserByEmail(database, email),
      ]);
      return found[0] ?? null;
    },
    async findPerson(bearer: string, userId: string) {
      const { data: id } = userIdForm.safeParse(userId);
      const found = await visible(bearer, async () => [
        id === undefined ? null : await findUser(database, id),
      ]);
      return found[0] ?? null;
    },
    findPeople: (bearer: string, userIds: readonly string[]) =>
      visible(bearer, () =>
        findUsers(
          database,
          userIds.flatMap((userId) => userIdForm.safeParse(userId).data ?? []),
        ),
      ),
    async peoplePage(bearer: string, page: number) {
      await required(services, bearer, access.usersList);
      const { rows, totalCount } = await listUsers(database, '', page, peoplePerPage);
      return { users: rows.map(presentUser), totalPages: Math.ceil(totalCount / peoplePerPage) };
    },
  };
}

function offlineTokens(services: AuthServices, keys: KeyKeeper) {
  return {
    async createOfflineToken(bearer: string, idempotencyKey: string | undefined, requestId: string) {
      const caller = await required(services, bearer, access.offlineTokens);
      const create = () => createOfflineToken(services, caller, originOf(requestId));
      if (idempotencyKey === undefined) return await create();
      // The same key at the route of this service is the same request.
      const keyed = {
        routeId: 'createOfflineToken',
        caller: callerKey(caller),
        header: idempotencyKey,
        isSecret: true,
        params: {},
        query: '',
        headers: {},
        json: undefined,
        upload: null,
      };
      const { body } = await answerOnce(keys, keyed, async () => ({ status: 200, body: await create() }));
      return body as Awaited<ReturnType<typeof create>>;
    },
    async listOfflineTokens(bearer: string) {
      await required(services, bearer, access.offlineTokens);
      return await listOfflineTokens(services);
    },
    async revokeOfflineToken(bearer: string, secretId: string, requestId: string) {
      const caller = await required(services, bearer, access.offlineTokens);
      await revokeOfflineToken(services, caller, secretId, originOf(requestId));
    },
  };
}
