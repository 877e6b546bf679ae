/** One followed session in this process: reads it when it changes, and sends the events to all followers. */
import type { Database } from '../../store/connection/database.ts';
import {
  readSnapshot,
  type SessionSnapshot,
  type SnapshotPoint,
} from '../../store/sessions/session-watch.ts';
import { SentState, writeEvents } from './events.ts';
import { Follower } from './follower.ts';

/** Changes within this time are sent together. */
const gapMs = 50;

/**
 * Reads of the feed and reads of its followers are never under way at once: a follower would get an older state of a node
 * after a newer one.
 */
export class SessionFeed {
  readonly #database: Database;
  readonly #sessionId: string;
  readonly #followers = new Set<Follower>();
  readonly #known = new SentState();
  #last: SessionSnapshot | undefined;
  /** The read of the feed that is under way. */
  #reading: Promise<void> | undefined;
  /** The reads of its followers that are under way. */
  readonly #pages = new Set<Promise<unknown>>();
  #isDirty = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, sessionId: string) {
    this.#database = database;
    this.#sessionId = sessionId;
  }

  get followerCount(): number {
    return this.#followers.size;
  }

  /** As of the last read; undefined before the first. */
  get desiredVersion(): number | undefined {
    return this.#last?.desiredVersion;
  }

  get followers(): Iterable<Follower> {
    return this.#followers;
  }

  /** The first read. @returns whether there is such a session */
  async open(): Promise<boolean> {
    this.#last = await readSnapshot(this.#database, this.#sessionId);
    if (this.#last === undefined) return false;
    this.#known.advance(this.#last);
    return true;
  }

  /**
   * Adds a follower. The first snapshot is read here, so that a failure can still be the answer.
   * @param since where the caller left off; undefined: the present state of the session
   * @param onEnd runs when the follower's stream is closed, whether it was read or not
   * @returns undefined when the session is gone
   */
  async join(since: SnapshotPoint | undefined, onEnd: () => void): Promise<Follower | undefined> {
    const read = (from?: SnapshotPoint) => this.#readPage(follower, from);
    const follower = new Follower(this.#sessionId, read, () => {
      this.#leave(follower);
      onEnd();
    });
    this.#followers.add(follower);
    try {
      const first = await read(since);
      if (first === undefined) follower.stream.destroy();
      else follower.begin(first, since === undefined);
      return first && follower;
    } catch (error) {
      follower.stream.destroy();
      throw error;
    }
  }

  /** Events of the feed that come while it is read come after it. */
  async #readPage(follower: Follower, since?: SnapshotPoint): Promise<SessionSnapshot | undefined> {
    while (this.#reading !== undefined) await this.#reading;
    follower.forget();
    const page = readSnapshot(this.#database, this.#sessionId, since);
    this.#pages.add(page);
    return await page.finally(() => this.#pages.delete(page));
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The session changed, or may have: reads it soon. */
  changed(): void {
    if (this.#reading !== undefined) this.#isDirty = true;
    else this.#timer ??= setTimeout(() => void this.#reconcile(), gapMs);
  }

  async #reconcile(): Promise<void> {
    this.#timer = undefined;
    this.#isDirty = false;
    this.#reading = this.#read();
    await this.#reading;
    this.#reading = undefined;
    if (this.#isDirty && this.#followers.size > 0) this.changed();
  }

  async #read(): Promise<void> {
    try {
      await Promise.allSettled(this.#pages);
      const snapshot = await readSnapshot(this.#database, this.#sessionId, this.#last?.at);
      if (snapshot === undefined) this.#deleted();
      else this.#publish(snapshot);
    } catch {
      // The database does not answer; the next check follows in seconds.
    }
  }

  #publish(snapshot: SessionSnapshot): void {
    this.#last = snapshot;
    if (snapshot.hasMore) this.#isDirty = true;
    const events = this.#known.advance(snapshot);
    if (events.length === 0) return;
    const text = Buffer.from(writeEvents(events, snapshot.at));
    for (const follower of this.#followers) follower.push(events, snapshot.at, text);
  }

  #deleted(): void {
    for (const follower of this.#followers) follower.endDeleted();
  }
}
