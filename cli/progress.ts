/** A bar for each running transfer, on standard error; without a terminal a line for each failed try and each end. */
import { bytes, singleLine } from './output.ts';

const barWidth = 24;
const widestName = 32;
const narrowestName = 12;
/** What follows the name: the bar and the bytes. */
const restWidth = barWidth + 24;
/** People do not see more frequent updates. */
const redrawEveryMs = 100;

interface Bar {
  doneBytes: number;
  totalBytes: number;
  note: string;
}

export class Progress {
  readonly #bars = new Map<string, Bar>();
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #isSilent: boolean;
  #drawnLines = 0;
  #drawnAtMs = 0;

  /** @param isSilent shows nothing: a program reads what the command prints */
  constructor(isSilent = false) {
    this.#isSilent = isSilent;
  }

  /** Shows how far a transfer is. `note` is shown after its bar, for example the number of the try. */
  update(name: string, doneBytes: number, totalBytes: number, note = ''): void {
    this.#bars.set(name, { doneBytes, totalBytes, note });
    if (performance.now() - this.#drawnAtMs >= redrawEveryMs) this.#draw();
  }

  /** Prints a line, for example why a transfer has failed and is tried again. */
  say(line: string): void {
    if (this.#isSilent) return;
    this.#clear();
    // A name may move the cursor, or hold a line break.
    process.stderr.write(`${singleLine(line)}\n`);
    this.#draw();
  }

  /** Removes a transfer's bar. */
  drop(name: string): void {
    this.#bars.delete(name);
    this.#draw();
  }

  /** Removes a transfer's bar and prints how it ended. */
  end(name: string, line: string): void {
    this.#bars.delete(name);
    this.say(line);
  }

  #draw(): void {
    if (!this.#isTerminal || this.#isSilent) return;
    this.#clear();
    const width = Math.max(40, process.stderr.columns ?? 80) - 1;
    for (const [name, bar] of this.#bars) process.stderr.write(`${lineOf(name, bar, width)}\n`);
    this.#drawnLines = this.#bars.size;
    this.#drawnAtMs = performance.now();
  }

  #clear(): void {
    if (this.#drawnLines > 0) process.stderr.write(`\u001b[${this.#drawnLines}A\u001b[0J`);
    this.#drawnLines = 0;
  }
}

/** A line of at most so many characters: in a narrow terminal the name is cut before the numbers. */
export function lineOf(name: string, { doneBytes, totalBytes, note }: Bar, width: number): string {
  const nameWidth = Math.min(widestName, Math.max(narrowestName, width - restWidth));
  const part = totalBytes === 0 ? 1 : Math.min(1, doneBytes / totalBytes);
  const filled = Math.round(barWidth * part);
  const shown = name.length > nameWidth ? `...${name.slice(3 - nameWidth)}` : name;
  const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
  const line = `${singleLine(shown).padEnd(nameWidth)} ${bar} ${bytes(doneBytes)} of ${bytes(totalBytes)} ${note}`;
  return line.slice(0, width);
}
