/** JSON as the platform reads it from callers (decisions 2): one meaning, bounded depth, text the database can hold. */
import { limits } from './limits.ts';
import { isStorableText } from './text.ts';

export type StrictJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

const numberToken = /[-+.\deE]+/y;

const refuse = (reason: string): StrictJson => ({ ok: false, reason });

/**
 * Parses JSON text. Refused, with a reason fit for the caller: malformed text, more than 64 levels, an object with
 * the same key twice (parsers disagree about which counts), numbers beyond a double, text with NUL or lone
 * surrogates. `__proto__` and the like become ordinary own properties, as `JSON.parse` makes them.
 */
export function parseStrictJson(text: string): StrictJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('The body is not valid JSON.');
  }
  const reason = findFault(text);
  return reason === null ? { ok: true, value } : refuse(reason);
}

/** Walks text that is known to be well-formed; keeps one set of keys for each open object. */
function findFault(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  let expectsKey = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      const end = endOfString(text, at);
      const fault = checkString(text, at, end, expectsKey ? open.at(-1) : null);
      if (fault !== null) return fault;
      expectsKey = false;
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      open.push(code === 0x7b ? new Set() : null);
      if (open.length > limits.jsonDepthLevels)
        return `The body is nested deeper than ${limits.jsonDepthLevels} levels.`;
      expectsKey = code === 0x7b;
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
      expectsKey = false;
    } else if (code === 0x2c) {
      expectsKey = open.at(-1) instanceof Set;
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumber(text, at);
      if (!Number.isFinite(Number(text.slice(at, end)))) return 'The body has a number that is out of range.';
      at = end - 1;
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at;
}

function checkString(text: string, start: number, end: number, keys: Set<string> | null | undefined) {
  const raw = text.slice(start + 1, end);
  const value = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  if (!isStorableText(value)) return 'The body has text with NUL or lone surrogates.';
  if (keys === null || keys === undefined) return null;
  if (keys.has(value)) return 'The body has an object with the same key twice.';
  keys.add(value);
  return null;
}

function endOfNumber(text: string, start: number): number {
  numberToken.lastIndex = start;
  numberToken.test(text);
  return Math.max(numberToken.lastIndex, start + 1);
}
