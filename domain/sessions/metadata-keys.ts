/** Paths into the metadata of sessions, with the values that stand there. */
import { limits } from '../limits.ts';
import { isJsonObject, isStorableText, type JsonObject } from '../text.ts';
import { peopleKeys } from './participant.ts';
import { isListIndex } from './session-filter.ts';

/** Names between single dots, as in a session query. What holds people is neither suggested nor pinned. */
export function isMetadataPath(path: string): boolean {
  const keys = path.split('.');
  return (
    path.length <= limits.queryPathCharacters &&
    isStorableText(path) &&
    keys.length <= limits.freeJsonDepthLevels &&
    !keys.includes('') &&
    !peopleKeys.includes(keys[0]!)
  );
}

/** The value at a path; undefined where nothing is there. */
export function metadataAt(metadata: JsonObject | null, path: string): unknown {
  let value: unknown = metadata;
  for (const key of path.split('.')) {
    const isPlace = Array.isArray(value) && isListIndex(key);
    const holder = isPlace || isJsonObject(value) ? (value as Readonly<Record<string, unknown>>) : {};
    if (!Object.hasOwn(holder, key)) return undefined;
    value = holder[key];
  }
  return value;
}

type Scalar = string | number | boolean;

export interface MetadataKey {
  readonly path: string;
  /** How many of the metadata have a value there. */
  readonly sessions: number;
  /** Different ones, of the newest sessions first. */
  readonly samples: readonly Scalar[];
}

/**
 * The paths at which plain values, or lists of them, stand; the most frequent first.
 * @param newestFirst gone through twice
 * @param pause called after each metadata: hundreds may have thousands of paths each
 */
export async function metadataKeys(
  newestFirst: Iterable<JsonObject>,
  pause: () => Promise<void> = async () => undefined,
): Promise<MetadataKey[]> {
  const sessions = new Map<string, number>();
  for (const metadata of newestFirst) {
    for (const path of leaves(metadata)) sessions.set(path, (sessions.get(path) ?? 0) + 1);
    await pause();
  }
  const found = mostFrequent(sessions).map(([path, count]) => ({
    path,
    sessions: count,
    samples: new Set<Scalar>(),
  }));
  for (const metadata of newestFirst) {
    for (const { path, samples } of found) addSamples(samples, scalarsOf(metadataAt(metadata, path)));
    await pause();
  }
  return found.map(({ path, sessions, samples }) => ({ path, sessions, samples: [...samples] }));
}

/** The paths of the most sessions, equal ones by their names. To sort all of a million would take seconds. */
function mostFrequent(sessions: ReadonlyMap<string, number>): (readonly [string, number])[] {
  const most = limits.metadataKeys;
  const order = (left: readonly [string, number], right: readonly [string, number]) =>
    right[1] - left[1] || (left[0] < right[0] ? -1 : 1);
  const kept: (readonly [string, number])[] = [];
  let last: readonly [string, number] | undefined;
  for (const entry of sessions) {
    if (last !== undefined && order(last, entry) < 0) continue;
    kept.push(entry);
    if (kept.length < 2 * most) continue;
    kept.sort(order).splice(most);
    last = kept.at(-1);
  }
  return kept.sort(order).slice(0, most);
}

function addSamples(samples: Set<Scalar>, values: readonly Scalar[]): void {
  for (const value of values) {
    if (samples.size >= limits.metadataKeySamples) return;
    if (isShort(value)) samples.add(value);
  }
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
const isShort = (value: Scalar) =>
  typeof value !== 'string' || (value !== '' && value.length <= limits.metadataSampleCharacters);

/** @param above the path of the object, with a dot at its end */
function* leaves(value: JsonObject, above = ''): Generator<string> {
  for (const [key, item] of Object.entries(value)) {
    const path = above + key;
    // A name with a dot in it cannot be distinguished from two names.
    if (key.includes('.') || !isMetadataPath(path)) continue;
    if (isJsonObject(item)) yield* leaves(item, `${path}.`);
    else if (scalarsOf(item).length > 0) yield path;
  }
}

const scalarsOf = (value: unknown): readonly Scalar[] =>
  isScalar(value) ? [value] : Array.isArray(value) ? value.filter(isScalar) : [];
