/** Server-sent events as text. Pure: tested without a browser. */

export interface ServerEvent {
  kind: string;
  data: string;
  /** Null where the event carried none. */
  id: string | null;
}

/** Cuts a text that comes in pieces into events. */
export class EventParser {
  #rest = '';
  #kind = '';
  #data: string[] = [];
  #id: string | null = null;

  /** The events that this piece completes. */
  push(piece: string): ServerEvent[] {
    const text = this.#rest + piece;
    // A carriage return at the end may be the first half of a line's end.
    const usable = text.endsWith('\r') ? text.slice(0, -1) : text;
    const lines = usable.split(/\r\n|\r|\n/);
    this.#rest = (lines.pop() ?? '') + text.slice(usable.length);
    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line !== '') this.#take(line);
      else if (this.#data.length > 0) events.push(this.#finish());
      else this.#finish();
    }
    return events;
  }

  #take(line: string): void {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#kind = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id') this.#id = value;
  }

  #finish(): ServerEvent {
    const event = {
      kind: this.#kind === '' ? 'message' : this.#kind,
      data: this.#data.join('\n'),
      id: this.#id,
    };
    this.#kind = '';
    this.#data = [];
    this.#id = null;
    return event;
  }
}
