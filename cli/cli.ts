/** The context of every command: the platform that the options name, and one way to print. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import { isUuid } from '../client/uuid.ts';
import { connect } from './connection.ts';
import type { PlatformClient } from './platform-client.ts';

export interface Cli {
  readonly url: string | undefined;
  readonly isJson: boolean;
  /** What a person does when the platform refuses the token; undefined before `connect`. */
  readonly tokenRemedy: string | undefined;
  connect(): Promise<PlatformClient>;
  /** The result of a command: JSON from the platform for programs, else a text for people. */
  print(result: unknown, forPeople: () => string): void;
  /** A line for people beside the result, on the standard error: for programs that has errors alone. */
  note(line: string): void;
  /** What is shown once. The standard output has the secret alone, for `TOKEN=$(sdp tokens ...)`, and the other one the notes. */
  printSecret(result: unknown, secret: string, notes: string): void;
}

/** Adds a command with its subcommands to the program. */
export type AddCommand = (program: Command, cli: Cli) => void;

export function cliOf(program: Command): Cli {
  const options = () => program.opts<{ url?: string; json?: boolean }>();
  let connected: PlatformClient | undefined;
  return {
    get url() {
      return options().url;
    },
    get isJson() {
      return options().json === true;
    },
    get tokenRemedy() {
      return connected?.bearer.remedy;
    },
    async connect() {
      connected = await connect(options().url);
      return connected;
    },
    print(result, forPeople) {
      const printed = options().json === true ? JSON.stringify(result ?? null, null, 2) : forPeople();
      if (printed !== '') console.log(printed);
    },
    note(line) {
      if (!this.isJson) console.error(line);
    },
    printSecret(result, secret, notes) {
      this.print(result, () => secret);
      this.note(notes);
    },
  };
}

/** Lines for the end of a command's help. */
export const examples = (...lines: string[]) =>
  `\nExamples:\n${lines.map((line) => `  $ sdp ${line}`).join('\n')}`;

/** A whole number between bounds, as an option or argument. */
export const wholeNumber = (least: number, most: number) => (value: string) => {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
};
/** The priority of a project or session. */
export function priority(value: string): number {
  const number = Number(value);
  if (/^-?\d+$/.test(value) && Math.abs(number) <= 10) return number;
  throw new InvalidArgumentError('It must be a whole number from -10 to 10.');
}
export const id = wholeNumber(1, Number.MAX_SAFE_INTEGER);

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time, or how long ago it was. */
export function instant(value: string): string {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(value) ?? [];
  // Without a whole date, Date.parse guesses: it takes 7 for a month.
  const stated = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN;
  const ms = unit === undefined ? stated : Date.now() - Number(count) * units[unit as keyof typeof units];
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new InvalidArgumentError('It must be like 90m, 12h, 7d or 2026-03-01T10:00:00Z.');
}

export function uuid(value: string): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new InvalidArgumentError('It must be an id like 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10.');
}

/** One more value of an option that may be given several times. */
export const collectOption = (value: string, before: readonly string[] = []) => [...before, value];

/** The text of a file, or of the standard input for `-`; a byte order mark is left out. */
export async function readDocument(file: string): Promise<string> {
  if (file === '-') return withoutMark(await text(process.stdin));
  try {
    return withoutMark(await readFile(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? `File not found: ${file}.` : `${file} cannot be read (${code}).`);
  }
}

/** @throws Error that says where the text is no JSON */
export function parseDocument(document: string, file: string): unknown {
  try {
    return JSON.parse(document);
  } catch (error) {
    const reason = (error as Error).message;
    const before = document.slice(0, placeOfFault(document, reason)).split('\n');
    const fault = reason.replace(/( in JSON| after JSON)? at position.*|, (\.{3})?".*/s, '');
    throw new Error(
      `${file === '-' ? 'The standard input' : file} is not valid JSON: line ${before.length}, column ${before.at(-1)!.length + 1}: ${fault}.`,
    );
  }
}

/** The parser names no place of a character that begins no value: it is the last of the shortest text with that fault. */
function placeOfFault(text: string, reason: string): number {
  const [, named] = /at position (\d+)/.exec(reason) ?? [];
  if (named !== undefined) return Number(named);
  let [fine, faulty] = [0, text.length + 1];
  while (faulty - fine > 1) {
    const middle = Math.floor((fine + faulty) / 2);
    if (hasUnexpectedToken(text.slice(0, middle))) faulty = middle;
    else fine = middle;
  }
  return fine;
}

function hasUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token');
  }
}

const withoutMark = (document: string) => document.replace(/^\ufeff/, '');
