/**
 * Converts addresses to stored identifiers and back, on behalf of the caller (contract: Participant identity; decisions
 * 6). One `People` serves one request: it asks the authentication service once for each person.
 */
import { access, type Role } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import {
  anonymousPrefix,
  isAnonymous,
  normaliseAddress,
  type Person,
} from '../../domain/sessions/participant.ts';
import { isUuid } from '../../domain/text.ts';
import { keyedDigest } from '../../http/token-secret.ts';
import { type AuthClient, type Principal, tooSlow } from './auth-client.ts';

/** The caller of a request, and the key for anonymous identifiers. */
export type PeopleOptions = {
  readonly auth: AuthClient;
  readonly principal: Principal;
  readonly participantKey: string;
  readonly requestId: string;
};

/** What the caller may see of a person. */
export type VisiblePerson = {
  readonly email: string;
  readonly displayName: string;
  readonly isActive: boolean;
  /** Null for a person who no longer exists. */
  readonly role: Role | null;
};

/** An account that no longer exists, of which only the identifier is left. */
const gone: VisiblePerson = { email: '', displayName: '', isActive: false, role: null };

const anonymousDigits = 32;
const nobody = Promise.resolve(null);

/** The one-way key of an address: the same address always gives the same key. */
export function anonymousKey(address: string, participantKey: string): string {
  const digest = keyedDigest(participantKey, normaliseAddress(address)).toString('hex');
  return anonymousPrefix + digest.slice(0, anonymousDigits);
}

export class People {
  readonly #options: PeopleOptions;
  /** The deadline for a request that names many people when each answer is slow. */
  readonly #untilMs = performance.now() + limits.authQuestionsSeconds * 1000;
  readonly #resolved = new Map<string, Promise<Person>>();
  readonly #seen = new Map<string, Promise<VisiblePerson | null>>();

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  /** The caller as a member of sessions: their identifier, and the key of the address that validation returned. */
  get caller(): Person {
    return { identifier: this.#options.principal.userId, key: this.#ownKey };
  }

  /** The person with this identifier as a member of sessions. The key is known where the caller may see the address. */
  async member(identifier: string): Promise<Person> {
    if (identifier === this.#options.principal.userId) return this.caller;
    const address = (await this.find(identifier))?.email ?? '';
    const key = address.trim() === '' ? identifier : anonymousKey(address, this.#options.participantKey);
    return { identifier, key };
  }

  /** An account without an address gets its key from its id, so that no two accounts share one. */
  get #ownKey(): string {
    const { principal, participantKey } = this.#options;
    return anonymousKey(principal.email.trim() === '' ? principal.userId : principal.email, participantKey);
  }

  /**
   * The stored form of the person with this address. Call it before any lock is acquired: it may call another service.
   * Throws 503 with `Retry-After: 1` when the authentication service does not answer.
   */
  resolve(address: string): Promise<Person> {
    const normal = normaliseAddress(address);
    let person = this.#resolved.get(normal);
    if (person === undefined) {
      person = this.#ask(normal);
      this.#resolved.set(normal, person);
    }
    return person;
  }

  async #ask(address: string): Promise<Person> {
    const { auth, principal, participantKey, requestId } = this.#options;
    if (address === '') return this.caller;
    const key = anonymousKey(address, participantKey);
    // Offline tokens cannot resolve people: the service refuses them.
    if (principal.kind === 'offline') return { identifier: key, key };
    if (address === normaliseAddress(principal.email)) return { identifier: principal.userId, key };
    if (performance.now() > this.#untilMs)
      throw new Problem('unavailable', { headers: { 'retry-after': '1' }, cause: tooSlow() });
    try {
      const found = await auth.resolveEmail(principal.bearer, address, requestId);
      return { identifier: found?.userId.toLowerCase() ?? key, key };
    } catch (cause) {
      if (!(cause instanceof Problem)) throw cause;
      throw new Problem('unavailable', { headers: { 'retry-after': '1' }, cause });
    }
  }

  /**
   * What the caller may see of the person with this identifier; null for nothing, and always for offline tokens. A
   * person who no longer exists is inactive, without a name, for callers who may see everybody.
   */
  find(identifier: string): Promise<VisiblePerson | null> {
    // A key does not reveal its person, and there may be one key per row.
    if (isAnonymous(identifier)) return nobody;
    let person = this.#seen.get(identifier);
    if (person === undefined) {
      person = this.#fetchPerson(identifier);
      this.#seen.set(identifier, person);
    }
    return person;
  }

  /**
   * Reads many people at once, for `find` and `show`. When the service does not answer, no person is shown: a reply
   * without names is better than none.
   * @param identifiers GUIDs and anonymous keys alike
   */
  async prefetch(identifiers: Iterable<string>): Promise<void> {
    const { auth, principal, requestId } = this.#options;
    if (principal.kind === 'offline') return;
    const wanted = [...new Set(identifiers)].filter(
      (one) => isUuid(one) && one !== principal.userId && !this.#seen.has(one),
    );
    if (wanted.length === 0) return;
    const found = await auth.findPeople(principal.bearer, wanted, requestId).catch((error: unknown) => {
      if (error instanceof Problem) return null;
      throw error;
    });
    const absent = found === null ? null : this.#absent;
    const people = new Map(found?.map((person) => [person.userId.toLowerCase(), visible(person)]));
    for (const one of wanted) this.#seen.set(one, Promise.resolve(people.get(one.toLowerCase()) ?? absent));
  }

  /** What the caller sees of a person whom the authentication service does not show them. */
  get #absent(): VisiblePerson | null {
    const seesEverybody: readonly string[] = access.usersList.roles;
    return seesEverybody.includes(this.#options.principal.role) ? gone : null;
  }

  async #fetchPerson(identifier: string): Promise<VisiblePerson | null> {
    const { auth, principal, requestId } = this.#options;
    if (principal.kind === 'offline' || !isUuid(identifier)) return null;
    if (identifier === principal.userId) return visible(principal);
    if (performance.now() > this.#untilMs) return null;
    try {
      const found = await auth.findPerson(principal.bearer, identifier, requestId);
      return found === null ? this.#absent : visible(found);
    } catch (error) {
      // A reply without a name is better than none: the identifier takes its place.
      if (error instanceof Problem) return null;
      throw error;
    }
  }

  /** The name of the person with this identifier; null when the caller may not see them. */
  async nameOf(identifier: string): Promise<string | null> {
    return (await this.find(identifier))?.displayName || null;
  }

  /** The address of an identifier when the caller may see it, else the identifier. */
  async show(identifier: string): Promise<string> {
    return (await this.find(identifier))?.email || identifier;
  }
}

/** First and last name, else username, else address. */
function visible(person: {
  readonly firstName: string;
  readonly lastName: string;
  readonly username: string;
  readonly email: string;
  readonly isActive: boolean;
  readonly role: Role;
}): VisiblePerson {
  const fullName = `${person.firstName} ${person.lastName}`.trim();
  return {
    email: person.email,
    displayName: fullName || person.username || person.email,
    isActive: person.isActive,
    role: person.role,
  };
}

/** The `People` of one request. */
export function peopleOf(context: {
  readonly services: { readonly auth: AuthClient; readonly settings: { readonly PARTICIPANT_KEY: string } };
  readonly principal: Principal;
  readonly requestId: string;
}): People {
  return new People({
    auth: context.services.auth,
    principal: context.principal,
    participantKey: context.services.settings.PARTICIPANT_KEY,
    requestId: context.requestId,
  });
}
