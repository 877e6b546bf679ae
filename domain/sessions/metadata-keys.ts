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

/** The paths at which plain values, or lists of them, stand; the most frequent first. */
export function metadataKeys(newestFirst: readonly JsonObject[]): MetadataKey[] {
  const found = new Map<string, { sessions: number; samples: Set<Scalar> }>();
  for (const metadata of newestFirst) {
    for (const [path, values] of leaves(metadata)) {
      const key = found.get(path) ?? { sessions: 0, samples: new Set<Scalar>() };
      found.set(path, key);
      key.sessions += 1;
      for (const value of values) {
        if (key.samples.size < limits.metadataKeySamples && isShort(value)) key.samples.add(value);
      }
    }
  }
  return [...found]
    .map(([path, { sessions, samples }]) => ({ path, sessions, samples: [...samples] }))
    .sort((left, right) => right.sessions - left.sessions || (left.path < right.path ? -1 : 1))
    .slice(0, limits.metadataKeys);
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
const isShort = (value: Scalar) =>
  typeof value !== 'string' || (value !== '' && value.length <= limits.metadataSampleCharacters);

function* leaves(value: JsonObject, above: readonly string[] = []): Generator<[string, readonly Scalar[]]> {
  for (const [key, item] of Object.entries(value)) {
    const path = [...above, key].join('.');
    // A name with a dot in it cannot be told from two names.
    if (key.includes('.') || !isMetadataPath(path)) continue;
    if (isJsonObject(item)) yield* leaves(item, [...above, key]);
    else if (isScalar(item)) yield [path, [item]];
    else if (Array.isArray(item) && item.some(isScalar)) yield [path, item.filter(isScalar)];
  }
}
