/**
 * The only way to identities (architecture 11). Over HTTP when a separate authentication service is named, else
 * through the same dispatcher in this process; the same routes answer either way, so there is one set of rules.
 * Nothing is remembered between requests; only checks of one token that are under way at the same moment share a call.
 */
import { z } from 'zod';
import { type Role, roles } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { AuthAnswer, AuthCall, AuthTransport } from './auth-transport.ts';

/** A person, or a device of a person, whose token the authentication service has just found valid. */
export type Principal = {
  readonly kind: 'access' | 'offline';
  readonly userId: string;
  readonly username: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly title: string;
  readonly company: string;
  readonly email: string;
  readonly role: Role;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly isActive: boolean;
  readonly isRegistrationComplete: boolean;
  readonly hasAcceptedDataPrivacy: boolean;
  readonly mustChangePassword: boolean;
  /** The token as sent, to ask the authentication service in the caller's own name. Never stored or logged. */
  readonly bearer: string;
};

/** A user as the authentication service shows one to the caller. */
export type Person = Omit<Principal, 'kind' | 'bearer' | 'mustChangePassword'> & {
  readonly forceChangePasswordNextSignin: boolean;
};

/** An active user, as the platform itself may know them. */
type ActiveUser = z.output<typeof activeSchema>['users'][number];

export type AuthClient = {
  /**
   * The person behind an access or offline token, checked now; null when the token is unknown, expired or revoked.
   * Throws the `unavailable` problem when the check cannot be made.
   */
  identify(bearer: string, requestId: string): Promise<Principal | null>;
  /** The user with this address, when the caller may see them; null otherwise. Throws `unavailable`. */
  resolveEmail(bearer: string, email: string, requestId: string): Promise<Person | null>;
  /** The user with this id, when the caller may see them; null otherwise. Throws `unavailable`. */
  findPerson(bearer: string, userId: string, requestId: string): Promise<Person | null>;
  /** Those of these users whom the caller may see; any number of ids. Throws `unavailable`. */
  findPeople(bearer: string, userIds: readonly string[], requestId: string): Promise<Person[]>;
  /** All users, oldest first, page by page; for callers who may list them. Throws `unavailable`. */
  allPeople(bearer: string, requestId: string): AsyncGenerator<readonly Person[]>;
  /**
   * Those of these users that are active, asked in the platform's own name; at most `limits.usersLookup` ids. Throws
   * `unavailable`, also when the service does not know the platform's credential.
   */
  findActive(userIds: readonly string[], requestId: string): Promise<readonly ActiveUser[]>;
  /** Any call in the caller's name, its answer as it stands. Throws `unavailable` for 5xx and no answer. */
  call(call: AuthCall): Promise<AuthAnswer>;
};

/** A device tries again by itself. */
const retrySoon = { 'retry-after': '1' } as const;

const personSchema = z.object({
  userId: z.string(),
  username: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  title: z.string(),
  company: z.string(),
  email: z.string(),
  role: z.enum(roles),
  createdAt: z.string(),
  updatedAt: z.string(),
  isActive: z.boolean(),
  isRegistrationComplete: z.boolean(),
  hasAcceptedDataPrivacy: z.boolean(),
  forceChangePasswordNextSignin: z.boolean(),
});
const userPageSchema = z.object({ users: z.array(personSchema), totalPages: z.int() });
const peopleSchema = z.object({ users: z.array(personSchema) });
const activeSchema = z.object({
  users: z.array(
    z.object({
      userId: z.string(),
      role: z.enum(roles),
      tokensRevokedAt: z.iso
        .datetime()
        .transform((text) => new Date(text))
        .nullable(),
    }),
  ),
});
const refusalSchema = z.object({ status: z.literal('error'), message: z.string() });
const validationSchema = personSchema.extend({ isOfflineToken: z.boolean() });

/** @param serviceKey the platform's own credential (`AUTH_SERVICE_KEY`) */
export function createAuthClient(transport: AuthTransport, serviceKey: string): AuthClient {
  const underWay = new Map<string, Promise<Principal | null>>();

  async function call(wanted: AuthCall): Promise<AuthAnswer> {
    let answer: AuthAnswer;
    try {
      answer = await transport(wanted);
    } catch (cause) {
      throw new Problem('unavailable', { cause, headers: retrySoon });
    }
    if (answer.status >= 500) {
      const cause = new Error(`authentication service: ${answer.status}`);
      throw new Problem('unavailable', { cause, headers: retrySoon });
    }
    return answer;
  }

  async function validate(bearer: string, requestId: string): Promise<Principal | null> {
    const answer = await call({ method: 'POST', path: '/validate', json: { token: bearer }, requestId });
    if (answer.status !== 200) return refusedOrThrow(answer, [400, 401]);
    const { isOfflineToken, forceChangePasswordNextSignin, ...person } = parsed(validationSchema, answer);
    return {
      ...person,
      kind: isOfflineToken ? 'offline' : 'access',
      mustChangePassword: forceChangePasswordNextSignin,
      bearer,
    };
  }

  return {
    call,
    identify(bearer, requestId) {
      const shared = underWay.get(bearer);
      if (shared !== undefined) return shared;
      const check = validate(bearer, requestId).finally(() => underWay.delete(bearer));
      underWay.set(bearer, check);
      return check;
    },
    async resolveEmail(bearer, email, requestId) {
      const path = '/users/resolve';
      const answer = await call({ method: 'POST', path, bearer, json: { email }, requestId });
      return answer.status === 200
        ? parsed(personSchema, answer)
        : refusedOrThrow(answer, [400, 401, 403, 404]);
    },
    async findPerson(bearer, userId, requestId) {
      const path = `/users/${encodeURIComponent(userId)}`;
      const answer = await call({ method: 'GET', path, bearer, requestId });
      return answer.status === 200 ? parsed(personSchema, answer) : refusedOrThrow(answer, [401, 403, 404]);
    },
    async *allPeople(bearer, requestId) {
      const until = Date.now() + limits.authQuestionsSeconds * 1000;
      for (let page = 1, pages = 1; page <= pages; page += 1) {
        if (Date.now() > until) throw new Problem('unavailable', { headers: retrySoon });
        const path = `/users?page=${page}&pageSize=${limits.sessionPageSizeMax}`;
        const answer = await call({ method: 'GET', path, bearer, requestId });
        const { users, totalPages } = parsed(userPageSchema, answer);
        yield users;
        pages = totalPages;
      }
    },
    async findActive(userIds, requestId) {
      const json = { ids: userIds };
      const path = '/users/active';
      const answer = await call({ method: 'POST', path, bearer: serviceKey, json, requestId });
      if (answer.status !== 200) refusedOrThrow(answer, []);
      return parsed(activeSchema, answer).users;
    },
    async findPeople(bearer, userIds, requestId) {
      const found: Person[] = [];
      for (let at = 0; at < userIds.length; at += limits.usersLookup) {
        const json = { ids: userIds.slice(at, at + limits.usersLookup) };
        const answer = await call({ method: 'POST', path: '/users/lookup', bearer, json, requestId });
        if (answer.status !== 200) refusedOrThrow(answer, [401, 403]);
        else found.push(...parsed(peopleSchema, answer).users);
      }
      return found;
    },
  };
}

/**
 * Null for a definite no, in the service's own words; anything unexpected, also a refusal by something in between, means
 * that the question has not been answered.
 */
function refusedOrThrow(answer: AuthAnswer, definite: readonly number[]): null {
  if (definite.includes(answer.status) && refusalSchema.safeParse(answer.body).success) return null;
  const cause = new Error(`authentication service: ${answer.status}`);
  throw new Problem('unavailable', { cause, headers: retrySoon });
}

function parsed<Schema extends z.ZodType>(schema: Schema, answer: AuthAnswer): z.output<Schema> {
  const result = schema.safeParse(answer.body);
  if (!result.success) throw new Problem('unavailable', { cause: result.error, headers: retrySoon });
  return result.data;
}
