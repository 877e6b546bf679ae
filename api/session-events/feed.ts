/** One followed session in this process: looks at it when it changes, and tells all who follow it. */
import type { Database } from '../../store/database.ts';
import {
  type LookedAt,
  lookAtSession,
  outputsOfOneLook,
  type SessionLook,
} from '../../store/session-watch.ts';
import { eventsOfLook, Known, writeEvents } from './events.ts';
import type { Follower } from './follower.ts';

/** Changes that follow each other closely are told together. */
const gapMs = 50;

export class SessionFeed {
  readonly #database: Database;
  readonly #sessionId: string;
  readonly #followers = new Set<Follower>();
  readonly #known = new Known();
  #last: SessionLook | undefined;
  #isLooking = false;
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
  get wantedSeq(): number | undefined {
    return this.#last?.wantedSeq;
  }

  get followers(): Iterable<Follower> {
    return this.#followers;
  }

  /** The first look. @returns whether there is such a session */
  async open(): Promise<boolean> {
    this.#last = await lookAtSession(this.#database, this.#sessionId);
    if (this.#last === undefined) return false;
    this.#known.advance(this.#last);
    return true;
  }

  /**
   * Lets somebody follow.
   * @param since where the follower left off; undefined: how the session stands
   * @returns false when the session is gone
   */
  async join(follower: Follower, since: LookedAt | undefined): Promise<boolean> {
    // From here on nothing passes by the follower, who keeps it until the own look is sent.
    this.#followers.add(follower);
    const look = await lookAtSession(this.#database, this.#sessionId, since);
    if (look === undefined) {
      this.#followers.delete(follower);
      return false;
    }
    follower.begin(eventsOfLook(look), look.at);
    // More than one look tells of is told by the next ones.
    if (look.outputs.length === outputsOfOneLook) await this.#catchUp(follower, look.at);
    return true;
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size === 0) clearTimeout(this.#timer);
  }

  /** Something changed, or may have: looks soon. */
  changed(): void {
    if (this.#isLooking) this.#isDirty = true;
    else this.#timer ??= setTimeout(() => void this.#look(), gapMs);
  }

  async #catchUp(follower: Follower, from: LookedAt): Promise<void> {
    let at = from;
    for (;;) {
      const look = await lookAtSession(this.#database, this.#sessionId, at);
      if (look === undefined) return;
      follower.tell(eventsOfLook(look), look.at);
      if (look.outputs.length < outputsOfOneLook) return;
      at = look.at;
    }
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    this.#isLooking = true;
    this.#isDirty = false;
    try {
      const look = await lookAtSession(this.#database, this.#sessionId, this.#last?.at);
      if (look === undefined) this.#deleted();
      else this.#tell(look);
    } catch {
      // The database does not answer; the next check follows in seconds.
    } finally {
      this.#isLooking = false;
      if (this.#isDirty && this.#followers.size > 0) this.changed();
    }
  }

  #tell(look: SessionLook): void {
    this.#last = look;
    if (look.outputs.length === outputsOfOneLook) this.#isDirty = true;
    const events = this.#known.advance(look);
    if (events.length === 0) return;
    const text = Buffer.from(writeEvents(events, look.at));
    for (const follower of this.#followers) follower.tell(events, look.at, text);
  }

  #deleted(): void {
    for (const follower of this.#followers) follower.endDeleted(this.#sessionId);
    this.#followers.clear();
  }
}
