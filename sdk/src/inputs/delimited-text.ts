/** Lines and rows of text of any size, one at a time. */
import { TextDecoder } from 'node:util';
import { TaskFailure } from '../errors.ts';

/** A longer line means that the file is not text. */
const defaultMaxCharacters = 1024 * 1024;
const delimiters = [',', ';', '\t'];

export interface LineOptions {
  /** The longest line, in characters; default 1,048,576. */
  readonly maxCharacters?: number;
}

export interface RowOptions {
  /**
   * The separator of fields, one character. Default: comma, semicolon or tab, whichever is most frequent in the first
   * row.
   */
  readonly delimiter?: string;
  /** True (default): the first row names the fields of all others. False: every row is a list of its fields. */
  readonly header?: boolean;
  /** The longest row, in characters, quotes and line breaks included; default 1,048,576. */
  readonly maxCharacters?: number;
}

/** A row by the names of the header; all values are text, as in the file. */
export type Row = Readonly<Record<string, string>>;

/**
 * The lines of a UTF-8 text, without their line feeds, returns before these, and a byte order mark.
 * @throws TaskFailure `validation`, naming the line that is too long or not text
 */
export async function* readLines(
  bytes: AsyncIterable<Uint8Array>,
  { maxCharacters = defaultMaxCharacters }: LineOptions = {},
): AsyncGenerator<string, void, void> {
  for await (const lines of linesOf(bytes, maxCharacters)) {
    for (const line of lines) yield withoutReturn(line);
  }
}

/**
 * The rows of a delimited text (RFC 4180). Quoted fields may hold delimiters, line breaks and doubled quotes; blank
 * lines between rows are left out.
 * @throws TypeError for invalid options; TaskFailure `validation`, naming the line, when the text is not a table
 */
export async function* readRows(
  bytes: AsyncIterable<Uint8Array>,
  options: RowOptions = {},
): AsyncGenerator<readonly string[], void, void> {
  const maxCharacters = options.maxCharacters ?? defaultMaxCharacters;
  const { delimiter } = options;
  if (delimiter !== undefined && !/^[^"\r\n]$/.test(delimiter)) {
    throw new TypeError('delimiter must be one character, and neither a quote nor a line break.');
  }
  const parser = new RowParser(delimiter, maxCharacters);
  let width: number | undefined;
  for await (const lines of linesOf(bytes, maxCharacters)) {
    for (const line of lines) {
      const row = parser.push(line);
      if (row === undefined) continue;
      width ??= row.length;
      if (row.length !== width) {
        throw invalid(parser.rowLine, `${row.length} fields in a table of ${width} columns`);
      }
      yield row;
    }
  }
  parser.end();
}

/** The same rows by the names of the first. @throws as {@link readRows}; also when two columns have the same name */
export async function* readNamedRows(
  bytes: AsyncIterable<Uint8Array>,
  options: RowOptions = {},
): AsyncGenerator<Row, void, void> {
  let names: readonly string[] | undefined;
  for await (const fields of readRows(bytes, options)) {
    if (names === undefined) {
      names = fields.map((name) => name.trim());
      const seen = new Set<string>();
      const twice = names.find((name) => seen.size === seen.add(name).size);
      if (twice !== undefined) throw invalid(1, `there are two columns '${twice.slice(0, 80)}'`);
      continue;
    }
    yield Object.fromEntries(fields.map((field, index) => [names![index]!, field]));
  }
  if (names === undefined) throw invalid(1, 'there is no header');
}

function invalid(line: number, what: string): TaskFailure {
  return new TaskFailure('validation', `line ${line}: ${what}`);
}

/** Unchanged lines without their line feeds, in batches: all lines that end in one chunk of bytes. */
async function* linesOf(
  bytes: AsyncIterable<Uint8Array>,
  maxCharacters: number,
): AsyncGenerator<readonly string[], void, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 0;
  let begun: string[] = [];
  let begunCharacters = 0;
  const bounded = (characters: number, line: number) => {
    if (characters > maxCharacters) throw invalid(line, `longer than ${maxCharacters} characters`);
  };
  for await (const chunk of bytes) {
    const lines = decode(decoder, number + 1, chunk).split('\n');
    const rest = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = begun.join('') + lines[0];
      begun = [];
      begunCharacters = 0;
      for (const [index, line] of lines.entries()) bounded(line.length, number + index + 1);
      number += lines.length;
      yield lines;
    }
    begunCharacters += rest.length;
    bounded(begunCharacters, number + 1);
    if (rest !== '') begun.push(rest);
  }
  const last = begun.join('') + decode(decoder, number + 1);
  if (last !== '') yield [last];
}

function decode(decoder: TextDecoder, line: number, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw invalid(line, 'this line or one below it is not UTF-8 text');
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

/** The most frequent delimiter of the line outside of quotes. */
function delimiterOf(line: string): string {
  const bare = line.replaceAll(/"[^"]*("|$)/g, '');
  const counts = delimiters.map((delimiter) => ({ delimiter, count: bare.split(delimiter).length }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best)).delimiter;
}

/** Makes rows from lines. Each character is read once, however many lines a quoted field has. */
class RowParser {
  #delimiter: string | undefined;
  readonly #maxCharacters: number;
  #line = 0;
  #rowLine = 0;
  #rowCharacters = 0;
  #fields: string[] = [];
  /** The lines of a quoted field that is not closed yet. */
  #open: string[] | undefined;

  constructor(delimiter: string | undefined, maxCharacters: number) {
    this.#delimiter = delimiter;
    this.#maxCharacters = maxCharacters;
  }

  /** The line, from 1, on which the newest row begins. */
  get rowLine(): number {
    return this.#rowLine;
  }

  /** Adds the next line; returns the row that ends with it. */
  push(raw: string): readonly string[] | undefined {
    this.#line += 1;
    if (this.#open === undefined) {
      this.#rowLine = this.#line;
      this.#rowCharacters = 0;
      const line = withoutReturn(raw);
      if (line === '') return undefined;
      this.#delimiter ??= delimiterOf(line);
      if (!line.includes('"')) return line.split(this.#delimiter);
    }
    this.#rowCharacters += raw.length + 1;
    if (this.#rowCharacters > this.#maxCharacters + 1) {
      throw invalid(this.#rowLine, `a row longer than ${this.#maxCharacters} characters`);
    }
    if (!this.#parse(raw, this.#delimiter!)) return undefined;
    const row = this.#fields;
    this.#fields = [];
    return row;
  }

  /** @throws TaskFailure for a quote that is not closed at the end */
  end(): void {
    if (this.#open !== undefined) throw invalid(this.#rowLine, 'a quote is not closed');
  }

  /** True when the row ends with the line. */
  #parse(raw: string, delimiter: string): boolean {
    let at = 0;
    for (;;) {
      if (this.#open === undefined && raw[at] !== '"') {
        const end = raw.indexOf(delimiter, at);
        if (end < 0) {
          this.#fields.push(withoutReturn(raw.slice(at)));
          return true;
        }
        this.#fields.push(raw.slice(at, end));
        at = end + 1;
        continue;
      }
      if (this.#open === undefined) {
        this.#open = [];
        at += 1;
      }
      const end = this.#closingQuote(raw, at);
      if (end === undefined) return false;
      if (end === raw.length || (end === raw.length - 1 && raw[end] === '\r')) return true;
      if (raw[end] !== delimiter) {
        throw invalid(this.#line, `text behind a quoted field: ${raw.slice(at, at + 80)}`);
      }
      at = end + 1;
    }
  }

  /** Ends the open field at its closing quote and returns the place after it; undefined when the field continues. */
  #closingQuote(raw: string, from: number): number | undefined {
    const open = this.#open!;
    for (let at = from; ; ) {
      const quote = raw.indexOf('"', at);
      if (quote < 0) {
        open.push(raw.slice(at), '\n');
        return undefined;
      }
      open.push(raw.slice(at, quote));
      if (raw[quote + 1] !== '"') {
        this.#fields.push(open.join(''));
        this.#open = undefined;
        return quote + 1;
      }
      open.push('"');
      at = quote + 2;
    }
  }
}
