/** Where the value of a JSON path stands in the text of a document. Pure: tested without a browser. */

export interface Place {
  /** Characters from the beginning; `end` is behind the last. */
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly line: number;
}

export interface Fault {
  /** Null: the text as a whole. */
  readonly path: string | null;
  readonly message: string;
  readonly place: Place;
}

/**
 * The place of the value at `path`; where there is none, of the key or the last list or object on the way to it.
 * @param text valid JSON
 * @param path as the platform writes it: `$.Nodes[0]['a b']`
 */
export function placeOf(text: string, path: string): Place {
  const reader = new Reader(text);
  for (const step of stepsOf(path)) if (!reader.enter(step)) return reader.head();
  return reader.value();
}

/** Why the text is no JSON, at its place; null when it is. */
export function syntaxFault(text: string): Fault | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const named = /position (\d+)/.exec(message)?.[1];
    // Where the text ends too early, some browsers name no position, and some that behind the last space.
    const end = text.trimEnd().length;
    const start = Math.min(named === undefined ? end : Number(named), end);
    return {
      path: null,
      message: `This is not JSON. ${message}`,
      place: { start, end: Math.min(start + 1, text.length), line: lineAt(text, start) },
    };
  }
}

const lineAt = (text: string, at: number) => text.slice(0, at).split('\n').length;

const step = /\.([A-Za-z_]\w*)|\[(\d+)\]|\['((?:[^\\']|\\.)*)'\]/g;

function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(step)].map(([, key, index, quoted]) =>
    index === undefined ? (key ?? quoted!.replaceAll(/\\(.)/g, '$1')) : Number(index),
  );
}

/** Stands before a value, and enters those within it. */
class Reader {
  readonly #text: string;
  #at = 0;
  /** Where the key of the value begins, or the value itself where it has none. */
  #headAt = 0;

  constructor(text: string) {
    this.#text = text;
    this.#space();
    this.#headAt = this.#at;
  }

  /** False when there is no such value: then it stands where it stood. */
  enter(step: string | number): boolean {
    const before = this.#at;
    const [open, close] = typeof step === 'number' ? '[]' : '{}';
    if (this.#text[this.#at] !== open) return false;
    this.#skip();
    for (let index = 0; this.#text[this.#at] !== close; index += 1) {
      const keyAt = this.#at;
      const name = typeof step === 'number' ? index : this.#key();
      if (name === step) {
        this.#headAt = keyAt;
        return true;
      }
      this.#pass();
      if (this.#text[this.#at] === ',') this.#skip();
    }
    this.#at = before;
    return false;
  }

  value(): Place {
    const start = this.#at;
    this.#pass();
    const end = start + this.#text.slice(start, this.#at).trimEnd().length;
    return { start, end, line: lineAt(this.#text, start) };
  }

  /** The key, or the bracket with which the value begins. */
  head(): Place {
    const start = this.#headAt;
    return { start, end: Math.max(start + 1, this.#at), line: lineAt(this.#text, start) };
  }

  #key(): string {
    const start = this.#at;
    this.#string();
    const key = JSON.parse(this.#text.slice(start, this.#at)) as string;
    this.#space();
    // The colon.
    this.#skip();
    return key;
  }

  /** Goes behind the value and the space after it. */
  #pass(): void {
    let depth = 0;
    do {
      const sign = this.#text[this.#at];
      if (sign === '"') this.#string();
      else if (sign === '{' || sign === '[') depth += 1;
      else if (sign === '}' || sign === ']') depth -= 1;
      else if (depth === 0) {
        while (this.#at < this.#text.length && !/[\s,\]}]/.test(this.#text[this.#at]!)) this.#at += 1;
        break;
      }
      if (sign !== '"') this.#at += 1;
    } while (depth > 0 && this.#at < this.#text.length);
    this.#space();
  }

  #string(): void {
    for (this.#at += 1; this.#text[this.#at] !== '"'; this.#at += 1)
      if (this.#text[this.#at] === '\\') this.#at += 1;
    this.#at += 1;
  }

  #skip(): void {
    this.#at += 1;
    this.#space();
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
