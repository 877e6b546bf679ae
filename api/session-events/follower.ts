/** One caller who follows a session: a stream of server-sent events with a bounded buffer. */
import { Readable } from 'node:stream';
import { limits } from '../../domain/limits.ts';
import type { LookedAt } from '../../store/session-watch.ts';
import { type SessionEvent, writeEvents } from './events.ts';

export class Follower {
  readonly stream: Readable;
  /** What was published up to here has been sent. */
  #position = 0;
  #isOver = false;
  /** What came before the first look of its own was sent. */
  #held: Array<{ readonly events: readonly SessionEvent[]; readonly at: LookedAt }> | undefined = [];

  constructor(onEnd: () => void) {
    this.stream = new Readable({ read() {} });
    this.stream.once('close', onEnd);
    // The head goes out at once; a browser's own client waits a second before it comes back.
    this.stream.push('retry: 1000\n\n');
  }

  /** Sends where the session stands; what comes from now on goes out as it comes. */
  begin(events: readonly SessionEvent[], at: LookedAt): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#write(writeEvents(events, at), at);
    for (const later of held) this.tell(later.events, later.at);
  }

  /** @param text what the events are written as when nothing has to be left out; made once for all followers */
  tell(events: readonly SessionEvent[], at: LookedAt, text?: string | Buffer): void {
    if (this.#held !== undefined) {
      this.#held.push({ events, at });
      return;
    }
    const known = this.#position;
    const isNew = (event: SessionEvent) => event.kind !== 'output' || event.position > known;
    this.#write(text !== undefined && events.every(isNew) ? text : writeEvents(events.filter(isNew), at), at);
  }

  keepAlive(): void {
    this.#push(': still there\n\n');
  }

  /** The last event: there is nothing to come back for. */
  endDeleted(sessionId: string): void {
    this.#push(`event: deleted\ndata: ${JSON.stringify({ sessionId })}\n\n`);
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.stream.push(null);
  }

  #write(text: string | Buffer, { position }: LookedAt): void {
    this.#position = Math.max(this.#position, position);
    if (text.length > 0) this.#push(text);
  }

  #push(text: string | Buffer): void {
    if (this.#isOver || this.stream.destroyed) return;
    this.stream.push(text);
    // A caller who reads too slowly comes back with the id of the last event that reached it.
    if (this.stream.readableLength > limits.sessionEventBufferBytes) {
      this.stream.destroy(new Error('The caller reads too slowly.'));
    }
  }
}
