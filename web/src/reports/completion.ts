/** Completion of names in expressions of reports. Pure: tested without a browser. */
import type { ReportNames, SessionMetadataKey } from '../../../client/types.ts';
import { memberOf, metadataExpression } from './picks.ts';

export interface Candidate {
  readonly text: string;
  /** What stands there, in a few words. */
  readonly detail: string;
}

export interface Completion {
  /** The part of the expression that a candidate replaces. */
  readonly from: number;
  readonly to: number;
  readonly candidates: readonly Candidate[];
}

const shownCandidates = 8;
/** A name with what follows it: `metadata.tyre["kind of"].`; only the last bracket may be open. */
const path = /(?<!\w)[A-Za-z_]\w*(?:\.\w*|\["(?:[^"\\]|\\.)*"\])*(?:\["(?:[^"\\]|\\.)*"?)?$/;

/** Every name that an expression can begin with, and every function. */
export function candidatesOf(names: ReportNames | null, keys: readonly SessionMetadataKey[]): Candidate[] {
  if (names === null) return [];
  const fields = names.sources.flatMap(({ name, fields }) =>
    name === 'annotations'
      ? [{ text: name, detail: `list; each has ${(fields ?? []).join(', ')}` }]
      : (fields ?? []).map((field) => ({ text: `${name}.${field}`, detail: '' })),
  );
  const metadata = keys.map(({ path, samples }) => ({
    text: metadataExpression(path),
    detail: samples.slice(0, 3).join(', '),
  }));
  const channels = names.channels.flatMap(({ name, unit }) =>
    names.channelFields.map((field) => ({
      text: `${memberOf('channels', name)}.${field}`,
      detail: field === 'count' || field === 'missing' ? '' : (unit ?? ''),
    })),
  );
  const functions = names.functions.map((text) => ({ text, detail: 'function' }));
  return [...fields, ...metadata, ...channels, ...functions];
}

/** Null inside a text, and where nothing was written yet. */
export function complete(
  expression: string,
  cursor: number,
  candidates: readonly Candidate[],
): Completion | null {
  const before = expression.slice(0, cursor);
  const written = path.exec(before)?.[0] ?? '';
  const from = cursor - written.length;
  if (isInText(before.slice(0, from))) return null;
  const isBehindDot = before[from - 1] === '.';
  const found = isBehindDot || written === '' ? [] : named(written, candidates);
  return found.length > 0
    ? { from, to: cursor, candidates: found }
    : methods(before, written, from, candidates);
}

/** The candidates that begin with what was written, then those that contain it. */
function named(written: string, candidates: readonly Candidate[]): Candidate[] {
  const wanted = written.toLowerCase();
  const whole = candidates.filter(({ text }) => text.toLowerCase().startsWith(wanted) && text !== written);
  const parts = /^\w{2,}$/.test(written)
    ? candidates.filter(
        ({ text }) =>
          !text.startsWith('.') &&
          text
            .split(/\W+/)
            .slice(1)
            .some((part) => part.toLowerCase().startsWith(wanted)),
      )
    : [];
  return [...new Set([...whole, ...parts])].slice(0, shownCandidates);
}

/** Functions that are called with a dot behind a value. */
function methods(
  before: string,
  written: string,
  from: number,
  candidates: readonly Candidate[],
): Completion | null {
  const dot = before.lastIndexOf('.');
  const isCall = dot >= from || (dot === from - 1 && /[)\]"'\w]/.test(before[dot - 1] ?? ''));
  const start = before.slice(dot).toLowerCase();
  if (dot < 0 || !isCall || !/^\.\w*$/.test(start) || written.startsWith('channels.')) return null;
  const found = candidates
    .filter(({ text }) => text.toLowerCase().startsWith(start))
    .slice(0, shownCandidates);
  return found.length === 0 ? null : { from: dot, to: before.length, candidates: found };
}

/** Whether a text in quotes is open at the end. */
function isInText(before: string): boolean {
  let quote = '';
  for (let at = 0; at < before.length; at++) {
    const character = before[at] as string;
    if (quote !== '' && character === '\\') at += 1;
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = '';
  }
  return quote !== '';
}

/** The expression with a candidate in its place, and where the cursor is then. */
export function completed(expression: string, { from, to }: Completion, { text }: Candidate) {
  return { expression: expression.slice(0, from) + text + expression.slice(to), cursor: from + text.length };
}
