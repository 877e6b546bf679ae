/**
 * The only way to identities (architecture 11). A separate authentication service is called over HTTP
 * (auth-over-http.ts), the one in this process by its functions; the same rules apply either way. Nothing is cached
 * between requests; only simultaneous checks of one token share a call.
 */
import type { z } from 'zod';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { SharedWork } from '../shared-work.ts';
import type { activeSchema, newOfflineTokenSchema, offlineTokensSchema, personSchema } from './auth-forms.ts';

/** A user as the authentication service shows it to the caller. */
export type Person = Readonly<z.output<typeof personSchema>>;

/** A person, or a device of a person, whose token the authentication service has just validated. */
export type Principal = Omit<Person, 'forceChangePasswordNextSignin'> & {
  readonly kind: 'access' | 'offline';
  readonly mustChangePassword: boolean;
  /** The token as sent, for calls to the authentication service on behalf of the caller. Never stored or logged. */
  readonly bearer: string;
};

/** An active user, as the platform itself may see them. */
type ActiveUser = Readonly<z.output<typeof activeSchema>['users'][number]>;

/**
 * The authentication service, in this process or separate. A caller without the right to ask gets an empty result.
 * Throws its `Problem` when it refuses a change, and any other error when it does not answer.
 */
export type AuthService = {
  validate(
    bearer: string,
    requestId: string,
  ): Promise<(Person & { readonly isOfflineToken: boolean }) | null>;
  resolveEmail(bearer: string, email: string, requestId: string): Promise<Person | null>;
  findPerson(bearer: string, userId: string, requestId: string): Promise<Person | null>;
  findPeople(bearer: string, userIds: readonly string[], requestId: string): Promise<readonly Person[]>;
  peoplePage(
    bearer: string,
    page: number,
    requestId: string,
  ): Promise<{ readonly users: readonly Person[]; readonly totalPages: number }>;
  findActive(userIds: readonly string[], requestId: string): Promise<readonly ActiveUser[]>;
  createOfflineToken(
    bearer: string,
    idempotencyKey: string | undefined,
    requestId: string,
  ): Promise<z.output<typeof newOfflineTokenSchema>>;
  listOfflineTokens(bearer: string, requestId: string): Promise<z.output<typeof offlineTokensSchema>>;
  revokeOfflineToken(bearer: string, secretId: string, requestId: string): Promise<void>;
};

/** Every method throws `unavailable` when the service does not answer. */
export type AuthClient = Omit<AuthService, 'validate' | 'peoplePage'> & {
  /** The person behind an access or offline token, checked now; null when it is unknown, expired or revoked. */
  identify(bearer: string, requestId: string): Promise<Principal | null>;
  /** All users, oldest first, page by page; for callers who may list them. */
  allPeople(bearer: string, requestId: string): AsyncGenerator<readonly Person[]>;
};

/** Devices repeat the request after this time. */
const retrySoon = { 'retry-after': '1' } as const;

/** Why a call with several questions is given up. */
export const tooSlow = () => new Error('The authentication service did not answer all questions in time.');

async function answer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new Problem('unavailable', { cause, headers: retrySoon });
  }
}

const passedOn: readonly ProblemKey[] = [
  'unauthorized',
  'tokenNotFound',
  'invalidIdempotencyKey',
  'idempotencyKeyBusy',
  'idempotencyKeySpent',
  'idempotencyKeyReused',
];

/** As `answer`, but passes on the service's refusals unchanged. */
async function change<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Problem && passedOn.includes(cause.key)) throw cause;
    const isRefused = cause instanceof Problem && cause.status === 403;
    throw new Problem(isRefused ? 'forbidden' : 'unavailable', {
      cause,
      ...(isRefused ? {} : { headers: retrySoon }),
    });
  }
}

export function createAuthClient(service: AuthService): AuthClient {
  const underWay = new SharedWork<Principal | null>();

  async function validate(bearer: string, requestId: string): Promise<Principal | null> {
    const valid = await answer(() => service.validate(bearer, requestId));
    if (valid === null) return null;
    const { isOfflineToken, forceChangePasswordNextSignin, ...person } = valid;
    const kind = isOfflineToken ? 'offline' : 'access';
    return { ...person, kind, mustChangePassword: forceChangePasswordNextSignin, bearer };
  }

  return {
    identify: (bearer, requestId) => underWay.run(bearer, () => validate(bearer, requestId)),
    resolveEmail: (bearer, email, requestId) => answer(() => service.resolveEmail(bearer, email, requestId)),
    findPerson: (bearer, userId, requestId) => answer(() => service.findPerson(bearer, userId, requestId)),
    findPeople: (bearer, userIds, requestId) => answer(() => service.findPeople(bearer, userIds, requestId)),
    async *allPeople(bearer, requestId) {
      const until = Date.now() + limits.authQuestionsSeconds * 1000;
      for (let page = 1, pages = 1; page <= pages; page += 1) {
        if (Date.now() > until) throw new Problem('unavailable', { headers: retrySoon, cause: tooSlow() });
        const { users, totalPages } = await answer(() => service.peoplePage(bearer, page, requestId));
        yield users;
        pages = totalPages;
      }
    },
    findActive: (userIds, requestId) => answer(() => service.findActive(userIds, requestId)),
    createOfflineToken: (bearer, idempotencyKey, requestId) =>
      change(() => service.createOfflineToken(bearer, idempotencyKey, requestId)),
    listOfflineTokens: (bearer, requestId) => change(() => service.listOfflineTokens(bearer, requestId)),
    revokeOfflineToken: (bearer, secretId, requestId) =>
      change(() => service.revokeOfflineToken(bearer, secretId, requestId)),
  };
}
