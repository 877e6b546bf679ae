/**
 * Runner tokens of this process's callers: checked at every call by what was read within the last second, and once a
 * second while a call lasts. The tasks that an ended token still holds are released, and no claim of it gets another
 * (decisions 3 and 9).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { access, decideAccess } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { standingOf } from '../../domain/runners/runner-token.ts';
import type { Call } from '../../http/call.ts';
import type { Database } from '../../store/connection/database.ts';
import type { SecretBox } from '../../store/objects/secrets.ts';
import { digestOf } from '../../store/runners/runner-token-value.ts';
import {
  findRunnerToken,
  type RunnerTokenRow,
  readRunnerTokens,
  touchRunnerToken,
} from '../../store/runners/runner-tokens.ts';
import type { AuthClient } from '../identity/auth-client.ts';
import { OpenCalls } from '../identity/open-calls.ts';
import { TokenCreators } from './creators.ts';
import { principalOf, type RunnerPrincipal } from './principal.ts';
import { releaseEndedTasks } from './release-ended-tasks.ts';

const roundEveryMs = 1_000;
/** A runner makes several calls for each task: a check is good for all calls within this time. */
const rememberedMs = 1_000;
const maxRemembered = 10_000;
const freshMs = 2_000;
const retrySoon = { 'retry-after': '1' } as const;
const notReleased = 'tasks of ended runner tokens not released';

/** `lately`: within the last two seconds. */
type Freshness = 'now' | 'lately';

interface Found {
  /** By `performance.now`, when they were read. */
  readonly atMs: number;
  readonly callers: ReadonlyMap<string, RunnerPrincipal>;
}

export interface RunnerTokensParts {
  readonly database: Database;
  readonly auth: AuthClient;
  readonly secrets: SecretBox;
  readonly log: Logger;
}

export class RunnerTokens {
  readonly creators: TokenCreators;
  readonly #parts: RunnerTokensParts;
  readonly #open = new OpenCalls();
  /** The last round's result for tokens with open calls. */
  #found: Found = { atMs: 0, callers: new Map() };
  /** Callers by the digest of their token, each until a time of `performance.now`. */
  readonly #remembered = new Map<string, { readonly untilMs: number; readonly principal: RunnerPrincipal }>();
  readonly #over = new AbortController();
  #loops: Promise<unknown> | undefined;

  constructor(parts: RunnerTokensParts) {
    this.#parts = parts;
    this.creators = new TokenCreators(parts, () => this.forget());
  }

  /**
   * The caller behind a runner token, by a check within the last second; null when it is unknown, expired or revoked. The
   * call is ended when the token ends first. Throws `unavailable` when the check cannot be made.
   */
  async identify(bearer: string, call: Pick<Call, 'life'>): Promise<RunnerPrincipal | null> {
    const digest = digestOf(this.#parts.secrets, bearer);
    if (digest === null) return null;
    const principal = await this.#identified(digest);
    if (principal !== null) this.#open.add(principal.tokenId, call);
    return principal;
  }

  async #identified(digest: Buffer): Promise<RunnerPrincipal | null> {
    const key = digest.toString('base64');
    const known = this.#remembered.get(key);
    const atMs = performance.now();
    if (known !== undefined && atMs < known.untilMs) return known.principal;
    this.#remembered.delete(key);
    let leftMs = 0;
    const principal = await this.#check(async () => {
      const row = await findRunnerToken(this.#parts.database, digest);
      // Both by the clock of the database: that of this process may be wrong.
      if (row !== undefined) leftMs = row.expiresAt.getTime() - row.now.getTime();
      return row;
    });
    if (principal === null) return null;
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    this.#remembered.set(key, { untilMs: atMs + Math.min(rememberedMs, leftMs), principal });
    return principal;
  }

  /** Tokens have ended or their creators changed: the next call with any is checked again. Other processes notice within a second. */
  forget(): void {
    this.#remembered.clear();
  }

  /**
   * {@link forget}; resolves when no other process remembers a check from before the call either: a revocation that is
   * answered holds everywhere.
   */
  async forgetEverywhere(): Promise<void> {
    this.forget();
    await sleep(rememberedMs);
  }

  /** The same caller, checked again. Throws the refusal that a new call would get. */
  async identifyAgain({ tokenId }: RunnerPrincipal, known: Freshness): Promise<RunnerPrincipal> {
    const found = known === 'now' ? undefined : this.#found.callers.get(tokenId);
    if (found !== undefined && performance.now() - this.#found.atMs < freshMs) return found;
    const read = async () => (await readRunnerTokens(this.#parts.database, [tokenId]))[0];
    const principal = await this.#check(read);
    if (principal === null) throw new Problem('unauthorized');
    const refusal = refusalOf(principal);
    if (refusal !== null) throw refusal;
    return principal;
  }

  /** Open calls with runner tokens in this process. */
  get openCallCount(): number {
    return this.#open.count;
  }

  /**
   * Begins the rounds; safe to call again. None waits for another: an ended token's calls are cut also while the
   * authentication service is slow, and while a stalled process has locked the session of a task to release.
   */
  start(): void {
    this.#loops ??= Promise.all([
      this.#repeat('runner tokens not read again', () => this.#cutEnded()),
      this.#repeat(notReleased, () => releaseEndedTasks(this.#parts)),
      this.#repeat('creators of runner tokens not checked', () => this.creators.askDue()),
    ]);
  }

  /** Resolves when no work is left. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#loops;
  }

  /** Releases the tasks that ended tokens still hold. The next round repeats those that fail. */
  async releaseEndedTasks(): Promise<void> {
    await this.#attempt(notReleased, () => releaseEndedTasks(this.#parts));
  }

  async #check(read: () => Promise<RunnerTokenRow | undefined>): Promise<RunnerPrincipal | null> {
    let row: RunnerTokenRow | undefined;
    try {
      row = await read();
      if (row !== undefined && standingOf(row).kind === 'unsure' && row.createdBy !== null) {
        await this.creators.askNow(row.createdBy);
        row = await read();
      }
    } catch (cause) {
      throw new Problem('unavailable', { cause, headers: retrySoon });
    }
    const caller = callerOf(row);
    if (!(caller instanceof Problem)) {
      if (row?.lastUsedIsOld) this.#touch(row.id);
      return caller;
    }
    if (caller.key === 'unauthorized') return null;
    throw caller;
  }

  /** No call waits for the time of last use to be stored. */
  #touch(tokenId: string): void {
    const { database, log } = this.#parts;
    touchRunnerToken(database, tokenId).catch((error) => log.warn({ err: error }, 'last use not written'));
  }

  async #repeat(failure: string, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#attempt(failure, work);
      await sleep(roundEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #attempt(failure: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.log.warn({ err: error }, failure);
    }
  }

  /** Ends the calls whose tokens would be refused for a new call. */
  async #cutEnded(): Promise<void> {
    const tokenIds = this.#open.tokens;
    const atMs = performance.now();
    const rows = tokenIds.length === 0 ? [] : await readRunnerTokens(this.#parts.database, tokenIds);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const callers = new Map<string, RunnerPrincipal>();
    for (const tokenId of tokenIds) {
      const caller = callerOf(byId.get(tokenId));
      const refusal = caller instanceof Problem ? caller : refusalOf(caller);
      if (refusal !== null) this.#open.cut(tokenId, refusal);
      else if (!(caller instanceof Problem)) callers.set(tokenId, caller);
    }
    this.#found = { atMs, callers };
  }
}

/** The caller of a token as of now, or the refusal of a new call with it. */
function callerOf(row: RunnerTokenRow | undefined): RunnerPrincipal | Problem {
  const standing = row === undefined ? undefined : standingOf(row);
  if (row === undefined || standing === undefined || standing.kind === 'over')
    return new Problem('unauthorized');
  if (standing.kind === 'unsure') {
    const cause = new Error('The role of the creator of a runner token is not known.');
    return new Problem('unavailable', { headers: retrySoon, cause });
  }
  return principalOf(row, standing.role);
}

/** The check of every runner route, whatever its scope. */
function refusalOf(caller: RunnerPrincipal): Problem | null {
  const decision = decideAccess(access.runnerAny, caller);
  return decision.allowed ? null : new Problem(decision.problem);
}
