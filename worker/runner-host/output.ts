/**
 * The output of a deployed runner as lines of the platform's log: bounded in length and number, because the program is
 * foreign. The log itself removes tokens and addresses.
 */
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';

const lineCharacters = 2_000;
/** The lines of one process; those beyond it are counted and left out. */
const linesPerWindow = 300;
const windowMs = 10_000;
/** How long left-out lines are counted before a report. */
const logEveryMs = 2_000;

const levels = ['debug', 'info', 'warn', 'error'] as const;

export class RunnerOutput {
  readonly #log: Logger;
  #windowBeganAtMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #leftOutCharacters = 0;
  #logging: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Reads a stream to its end. */
  readAll(stream: Readable, name: 'stdout' | 'stderr'): void {
    let begun = '';
    let isTooLong = false;
    stream.setEncoding('utf8');
    stream.on('error', () => undefined);
    stream.on('data', (text: string) => {
      if (!this.#hasRoom()) {
        this.#leaveOut(text.length);
        begun = '';
        // The rest of a line that was cut here is no line.
        isTooLong = !text.endsWith('\n');
        return;
      }
      const lines = text.split('\n');
      for (const [index, part] of lines.entries()) {
        const isWhole = index < lines.length - 1;
        if (!isTooLong) begun = (begun + part).slice(0, lineCharacters + 1);
        if (isWhole || begun.length > lineCharacters) {
          if (!isTooLong) this.#write(begun, name);
          begun = '';
          isTooLong = !isWhole;
        }
      }
    });
    stream.on('end', () => {
      if (!isTooLong) this.#write(begun, name);
      this.#logLeftOut();
    });
  }

  #hasRoom(): boolean {
    const now = performance.now();
    if (now - this.#windowBeganAtMs > windowMs) {
      this.#windowBeganAtMs = now;
      this.#lines = 0;
    }
    return this.#lines < linesPerWindow;
  }

  #leaveOut(characters: number): void {
    this.#leftOutCharacters += characters;
    this.#logging ??= setTimeout(() => this.#logLeftOut(), logEveryMs).unref();
  }

  #logLeftOut(): void {
    clearTimeout(this.#logging);
    this.#logging = undefined;
    if (this.#leftOutCharacters === 0) return;
    const characters = this.#leftOutCharacters;
    this.#leftOutCharacters = 0;
    this.#log.warn({ characters }, 'the runner writes too much; output was dropped');
  }

  #write(line: string, stream: 'stdout' | 'stderr'): void {
    if (line.trim() === '') return;
    if (!this.#hasRoom()) {
      this.#leaveOut(line.length);
      return;
    }
    this.#lines += 1;
    const text = line.length > lineCharacters ? `${line.slice(0, lineCharacters)}…` : line.trimEnd();
    const logged = kitLine(text);
    if (logged === undefined) this.#log.info({ stream }, text);
    else this.#log[logged.level]({ stream, fields: logged.fields }, logged.message);
  }
}

/** A line of the kit's own form; undefined for any other. */
function kitLine(line: string) {
  if (!line.startsWith('{')) return undefined;
  try {
    const { time: _time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
    const known = levels.find((name) => name === level);
    if (known === undefined || typeof message !== 'string') return undefined;
    return { level: known, message, fields };
  } catch {
    return undefined;
  }
}
