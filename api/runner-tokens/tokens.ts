/**
 * Runner tokens of this process's callers: found valid at every call, and once a second while a call lasts. What a
 * token that ended still holds is given back (decisions 3 and 9).
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
import { TokenCreators } from './creators.ts';
import { OpenCalls } from './open-calls.ts';
import { principalOf, type RunnerPrincipal } from './principal.ts';
import { releaseEndedTasks } from './release-ended-tasks.ts';

const roundEveryMs = 1_000;
const freshMs = 2_000;
const retrySoon = { 'retry-after': '1' } as const;

/** `lately`: within the last two seconds. */
export type Freshness = 'now' | 'lately';

interface Found {
  /** Of `performance.now`, when they were asked for. */
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
  /** What the last round found of tokens with calls under way. */
  #found: Found = { atMs: 0, callers: new Map() };
  readonly #over = new AbortController();
  #rounds: Promise<void> | undefined;
  #asking: Promise<void> | undefined;

  constructor(parts: RunnerTokensParts) {
    this.#parts = parts;
    this.creators = new TokenCreators(parts);
  }

  /**
   * The caller behind a runner token, checked now; null when it is unknown, expired or revoked. The call is cut when
   * the token ends before it. Throws `unavailable` when the check cannot be made.
   */
  async identify(bearer: string, call: Pick<Call, 'life'>): Promise<RunnerPrincipal | null> {
    const digest = digestOf(this.#parts.secrets, bearer);
    if (digest === null) return null;
    const principal = await this.#check(() => findRunnerToken(this.#parts.database, digest));
    if (principal !== null) this.#open.add(principal.tokenId, call.life);
    return principal;
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

  /** Calls with runner tokens that are under way in this process. */
  get openCallCount(): number {
    return this.#open.count;
  }

  /** Begins the rounds; safe to call again. */
  start(): void {
    this.#rounds ??= this.#goRound();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    await Promise.all([this.#rounds, this.#asking]);
  }

  /** Gives back what tokens that ended still hold. What fails is left to the next round. */
  async releaseEndedTasks(): Promise<void> {
    const work = () => releaseEndedTasks(this.#parts);
    await this.#attempt('tasks of ended runner tokens not given back', work);
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

  /** Nobody waits for a note of the time. */
  #touch(tokenId: string): void {
    const { database, log } = this.#parts;
    touchRunnerToken(database, tokenId).catch((error) => log.warn({ err: error }, 'last use not written'));
  }

  async #goRound(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      // The service may take its time; nothing else waits for it.
      this.#asking ??= this.#attempt('creators of runner tokens not asked', () =>
        this.creators.askDue(),
      ).finally(() => {
        this.#asking = undefined;
      });
      await Promise.all([
        this.#attempt('runner tokens not read again', () => this.#cutEnded()),
        this.releaseEndedTasks(),
      ]);
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

  /** Ends the calls whose tokens a new call would not be admitted with. */
  async #cutEnded(): Promise<void> {
    const tokenIds = this.#open.tokenIds;
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

/** The caller behind a token as it stands, or what a new call with it is refused with. */
function callerOf(row: RunnerTokenRow | undefined): RunnerPrincipal | Problem {
  const standing = row === undefined ? undefined : standingOf(row);
  if (row === undefined || standing === undefined || standing.kind === 'over')
    return new Problem('unauthorized');
  if (standing.kind === 'unsure') return new Problem('unavailable', { headers: retrySoon });
  return principalOf(row, standing.role);
}

/** As every runner route does, whatever scope it asks for. */
function refusalOf(caller: RunnerPrincipal): Problem | null {
  const decision = decideAccess(access.runnerAny, caller);
  return decision.allowed ? null : new Problem(decision.problem);
}
