/** The lines of a log, and which of them are drawn. Pure: tested without a browser. */
import type { RunLogEntry } from '../../../client/types.ts';
import { withTitles } from '../names.ts';

/** Lines are drawn and measured together, so many at a time. */
export const chunkLines = 100;

/** Lines in order, in chunks whose heights are guessed until they have been drawn. */
export class LogLines {
  readonly entries: RunLogEntry[] = [];
  /** Index of the first line of level error; null: none so far. */
  firstError: number | null = null;
  /** The people of whom the platform writes, by their ids. */
  readonly people = new Set<string>();
  /** The run has ended, and all its lines are here. */
  isComplete = false;
  readonly #measured = new Map<number, { lines: number; px: number }>();
  readonly #guessPx: number;

  constructor(guessPx: number) {
    this.#guessPx = guessPx;
  }

  add(entry: RunLogEntry): void {
    if (entry.level === 'error') this.firstError ??= this.entries.length;
    const person = personOf(entry);
    if (person !== null) this.people.add(person);
    this.entries.push(entry);
  }

  get chunks(): number {
    return Math.ceil(this.entries.length / chunkLines);
  }

  chunk(index: number): readonly RunLogEntry[] {
    return this.entries.slice(index * chunkLines, (index + 1) * chunkLines);
  }

  /** Forgets the heights, as the width or the wrapping changes. */
  forgetHeights(): void {
    this.#measured.clear();
  }

  /** True when that was news. */
  measure(index: number, px: number): boolean {
    const isNews = Math.abs(this.height(index) - px) >= 1;
    if (isNews) this.#measured.set(index, { lines: this.chunk(index).length, px });
    return isNews;
  }

  /** The last chunk may have grown since it was measured. */
  height(index: number): number {
    const { lines, px } = this.#measured.get(index) ?? { lines: 0, px: 0 };
    const present = Math.min(chunkLines, this.entries.length - index * chunkLines);
    return px + Math.max(0, present - lines) * this.#guessPx;
  }

  offset(index: number): number {
    let sum = 0;
    for (let chunk = 0; chunk < index; chunk += 1) sum += this.height(chunk);
    return sum;
  }

  /** The chunks that are drawn: those in view, with one on either side. */
  window(topPx: number, heightPx: number): { first: number; last: number; abovePx: number; belowPx: number } {
    const { chunks } = this;
    let first = 0;
    let abovePx = 0;
    while (first < chunks - 1 && abovePx + this.height(first) < topPx) {
      abovePx += this.height(first);
      first += 1;
    }
    let last = first;
    let bottom = abovePx + this.height(first);
    while (last < chunks - 1 && bottom < topPx + heightPx) {
      last += 1;
      bottom += this.height(last);
    }
    if (first > 0) {
      first -= 1;
      abovePx -= this.height(first);
    }
    last = Math.min(Math.max(0, chunks - 1), last + 1);
    let belowPx = 0;
    for (let chunk = last + 1; chunk < chunks; chunk += 1) belowPx += this.height(chunk);
    return { first, last, abovePx, belowPx };
  }
}

/** The person of whom the platform writes in a line, by their id; null: none. */
const personOf = ({ source, fields }: RunLogEntry): string | null =>
  source === 'platform' && typeof fields?.userId === 'string' ? fields.userId : null;

/**
 * A line as people read it. The platform's own name people and runners by their ids, and repeat in their fields what they
 * say: such a line has the names that are known, and no fields.
 */
export function readable(
  entry: RunLogEntry,
  names: ReadonlyMap<string | null, string>,
): { message: string; fields: string } {
  const { message, fields } = entry;
  if (entry.source !== 'platform') {
    const written = fields === null ? '' : JSON.stringify(fields);
    return { message, fields: written === '{}' ? '' : written };
  }
  const person = personOf(entry);
  const name = names.get(person);
  const named = name === undefined ? message : message.replace(`user ${person}`, name);
  const instanceId = typeof fields?.instanceId === 'string' ? fields.instanceId : null;
  return { message: withTitles(named, [], instanceId), fields: '' };
}

/** A line as text, for the clipboard. */
export function lineText({ at, level, attempt, message, fields }: RunLogEntry): string {
  const more = fields === null || Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return `${at} ${level} attempt ${attempt}: ${message}${more}`;
}

/** `text` in pieces, of which every second one is what was searched for, in any case. */
export function piecesOf(text: string, search: string): string[] {
  if (search === '') return [text];
  const pieces: string[] = [];
  const lower = text.toLowerCase();
  const wanted = search.toLowerCase();
  // A few letters change their length in lower case; then nothing is marked.
  if (lower.length !== text.length) return [text];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    pieces.push(text.slice(from, at), text.slice(at, at + wanted.length));
    from = at + wanted.length;
  }
  return [...pieces, text.slice(from)];
}
