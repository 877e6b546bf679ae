/**
 * Versions of features, ordered as Semantic Versioning 2.0.0 orders them; missing numbers count as 0 (`1.2` is
 * `1.2.0`), a leading `v` is left out, and build data after `+` does not count.
 */
export interface Version {
  readonly numbers: readonly number[];
  readonly pre: readonly (string | number)[];
}

const shape = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

/** Null for text that is no version or is longer than 64 characters. */
export function parseVersion(text: string): Version | null {
  const match = text.length > 64 ? null : shape.exec(text);
  if (match === null) return null;
  return {
    numbers: match[1]!.split('.').map(Number),
    pre: (match[2]?.split('.') ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  };
}

/** Negative when `left` comes before `right`, 0 when they are equal in order. */
export function compareVersions(left: Version, right: Version): number {
  const length = Math.max(left.numbers.length, right.numbers.length);
  for (let place = 0; place < length; place++) {
    const difference = (left.numbers[place] ?? 0) - (right.numbers[place] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length;
  for (let place = 0; place < Math.min(left.pre.length, right.pre.length); place++) {
    const difference = comparePart(left.pre[place]!, right.pre[place]!);
    if (difference !== 0) return difference;
  }
  return left.pre.length - right.pre.length;
}

/** Numbers before words; numbers by value, words by their characters. */
function comparePart(left: string | number, right: string | number): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'number') return -1;
  if (typeof right === 'number') return 1;
  return left < right ? -1 : left > right ? 1 : 0;
}
