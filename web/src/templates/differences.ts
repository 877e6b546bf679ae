/** What differs between two configurations of a node, setting by setting. Pure: tested without a browser. */

/** A setting that one side lacks is undefined there. */
export interface Difference {
  /** `gate.width`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

type Group = Readonly<Record<string, unknown>>;

/** In the order of the new configuration; what it no longer has comes last. Lists are compared as a whole. */
export function differences(before: Group, after: Group, above = ''): readonly Difference[] {
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return keys.flatMap((key) => {
    const path = above === '' ? key : `${above}.${key}`;
    const [old, next] = [settingOf(before, key), settingOf(after, key)];
    if (isGroup(old) && isGroup(next)) return differences(old, next, path);
    return isSame(old, next) ? [] : [{ path, before: old, after: next }];
  });
}

const settingOf = (group: Group, key: string) => (Object.hasOwn(group, key) ? group[key] : undefined);

const isGroup = (value: unknown): value is Group =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isSame(left: unknown, right: unknown): boolean {
  if (isGroup(left) && isGroup(right)) return differences(left, right).length === 0;
  if (!Array.isArray(left) || !Array.isArray(right)) return Object.is(left, right);
  return left.length === right.length && left.every((each, index) => isSame(each, right[index]));
}

/** As JSON: on one line where it is short. */
export function settingText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : JSON.stringify(value, null, 2);
}
