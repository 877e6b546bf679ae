/**
 * One caller who follows a session: a stream of server-sent events that is made as fast as the caller reads it.
 *
 * behind -> live -> behind ...
 *
 * behind: missed events are read from the database, one page each time that the stream has room.
 * live: events of the session's feed are sent in its order. A caller who falls further behind than the buffer holds
 *   goes back to reading pages, from the stream's present place.
 */
import { Readable } from 'node:stream';
import { limits } from '../../domain/limits.ts';
import type { SessionSnapshot, SnapshotPoint } from '../../store/sessions/session-watch.ts';
import { SentState, type SessionEvent, writeEvent, writeEvents } from './events.ts';

/** The session's changes after a place; undefined when it is gone. The follower forgets what is older when it begins. */
export type ReadSnapshotFrom = (since: SnapshotPoint) => Promise<SessionSnapshot | undefined>;

/** Events from the feed; `text` is made once for all followers. */
interface Batch {
  readonly events: readonly SessionEvent[];
  readonly at: SnapshotPoint;
  readonly text: Buffer;
}

/** About how far the stream may be ahead of its caller. */
const pieceCharacters = 64 * 1024;

export class Follower {
  readonly stream: Readable;
  readonly #sessionId: string;
  readonly #readSnapshotFrom: ReadSnapshotFrom;
  readonly #texts: AsyncGenerator<string | Buffer | undefined, void>;
  #first: SessionSnapshot | undefined;
  /** The caller knows no node yet. */
  #isNew = false;
  #batches: Batch[] = [];
  #bufferedBytes = 0;
  #isDeleted = false;
  /** The buffer overflowed: the pages hold what was dropped. */
  #hasDropped = false;
  #isWanted = false;
  #isSending = false;
  #hasNews = false;
  #isOver = false;

  constructor(sessionId: string, readSnapshotFrom: ReadSnapshotFrom, onEnd: () => void) {
    this.#sessionId = sessionId;
    this.#readSnapshotFrom = readSnapshotFrom;
    this.#texts = this.#write();
    this.stream = new Readable({
      highWaterMark: pieceCharacters,
      read: () => {
        this.#isWanted = true;
        void this.#send();
      },
    });
    // It is destroyed without an error of ours; an error without a listener would end the process.
    this.stream.on('error', () => undefined).once('close', onEnd);
  }

  /** False once the stream has ended or will. */
  get isFollowing(): boolean {
    return !this.#isOver && !this.stream.destroyed;
  }

  /** Begins with this snapshot; events since the follower was made come after it. */
  begin(snapshot: SessionSnapshot, isNew: boolean): void {
    this.#first = snapshot;
    this.#isNew = isNew;
  }

  push(events: readonly SessionEvent[], at: SnapshotPoint, text: Buffer): void {
    if (this.#hasDropped) return;
    this.#batches.push({ events, at, text });
    this.#bufferedBytes += text.length;
    if (this.#bufferedBytes > limits.sessionEventBufferBytes) this.#drop();
    this.#wake();
  }

  /** Drops what the feed has sent so far: the page that is read now includes it. */
  forget(): void {
    this.#drop();
    this.#hasDropped = false;
  }

  /** Shows proxies and the caller that the connection is alive, unless bytes are waiting to be sent. */
  keepAlive(): void {
    if (this.#isWanted && !this.#isSending && this.isFollowing) this.stream.push(': still there\n\n');
  }

  /** The last event: the caller need not reconnect. */
  endDeleted(): void {
    this.#isDeleted = true;
    this.#wake();
  }

  end(): void {
    if (!this.isFollowing) return;
    this.#isOver = true;
    this.stream.push(null);
  }

  #drop(): void {
    this.#batches = [];
    this.#bufferedBytes = 0;
    this.#hasDropped = true;
  }

  #wake(): void {
    this.#hasNews = true;
    void this.#send();
  }

  /** Sends until the stream is full or nothing is left to send. */
  async #send(): Promise<void> {
    if (this.#isSending || !this.#isWanted) return;
    this.#isSending = true;
    try {
      while (this.#isWanted && this.isFollowing) {
        this.#hasNews = false;
        const { value, done } = await this.#texts.next();
        if (done) this.end();
        else if (value !== undefined && this.isFollowing) this.#isWanted = this.stream.push(value);
        else if (!this.#hasNews) break;
      }
    } catch {
      // The database does not answer: the caller reconnects with the id of the last event that it received.
      this.stream.destroy();
    } finally {
      this.#isSending = false;
    }
  }

  /** The whole output to the caller, in order; undefined when there is nothing to send yet. */
  async *#write(): AsyncGenerator<string | Buffer | undefined, void> {
    // A browser's EventSource waits a second before it reconnects.
    yield 'retry: 1000\n\n';
    let known = new SentState();
    let snapshot = this.#first;
    this.#first = undefined;
    while (snapshot !== undefined) {
      yield* inPieces(known.advance(snapshot, this.#isNew), snapshot.at);
      this.#isNew = false;
      let { at } = snapshot;
      const isBehind: boolean = snapshot.hasMore || this.#hasDropped;
      // Thousands of followers are live for hours: none of them should hold a page in memory.
      snapshot = undefined;
      if (!isBehind) {
        known = new SentState();
        at = yield* this.#live(at);
      }
      snapshot = await this.#readSnapshotFrom(at);
    }
    yield `event: deleted\ndata: ${JSON.stringify({ sessionId: this.#sessionId })}\n\n`;
  }

  /** Events of the feed, until some were dropped or the session is gone. @returns the place reached */
  async *#live(from: SnapshotPoint): AsyncGenerator<string | Buffer | undefined, SnapshotPoint> {
    let at = from;
    while (!this.#hasDropped) {
      const batch = this.#batches.shift();
      if (batch === undefined && this.#isDeleted) return at;
      if (batch === undefined) yield undefined;
      else {
        this.#bufferedBytes -= batch.text.length;
        yield textAfter(batch, at);
        at = { atMs: batch.at.atMs, position: Math.max(at.position, batch.at.position) };
      }
    }
    return at;
  }
}

/** The text of a batch without the outputs that the caller got with a page. */
function textAfter({ events, at, text }: Batch, { position }: SnapshotPoint): string | Buffer {
  const isNew = (event: SessionEvent) => event.kind !== 'output' || event.position > position;
  if (at.position >= position && events.every(isNew)) return text;
  return writeEvents(events.filter(isNew), { ...at, position: Math.max(at.position, position) });
}

function* inPieces(events: readonly SessionEvent[], at: SnapshotPoint): Generator<string> {
  let text = '';
  for (const [index, event] of events.entries()) {
    text += writeEvent(event, index === events.length - 1 ? at : undefined);
    if (text.length < pieceCharacters) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}
