/** The caller behind a runner token (contract: Authentication 7). */
import type { Role, RunnerScope } from '../../domain/access/access.ts';
import { reachesRuntime } from '../../domain/runners/runner-token.ts';
import type { RunnerTokenRow } from '../../store/runners/runner-tokens.ts';

/** A program whose runner token was just validated; it has no more rights than its creator's present role. */
export type RunnerPrincipal = {
  readonly kind: 'runner';
  /** The present role of its creator. */
  readonly role: Role;
  readonly tokenId: string;
  readonly label: string;
  readonly scopes: readonly RunnerScope[];
  /** The names of those that it may claim now. */
  readonly runnerTypes: readonly string[];
  readonly expiresAt: Date;
};

export function principalOf(row: RunnerTokenRow, role: Role): RunnerPrincipal {
  const { id: tokenId, label, scopes, expiresAt } = row;
  const runnerTypes = reachesRuntime(role, 'sdk') ? row.runnerTypes : row.externalTypes;
  return { kind: 'runner', role, tokenId, label, scopes, runnerTypes, expiresAt };
}
