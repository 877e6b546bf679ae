/**
 * The present state of the creators of runner tokens, read from the authentication service every fifteen seconds: a
 * token never has more rights than its creator's present role, and ends with its creator, or when all of the creator's
 * tokens are revoked together (decisions 3). Of several processes one asks; any may ask sooner.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { limits } from '../../domain/limits.ts';
import type { Database } from '../../store/connection/database.ts';
import {
  acquireCreatorsToAsk,
  type CreatorState,
  noteCreators,
  readRuntimes,
  releaseCreatorsToAsk,
} from '../../store/runners/runner-tokens.ts';
import type { AuthClient } from '../identity/auth-client.ts';
import { SharedWork } from '../shared-work.ts';

/** A check may come this much before it is due, so that none comes late. */
const earlySeconds = 2;
/** The pause after a question without an answer; calls that need one are refused meanwhile. */
const pauseMs = 1_000;

export interface TokenCreatorsParts {
  readonly database: Database;
  readonly auth: AuthClient;
  readonly log: Logger;
}

export class TokenCreators {
  readonly #database: Database;
  readonly #auth: AuthClient;
  readonly #log: Logger;
  readonly #onAnswer: () => void;
  readonly #underWay = new SharedWork<void>();
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  /** @param onAnswer called after each answer of the service is stored */
  constructor(parts: TokenCreatorsParts, onAnswer: () => void) {
    this.#onAnswer = onAnswer;
    this.#database = parts.database;
    this.#auth = parts.auth;
    this.#log = parts.log;
  }

  /** The present state of one user. Throws `unavailable`. */
  async stateOf(userId: string, requestId: string): Promise<CreatorState> {
    const [state] = await this.#ask([userId], requestId);
    return state!;
  }

  /** Asks about the creators that are due. Throws when there is no answer; the next round asks again. */
  async askDue(): Promise<void> {
    const due = await acquireCreatorsToAsk(this.#database, limits.runnerCreatorCheckSeconds - earlySeconds);
    if (due === undefined) return;
    try {
      await this.#askAndNote(due.userIds, due.askedAt);
    } catch (error) {
      await releaseCreatorsToAsk(this.#database, due.userIds);
      throw error;
    }
  }

  /** Asks about one creator whose state is too old; simultaneous calls share the question. */
  async askNow(userId: string): Promise<void> {
    if (performance.now() < this.#pausedUntilMs) return;
    await this.#underWay.run(userId, () => this.#askAlone(userId));
  }

  async #askAlone(userId: string): Promise<void> {
    try {
      const { now } = await readRuntimes(this.#database, []);
      await this.#askAndNote([userId], now);
    } catch (error) {
      this.#pausedUntilMs = performance.now() + pauseMs;
      this.#log.warn({ err: error }, 'cannot find out whether the creator of a runner token is active');
    }
  }

  async #askAndNote(userIds: readonly string[], askedAt: Date): Promise<void> {
    const states = await this.#ask(userIds, randomUUID());
    const { ended } = await noteCreators(this.#database, states, askedAt);
    this.#onAnswer();
    if (ended > 0) this.#log.info({ tokens: ended }, 'runner tokens ended with their creators');
  }

  async #ask(userIds: readonly string[], requestId: string): Promise<CreatorState[]> {
    const active = new Map<string, CreatorState>();
    for (const user of await this.#auth.findActive(userIds, requestId)) {
      active.set(user.userId.toLowerCase(), user);
    }
    return userIds.map((userId) => {
      const found = active.get(userId);
      return { userId, role: found?.role ?? null, tokensRevokedAt: found?.tokensRevokedAt ?? null };
    });
  }
}
