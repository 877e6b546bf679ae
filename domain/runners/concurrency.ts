/** Limits on how many tasks of a node template or runner type are held at once (additions, section 2). */

export const concurrencyKinds = ['nodeTemplate', 'runnerType'] as const;
export type ConcurrencyKind = (typeof concurrencyKinds)[number];

export const concurrencyScopes = ['all', 'project', 'session'] as const;
type ConcurrencyScope = (typeof concurrencyScopes)[number];

/** Null: no limit of that scope. 0: nothing is claimed. */
export interface Concurrency {
  readonly max: number | null;
  readonly perProject: number | null;
  readonly perSession: number | null;
}

export const concurrencyMax = 100_000;

/** A limit that keeps a run from being claimed. */
export interface FullLimit {
  readonly kind: ConcurrencyKind;
  readonly name: string;
  readonly scope: ConcurrencyScope;
  readonly max: number;
  readonly held: number;
}
