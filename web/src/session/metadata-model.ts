/** Metadata as entries that people edit. Pure: tested without a browser. */

type Json = Record<string, unknown>;

export interface Entry {
  /** Names from the outside in: a name may have a dot in it. */
  readonly keys: readonly string[];
  readonly value: unknown;
}

/** What the platform says in the metadata, and what they hold of people: shown elsewhere, and not edited here. */
const notEdited = ['openedBy', 'closedBy', 'participants'];
const ofClosedSessions = ['status', 'closedAt', 'closeReason'];
const ofSharedSessions = ['startTimeUtc', 'timeWindowSeconds', 'machineGroup', ...ofClosedSessions];

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** True for what the platform says of a session that is closed. `status` alone may be a word of the caller's. */
export const isClosed = (metadata: Json | null) =>
  metadata !== null && metadata.status === 'closed' && 'closedBy' in metadata;

/** The plain values and lists of the metadata by their names: the platform keeps no order of them. */
export function entriesOf(metadata: Json | null): Entry[] {
  const isShared = metadata !== null && 'machineGroup' in metadata;
  const own = isShared ? ofSharedSessions : isClosed(metadata) ? ofClosedSessions : [];
  const left = new Set([...notEdited, ...own]);
  return walk(metadata ?? {}, [])
    .filter(({ keys }) => !left.has(keys[0]!))
    .sort((a, b) => pathOf(a).localeCompare(pathOf(b), 'en', { numeric: true }));
}

function walk(value: Json, above: readonly string[]): Entry[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const keys = [...above, key];
    return isObject(item) && Object.keys(item).length > 0 ? walk(item, keys) : [{ keys, value: item }];
  });
}

export const pathOf = ({ keys }: Entry) => keys.join('.');

/** `soft`, `12`, `yes`; lists with commas between, other things as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object'))
    return value.map(valueText).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The text of a value in its field; lists and null as JSON. */
function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/**
 * The value that a text means. Text stays text where text was; else numbers, `true`, `false`, and JSON lists and objects
 * are what they look like.
 * @param before the value that the text replaces; undefined for a new one
 */
export function valueOfText(text: string, before?: unknown): unknown {
  const trimmed = text.trim();
  if (typeof before === 'string') return text;
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true';
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed)) return Number(trimmed);
  if (!/^[[{]|^null$/.test(trimmed)) return text;
  try {
    return JSON.parse(trimmed);
  } catch {
    return text;
  }
}

export interface Change {
  readonly keys: readonly string[];
  /** Undefined: the entry goes. */
  readonly value: unknown;
}

/** The metadata with these entries changed; all else stays. Objects that become empty go. */
export function withChanges(metadata: Json | null, changes: readonly Change[]): Json {
  return changes.reduce<Json>((changed, { keys, value }) => withValue(changed, keys, value), metadata ?? {});
}

function withValue(holder: Json, [key, ...inner]: readonly string[], value: unknown): Json {
  if (key === undefined) return holder;
  const item = Object.hasOwn(holder, key) ? holder[key] : undefined;
  const next = inner.length === 0 ? value : withValue(isObject(item) ? item : {}, inner, value);
  const isGone = next === undefined || (inner.length > 0 && isObject(next) && Object.keys(next).length === 0);
  // From entries, so that a key `__proto__` stays a key.
  const entries = Object.entries(holder);
  if (isGone) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(
    Object.hasOwn(holder, key)
      ? entries.map(([name, present]) => [name, name === key ? next : present])
      : [...entries, [key, next]],
  );
}

/** A row of the form. */
export interface Draft {
  /** Names the row while it is edited. */
  readonly id: number;
  readonly path: string;
  readonly text: string;
  /** Undefined for a new entry, whose path can be written. */
  readonly entry?: Entry;
}

let lastId = 0;

export function newDraft(entry?: Entry): Draft {
  lastId += 1;
  return {
    id: lastId,
    path: entry === undefined ? '' : pathOf(entry),
    text: entry === undefined ? '' : textOfValue(entry.value),
    ...(entry === undefined ? {} : { entry }),
  };
}

/** Whether a row changes nothing. */
const isAsBefore = ({ path, text, entry }: Draft): boolean =>
  entry === undefined ? path.trim() === '' && text.trim() === '' : text === textOfValue(entry.value);

/** Whether rows differ from the entries that they were made of. */
export const differs = (drafts: readonly Draft[], before: readonly Entry[]): boolean =>
  !drafts.every(isAsBefore) || before.some((entry) => !drafts.some((draft) => draft.entry === entry));

/** Rows without path and text are no entries. @throws Error with a sentence for people */
export function changesOf(drafts: readonly Draft[], before: readonly Entry[]): Change[] {
  const kept = new Set(drafts.flatMap(({ entry }) => entry ?? []));
  const gone = before.filter((entry) => !kept.has(entry)).map(({ keys }) => ({ keys, value: undefined }));
  const changed = drafts.flatMap((draft): Change[] => {
    const { path, text, entry } = draft;
    if (isAsBefore(draft)) return [];
    if (entry !== undefined) return [{ keys: entry.keys, value: valueOfText(text, entry.value) }];
    const keys = path.trim().split('.');
    if (keys.includes('')) throw new Error(`“${path}” is no name: use names with single dots between them.`);
    return [{ keys, value: valueOfText(text) }];
  });
  const paths = drafts.map(({ path }) => path.trim()).filter((path) => path !== '');
  const twice = paths.find((path, at) => paths.indexOf(path) !== at);
  if (twice !== undefined) throw new Error(`“${twice}” is named twice.`);
  return [...gone, ...changed];
}
