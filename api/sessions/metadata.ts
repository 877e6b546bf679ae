/**
 * People in a session's metadata (contract: Participant identity; decisions 5): `openedBy`, `closedBy` and
 * `participants` contain identifiers in the database, and addresses in replies when the caller may see them.
 */
import type { Problem } from '../../domain/errors.ts';
import { participantsKey, peopleKeys } from '../../domain/sessions/participant.ts';
import { isEmail, isJsonObject, type JsonObject } from '../../domain/text.ts';
import type { People } from '../identity/participants.ts';

/** Each may cost a call to the authentication service. */
export const maxParticipants = 500;
/** Sequentially, a hundred people would take as long as a hundred calls. */
const askedAtOnce = 10;

/**
 * A copy with identifiers in place of addresses, in any form that callers used: text, lists, objects, names of fields.
 * An object's `email` becomes its `id`. Throws 503 when the authentication service does not answer, and `refusal` when
 * more participants are named than a session can have.
 */
export async function hideAddresses(
  metadata: JsonObject,
  people: People,
  refusal: () => Problem,
): Promise<JsonObject> {
  const list = Object.hasOwn(metadata, participantsKey) ? metadata[participantsKey] : undefined;
  const addresses = new Set<string>();
  for (const key of peopleKeys) {
    if (Object.hasOwn(metadata, key)) mapTexts(metadata[key], (text) => collect(text, addresses));
  }
  const isTooMany =
    addresses.size > maxParticipants || (Array.isArray(list) && list.length > maxParticipants);
  if (isTooMany) throw refusal();
  const resolved = await askAll([...addresses], async (address) => {
    const { identifier } = await people.resolve(address);
    return [address, identifier] as const;
  });
  const identifiers = new Map(resolved);
  const hidden = (text: string) => withoutAddresses(text, (address) => identifiers.get(address) ?? '');
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [
      key,
      peopleKeys.includes(key) ? mapTexts(value, hidden) : value,
    ]),
  );
}

/** Asks in batches: after a failed call the rest are skipped. */
async function askAll<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < items.length; from += askedAtOnce)
    answers.push(...(await Promise.all(items.slice(from, from + askedAtOnce).map(ask))));
  return answers;
}

/** Returns the text unchanged, and collects its addresses. */
function collect(text: string, addresses: Set<string>): string {
  withoutAddresses(text, (address) => {
    addresses.add(address);
    return '';
  });
  return text;
}

const embedded = /[^\s@"'<>()[\]\\,;:]{1,64}@[^\s@"'<>()[\]\\,;:]{1,253}/gu;

/**
 * The text with each address replaced: the whole text, one in a sentence (`Ann <ann@example.org>`), or all of it when
 * it has an unknown form and contains an `@`.
 */
function withoutAddresses(text: string, replaced: (address: string) => string): string {
  if (!text.includes('@')) return text;
  if (isEmail(text.trim())) return replaced(text.trim());
  const rest = text.replace(embedded, (address) => replaced(address));
  return rest.includes('@') ? replaced(text) : rest;
}

/** A copy with every text in it changed, names of fields too; the `email` of an object becomes its `id`. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isJsonObject(value)) return value;
  const isPerson = typeof value.email === 'string' && value.email.includes('@');
  const entries = Object.entries(value).filter(([name]) => !(isPerson && name === 'id'));
  // From entries, so that a key `__proto__` stays a key.
  return Object.fromEntries(
    entries.map(([name, item]) => [
      isPerson && name === 'email' ? 'id' : change(name),
      mapTexts(item, change),
    ]),
  );
}

/** A copy with addresses in place of the identifiers of people whom the caller may see. */
export async function showAddresses(metadata: JsonObject, people: People): Promise<JsonObject> {
  return mapPeople(metadata, async (value) => {
    if (typeof value === 'string') return people.show(value);
    if (!isJsonObject(value) || typeof value.id !== 'string') return value;
    return { ...value, email: (await people.find(value.id))?.email || null };
  });
}

/** The identifiers of all people in stored metadata, to read them in one call. */
export function peopleIn(metadata: JsonObject): string[] {
  return peopleKeys
    .filter((key) => Object.hasOwn(metadata, key))
    .flatMap((key) => mentionsOf(key, metadata[key]))
    .map((mention) => (isJsonObject(mention) ? mention.id : mention))
    .filter((identifier) => typeof identifier === 'string');
}

/** Callers write participants as a list, and one person as a text or an object; each is stored in its form. */
const mentionsOf = (key: string, value: unknown): readonly unknown[] =>
  key === participantsKey && Array.isArray(value) ? value : [value];

async function mapPeople(
  metadata: JsonObject,
  change: (value: unknown) => Promise<unknown>,
): Promise<JsonObject> {
  const keys = peopleKeys.filter((one) => Object.hasOwn(metadata, one));
  // A copy of thousands of names takes milliseconds, and most metadata has no people.
  if (keys.length === 0) return metadata;
  // A spread keeps a key `__proto__` as a key.
  const changed: Record<string, unknown> = { ...metadata };
  for (const key of keys) {
    const mentions = await askAll(mentionsOf(key, metadata[key]), change);
    changed[key] = Array.isArray(metadata[key]) && key === participantsKey ? mentions : mentions[0];
  }
  return changed;
}
