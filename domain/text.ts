/** Checks of text that callers send (decisions 2): names, titles, descriptions, and what the database cannot hold. */
import { limits } from './limits.ts';

const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** False for text with NUL or lone surrogates, which PostgreSQL's text and jsonb refuse. */
export function isStorableText(value: string): boolean {
  return !value.includes('\u0000') && value.isWellFormed();
}

/** A UUID of any version, in either case. */
export function isUuid(value: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}

/** The start of a text. A cut may leave half a character, which the database would refuse: it is replaced. */
export function startOf(value: string, maxUnits: number): string {
  return value.slice(0, maxUnits).toWellFormed();
}

/** True for 1 to 255 characters (code points) after trimming, without control characters. */
export function isName(value: string, maxCharacters: number = limits.nameCharacters): boolean {
  const trimmed = value.trim();
  return (
    trimmed.length > 0 &&
    isStorableText(trimmed) &&
    !controlCharacters.test(trimmed) &&
    withinCharacters(trimmed, maxCharacters)
  );
}

/** Counts code points, but only when the cheap bound in UTF-16 units does not already decide. */
export function withinCharacters(value: string, maxCharacters: number): boolean {
  if (value.length <= maxCharacters) return true;
  if (value.length > maxCharacters * 2) return false;
  return [...value].length <= maxCharacters;
}

/** Length in UTF-8 bytes, without encoding the text. */
export function utf8Bytes(value: string): number {
  let bytes = 0;
  for (const character of value) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/**
 * An address of the shape `local@domain` that mail systems accept: at most 254 characters, no spaces or control
 * characters, one `@` before a domain. Whether it exists is not checked.
 */
export function isEmail(value: string): boolean {
  if (value.length > 254 || !isStorableText(value)) return false;
  return (
    /^[^\s@"<>()[\]\\,;:\u0000-\u001f\u007f]{1,64}@[^\s@"<>()[\]\\,;:\u0000-\u001f\u007f]{1,253}$/u.test(
      value,
    ) && !/@[.-]|\.\.|[.-]$/.test(value)
  );
}

/** Depth of nested objects and arrays: 0 for a plain value, 1 for `{}`. Iterative, so depth costs no stack. */
export function jsonDepthLevels(value: unknown): number {
  let deepest = 0;
  const waiting: [unknown, number][] = [[value, 0]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [current, above] = next;
    if (typeof current !== 'object' || current === null) continue;
    const depth = above + 1;
    if (depth > deepest) deepest = depth;
    for (const child of Array.isArray(current) ? current : Object.values(current))
      waiting.push([child, depth]);
  }
  return deepest;
}

/** Whether JSON has so many levels and values at most; it looks at no more. Iterative, as {@link jsonDepthLevels}. */
function isWithin(value: unknown, maxLevels: number, maxValues: number): boolean {
  const waiting: [unknown, number][] = [[value, 1]];
  let left = maxValues;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [current, depth] = next;
    if (typeof current !== 'object' || current === null) continue;
    if (depth > maxLevels) return false;
    const children = Array.isArray(current) ? current : Object.values(current);
    left -= children.length;
    if (left < 0) return false;
    for (const child of children) waiting.push([child, depth + 1]);
  }
  return true;
}

export type JsonObject = { readonly [key: string]: unknown };

/** True for an object that is neither null nor an array: what `Metadata` and other free JSON must be. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Free JSON within its bounds: an object, at most 64 KB serialised, at most 20 levels deep. */
export function isFreeJson(value: unknown, maxBytes: number = limits.freeJsonBytes): value is JsonObject {
  // A value has a byte at least.
  if (!isJsonObject(value) || !isWithin(value, limits.freeJsonDepthLevels, maxBytes)) return false;
  const text = JSON.stringify(value);
  return text.length <= maxBytes && utf8Bytes(text) <= maxBytes;
}
