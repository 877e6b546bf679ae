/** All followed sessions of this process (one listening connection, open while there are any). */
import type { Logger } from 'pino';
import type { Database } from '../../store/connection/database.ts';
import { Listener } from '../../store/connection/listener.ts';
import {
  desiredVersions,
  type SnapshotPoint,
  sessionChangedChannel,
  watchSessions,
} from '../../store/sessions/session-watch.ts';
import { SessionFeed } from './feed.ts';
import type { Follower } from './follower.ts';

const watchSeconds = 30;
/** Changes whose notification was lost are found within this time. */
const checkEveryMs = 2_000;
const watchEveryMs = 10_000;

export class SessionFeeds {
  readonly #database: Database;
  readonly #listener: Listener;
  readonly #feeds = new Map<string, Promise<SessionFeed | undefined>>();
  readonly #open = new Map<string, SessionFeed>();
  #check: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  readonly #shutdowns = new WeakSet<AbortSignal>();
  #isChecking = false;

  constructor(database: Database, log: Logger) {
    this.#database = database;
    const changed = (sessionId: string) => this.#open.get(sessionId)?.changed();
    this.#listener = new Listener(
      database,
      { [sessionChangedChannel]: changed },
      {
        connected: () => {
          for (const feed of this.#open.values()) feed.changed();
        },
        lost: (error) => log.warn({ err: error }, 'the connection that listens for changed sessions broke'),
      },
    );
  }

  /** Callers who follow a session here. */
  get followerCount(): number {
    return [...this.#open.values()].reduce((count, feed) => count + feed.followerCount, 0);
  }

  /**
   * Follows a session.
   * @param since where the caller left off
   * @param shutdown ends all streams
   * @returns undefined when there is no such session
   */
  async follow(
    sessionId: string,
    since: SnapshotPoint | undefined,
    shutdown: AbortSignal,
  ): Promise<Follower | undefined> {
    const feed = await this.#feedOf(sessionId);
    if (feed === undefined) return undefined;
    // Its last follower left at this moment.
    if (this.#open.get(sessionId) !== feed) return await this.follow(sessionId, since, shutdown);
    const follower = await feed.join(since, () => this.#dropUnfollowed(sessionId, feed));
    this.#onShutdown(shutdown);
    return follower;
  }

  /** Ends all streams. */
  async stop(): Promise<void> {
    clearInterval(this.#check);
    clearInterval(this.#watch);
    this.#endAll();
    await this.#listener.stop();
  }

  #onShutdown(shutdown: AbortSignal): void {
    if (shutdown.aborted) this.#endAll();
    else if (!this.#shutdowns.has(shutdown)) {
      this.#shutdowns.add(shutdown);
      shutdown.addEventListener('abort', () => this.#endAll(), { once: true });
    }
  }

  #endAll(): void {
    for (const feed of this.#open.values()) for (const follower of feed.followers) follower.end();
  }

  #feedOf(sessionId: string): Promise<SessionFeed | undefined> {
    let feed = this.#feeds.get(sessionId);
    if (feed === undefined) {
      feed = this.#openFeed(sessionId).catch((error: unknown) => {
        this.#drop(sessionId);
        throw error;
      });
      this.#feeds.set(sessionId, feed);
    }
    return feed;
  }

  async #openFeed(sessionId: string): Promise<SessionFeed | undefined> {
    this.#listener.start();
    this.#check ??= setInterval(() => void this.#checkAll(), checkEveryMs).unref();
    this.#watch ??= setInterval(() => void this.#watchAll(), watchEveryMs).unref();
    // Notifications begin before the first read, so that no change is missed in between.
    await watchSessions(this.#database, [sessionId], watchSeconds);
    const feed = new SessionFeed(this.#database, sessionId);
    this.#open.set(sessionId, feed);
    if (await feed.open()) return feed;
    this.#drop(sessionId);
    return undefined;
  }

  #dropUnfollowed(sessionId: string, feed: SessionFeed): void {
    if (feed.followerCount === 0 && this.#open.get(sessionId) === feed) this.#drop(sessionId);
  }

  #drop(sessionId: string): void {
    this.#open.delete(sessionId);
    this.#feeds.delete(sessionId);
  }

  async #checkAll(): Promise<void> {
    if (this.#open.size === 0 || this.#isChecking) return;
    this.#isChecking = true;
    try {
      const versions = await desiredVersions(this.#database, [...this.#open.keys()]);
      for (const [id, feed] of this.#open) if (versions.get(id) !== feed.desiredVersion) feed.changed();
    } catch {
      // The database does not answer; the next check follows in seconds.
    } finally {
      this.#isChecking = false;
    }
  }

  async #watchAll(): Promise<void> {
    if (this.#open.size === 0) return;
    // A failed one leaves time for two more.
    await watchSessions(this.#database, [...this.#open.keys()], watchSeconds).catch(() => undefined);
  }
}
