/**
 * Who a person of a session is (contract: Participant identity; decisions 6). Addresses are never stored: a person is
 * held as `identifier` (the authentication service's GUID, or the anonymous key) and, never shown, `key` (the
 * anonymous key in every case). The key itself is made with a secret, outside this folder.
 */

export interface Person {
  /** The authentication service's GUID in lower case, or `anon:` and 32 hexadecimal digits. */
  readonly identifier: string;
  /** `anon:` and 32 hexadecimal digits, made from the address. */
  readonly key: string;
}

export const anonymousPrefix = 'anon:';

/** The key of the list of people in a session's metadata. */
export const participantsKey = 'participants';

/** The keys of a session's metadata that hold people. */
export const peopleKeys: readonly string[] = ['openedBy', 'closedBy', participantsKey];

/** The one form of an address from which its key is made: trimmed, lower-cased, NFC. */
export function normaliseAddress(address: string): string {
  return address.trim().toLowerCase().normalize('NFC');
}

/**
 * Two mentions are the same person when either part is equal: so a device, whose token resolves to no person, and the
 * person who signs in still match. An empty part matches nothing.
 */
export function isSamePerson(left: Person, right: Person): boolean {
  return (
    (left.identifier !== '' && left.identifier === right.identifier) ||
    (left.key !== '' && left.key === right.key)
  );
}

export function isAnonymous(identifier: string): boolean {
  return identifier.startsWith(anonymousPrefix);
}
