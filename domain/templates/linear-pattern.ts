/**
 * Regular expressions that callers send, matched in time proportional to text x pattern.
 *
 * JavaScript's own engine backtracks: `^(a+)+$` takes years on a line of text. RE2's algorithm does not, and refuses
 * look-around and back-references, which need backtracking. Patterns are of JavaScript's `u` flavour, as JSON Schema has
 * them; {@link translate} writes in RE2's syntax what the two spell differently.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js';

export class PatternError extends Error {}

export interface LinearPattern {
  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean;
  /** Size of the compiled pattern: `test` takes at most this many steps for each character. */
  readonly stateCount: number;
}

export const patternLimits = { patternCharacters: 1000, patternStates: 1000 } as const;

/** Reads a pattern. Throws {@link PatternError} with a sentence for the caller. */
export function readPattern(pattern: string, maxStates: number = patternLimits.patternStates): LinearPattern {
  if (pattern.length > patternLimits.patternCharacters) {
    throw new PatternError(`A pattern may have at most ${patternLimits.patternCharacters} characters.`);
  }
  try {
    new RegExp(pattern, 'u');
  } catch {
    throw new PatternError('The pattern is not a valid regular expression.');
  }
  const compiled = compile(translate(pattern));
  const stateCount = compiled.programSize();
  if (stateCount > maxStates) throw tooLarge();
  return { test: (text) => compiled.test(text), stateCount };
}

const tooLarge = () =>
  new PatternError('The patterns are too large: fewer or smaller repetitions are needed.');

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    if (/repeat|large|nest/.test(error.message)) throw tooLarge();
    throw new PatternError(`The pattern cannot be matched in linear time: ${error.message}.`);
  }
}

/** Escapes, surrogate pairs as one; openings of groups; empty classes and openings of classes; single characters. */
const tokens =
  /\\u\{[^}]+\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\[pP]\{[^}]+\}|\\c.|\\.|\(\?<(?![=!])[^>]+>|\(\?.|\[\^?\]?|./gsu;
const anything = '\\x{0}-\\x{10ffff}';
const spaces =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const others =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';

/** A pattern that is known to be well-formed, in RE2's syntax. */
function translate(pattern: string): string {
  let inClass = false;
  let translated = '';
  for (const [token] of pattern.matchAll(tokens)) {
    translated += inClass ? inClassToken(token) : outsideToken(token);
    if (inClass || token.startsWith('[')) inClass = !token.endsWith(']') || token.startsWith('\\');
  }
  return translated;
}

function inClassToken(token: string): string {
  if (token.startsWith('[')) return `\\${token}`;
  if (token === '\\b') return '\\x{8}';
  if (token === '\\s') return spaces;
  return token === '\\S' ? others : escapeToken(token);
}

function outsideToken(token: string): string {
  if (token === '.') return '[^\\n\\r\\x{2028}\\x{2029}]';
  if (token === '\\s') return `[${spaces}]`;
  if (token === '\\S') return `[${others}]`;
  if (token === '[]') return `[^${anything}]`;
  if (token === '[^]') return `[${anything}]`;
  if (token === '(' || token === '(?:' || (token.startsWith('(?<') && token.endsWith('>'))) return '(?:';
  if (token.startsWith('(?'))
    throw new PatternError('Look-around and modifiers are not allowed in a pattern.');
  if (/^\\[1-9k]/u.test(token)) throw new PatternError('Back-references are not allowed in a pattern.');
  return escapeToken(token);
}

/** Escapes that mean the same in a class and outside of one. */
function escapeToken(token: string): string {
  if (/^\\(u|c|0)/u.test(token)) return `\\x{${characterOf(token).codePointAt(0)!.toString(16)}}`;
  return token.replace(/(?<=^\\[pP]\{)(?:Script|sc|General_Category|gc)=/u, '');
}

/** The character that an escape of the language stands for. */
function characterOf(token: string): string {
  if (token === '\\0') return '\0';
  if (token.startsWith('\\c')) return String.fromCharCode(token.charCodeAt(2) % 32);
  const codes = [...token.matchAll(/[\da-fA-F]+/gu)].map(([digits]) => Number.parseInt(digits, 16));
  return token.startsWith('\\u{') ? String.fromCodePoint(...codes) : String.fromCharCode(...codes);
}
