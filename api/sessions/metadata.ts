/**
 * People in a session's metadata (contract: Participant identity; decisions 5): `openedBy`, `closedBy` and
 * `participants` hold identifiers where they are stored and addresses where the caller may see them.
 */
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { isEmail, isJsonObject, type JsonObject } from '../../domain/text.ts';
import type { People } from '../participants.ts';

const personKeys = ['openedBy', 'closedBy'] as const;
const listKey = 'participants';

/** Each may be a question to the authentication service. */
const maxParticipants = 500;
/** One after the other, a hundred people would take as long as a hundred questions. */
const askedAtOnce = 10;

/**
 * A copy in which identifiers stand for addresses. Throws 503 when the authentication service cannot be asked, and
 * `refusal` when more participants are named than a session can have.
 */
export async function hideAddresses(
  metadata: JsonObject,
  people: People,
  refusal: ProblemKey,
): Promise<JsonObject> {
  const list = Object.hasOwn(metadata, listKey) ? metadata[listKey] : undefined;
  if (Array.isArray(list) && list.length > maxParticipants) throw new Problem(refusal);
  return mapPeople(metadata, async (value) => {
    if (typeof value === 'string') return isAddress(value) ? (await people.resolve(value)).identifier : value;
    if (!isJsonObject(value) || typeof value.email !== 'string') return value;
    const { email, ...rest } = value;
    return isAddress(email) ? { ...rest, id: (await people.resolve(email)).identifier } : value;
  });
}

/** A copy in which addresses stand for the identifiers of those whom the caller may see. */
export async function showAddresses(metadata: JsonObject, people: People): Promise<JsonObject> {
  return mapPeople(metadata, async (value) => {
    if (typeof value === 'string') return people.show(value);
    if (!isJsonObject(value) || typeof value.id !== 'string') return value;
    return { ...value, email: (await people.find(value.id))?.email || null };
  });
}

/** The identifiers of all people in stored metadata: for asking for them at once. */
export function peopleIn(metadata: JsonObject): string[] {
  const list = Object.hasOwn(metadata, listKey) ? metadata[listKey] : undefined;
  const items: unknown[] = Array.isArray(list)
    ? list.map((item) => (isJsonObject(item) ? item.id : item))
    : [];
  return [...personKeys.map((key) => metadata[key]), ...items].filter((item) => typeof item === 'string');
}

const isAddress = (text: string) => isEmail(text.trim());

async function mapPeople(
  metadata: JsonObject,
  change: (value: unknown) => Promise<unknown>,
): Promise<JsonObject> {
  const changed = new Map<string, unknown>();
  for (const key of personKeys) {
    if (typeof metadata[key] === 'string') changed.set(key, await change(metadata[key]));
  }
  const list = Object.hasOwn(metadata, listKey) ? metadata[listKey] : undefined;
  if (Array.isArray(list)) {
    const items: unknown[] = [];
    for (let from = 0; from < list.length; from += askedAtOnce)
      items.push(...(await Promise.all(list.slice(from, from + askedAtOnce).map(change))));
    changed.set(listKey, items);
  }
  // From entries, so that a key `__proto__` stays a key.
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [key, changed.has(key) ? changed.get(key) : value]),
  );
}
