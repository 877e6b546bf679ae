/**
 * Runner tokens: who may make which, and how far one reaches at the moment (contract: Authentication 7, Runner
 * administration; decisions 3 and 9).
 */
import type { Role } from '../access/access.ts';
import { limits } from '../limits.ts';
import { quoteRunnerName } from '../runner-name.ts';
import type { Runtime } from './manifest-runner-types.ts';

/** Whether tokens of a creator with this role reach runner types of this runtime. */
export function reachesRuntime(role: Role, runtime: Runtime): boolean {
  if (runtime === 'system') return false;
  if (role === 'Administrator') return true;
  return role === 'Developer' && runtime === 'external';
}

/** The longest life of a token, in hours, by its creator's role. */
function maxTokenHours(role: Role): number {
  return role === 'Administrator'
    ? limits.runnerTokenAdministratorMaxHours
    : limits.runnerTokenDeveloperMaxHours;
}

export interface TokenRequest {
  readonly runnerTypes: readonly string[];
  readonly ttlHours: number;
}

/** Why a token may not be made: `invalid` is the caller's 400, `forbidden` the role's 403. */
export type TokenRefusal = { readonly why: 'invalid' | 'forbidden'; readonly message: string };

/** @param runtimes of the registered ones among the runner types */
export function refuseTokenRequest(
  role: Role,
  request: TokenRequest,
  runtimes: ReadonlyMap<string, Runtime>,
): TokenRefusal | null {
  for (const name of request.runnerTypes) {
    const runtime = runtimes.get(name);
    if (runtime === undefined) return invalid(`The runner type ${quoteRunnerName(name)} is not registered.`);
    if (runtime === 'system') return invalid(`The runner type '${name}' is the platform's own.`);
    if (!reachesRuntime(role, runtime)) {
      const message = `The role of this account does not allow tokens for the deployed runner type '${name}'.`;
      return { why: 'forbidden', message };
    }
  }
  const maxHours = maxTokenHours(role);
  if (request.ttlHours > maxHours) return invalid(`ttlHours must be between 1 and ${maxHours}.`);
  return null;
}

const invalid = (message: string): TokenRefusal => ({ why: 'invalid', message });

/** A token's row in the platform's own table, with what is known of its creator. */
export interface TokenFacts {
  readonly revokedAt: Date | null;
  readonly expiresAt: Date;
  /** Null: the platform itself. */
  readonly createdBy: string | null;
  /** Null: inactive or deleted, or not known yet. */
  readonly creatorRole: Role | null;
  /** When the creator was last checked with the authentication service; null: never. */
  readonly creatorCheckedAt: Date | null;
  /** The database's clock. */
  readonly now: Date;
}

/**
 * `over`: for good. `unsure`: the creator was not checked for too long, so the token is refused until the next check.
 * `good`: it reaches as far as the creator's present role.
 */
export type TokenStanding =
  | { readonly kind: 'over' }
  | { readonly kind: 'unsure' }
  | { readonly kind: 'good'; readonly role: Role };

export function standingOf(token: TokenFacts): TokenStanding {
  if (token.revokedAt !== null || token.expiresAt <= token.now) return { kind: 'over' };
  if (token.createdBy === null) return { kind: 'good', role: 'Administrator' };
  const { creatorCheckedAt: checkedAt, creatorRole: role } = token;
  if (checkedAt === null) return { kind: 'unsure' };
  const ageSeconds = (token.now.getTime() - checkedAt.getTime()) / 1_000;
  if (ageSeconds > limits.runnerCreatorTrustSeconds) return { kind: 'unsure' };
  return role === null ? { kind: 'over' } : { kind: 'good', role };
}
