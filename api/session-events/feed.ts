/** One followed session in this process: looks at it when it changes, and tells all who follow it. */
import type { Database } from '../../store/connection/database.ts';
import {
  readSnapshot,
  type SessionSnapshot,
  type SnapshotPoint,
} from '../../store/sessions/session-watch.ts';
import { Known, writeEvents } from './events.ts';
import { Follower } from './follower.ts';

/** Changes that follow each other closely are told together. */
const gapMs = 50;

export class SessionFeed {
  readonly #database: Database;
  readonly #sessionId: string;
  readonly #followers = new Set<Follower>();
  readonly #known = new Known();
  #last: SessionSnapshot | undefined;
  #isReading = false;
  #isDirty = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, sessionId: string) {
    this.#database = database;
    this.#sessionId = sessionId;
  }

  get followerCount(): number {
    return this.#followers.size;
  }

  /** As of the last look; undefined before the first. */
  get desiredVersion(): number | undefined {
    return this.#last?.desiredVersion;
  }

  get followers(): Iterable<Follower> {
    return this.#followers;
  }

  /** The first look. @returns whether there is such a session */
  async open(): Promise<boolean> {
    this.#last = await readSnapshot(this.#database, this.#sessionId);
    if (this.#last === undefined) return false;
    this.#known.advance(this.#last);
    return true;
  }

  /**
   * Lets a caller follow. The first look is read here, so that its failure is the answer's.
   * @param since where the caller left off; undefined: how the session stands
   * @param onEnd runs when the follower's stream is closed, whether it was read or not
   * @returns undefined when the session is gone
   */
  async join(since: SnapshotPoint | undefined, onEnd: () => void): Promise<Follower | undefined> {
    const read = (from?: SnapshotPoint) => readSnapshot(this.#database, this.#sessionId, from);
    const follower = new Follower(this.#sessionId, read, () => {
      this.#leave(follower);
      onEnd();
    });
    // What the feed tells from here on comes behind the follower's own look.
    this.#followers.add(follower);
    try {
      const first = await read(since);
      if (first === undefined) follower.stream.destroy();
      else follower.begin(first);
      return first && follower;
    } catch (error) {
      follower.stream.destroy();
      throw error;
    }
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size === 0) clearTimeout(this.#timer);
  }

  /** Something changed, or may have: looks soon. */
  changed(): void {
    if (this.#isReading) this.#isDirty = true;
    else this.#timer ??= setTimeout(() => void this.#reconcile(), gapMs);
  }

  async #reconcile(): Promise<void> {
    this.#timer = undefined;
    this.#isReading = true;
    this.#isDirty = false;
    try {
      const snapshot = await readSnapshot(this.#database, this.#sessionId, this.#last?.at);
      if (snapshot === undefined) this.#deleted();
      else this.#publish(snapshot);
    } catch {
      // The database does not answer; the next check follows in seconds.
    } finally {
      this.#isReading = false;
      if (this.#isDirty && this.#followers.size > 0) this.changed();
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
