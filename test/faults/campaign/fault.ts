import type { Random } from '../../support/random.ts';
import type { Caller } from './caller.ts';
import type { Journal } from './journal.ts';
import type { CampaignPlatform } from './platform.ts';
import type { Stage } from './stage.ts';

/** The platform on which a fault is injected. */
export interface FaultContext {
  readonly platform: CampaignPlatform;
  readonly stage: Stage;
  readonly random: Random;
  readonly caller: Caller;
  readonly journal: Journal;
  /** Counts the faults, so that a kind uses its forms in turn. */
  readonly turn: number;
  /** How long the fault stays, in milliseconds. */
  readonly holdMs: number;
  /** No other kind of fault is injected in this round. */
  readonly isAlone: boolean;
  /** Small within the suite, full in a separate campaign. */
  readonly size: 'small' | 'full';
}

export interface Fault {
  /** Ends it, without a wait for killed processes: that wait is the recovery. */
  readonly heal: () => Promise<void> | void;
  /** Whether the platform has felt it; absent where it always does. */
  readonly isFelt?: () => Promise<boolean> | boolean;
}

export interface FaultKind {
  readonly number: number;
  readonly name: string;
  /** Why it cannot be injected here; undefined where it can. */
  readonly unavailable?: (platform: CampaignPlatform) => string | undefined;
  /** Begins the fault; resolves when it is in force. */
  readonly inject: (context: FaultContext) => Promise<Fault>;
}

/** The next form. */
export function inTurn<T>(forms: readonly T[], { turn }: FaultContext): T {
  return forms[turn % forms.length] as T;
}

export const nothingToHeal: Fault = { heal: () => undefined };

/** Felt when a call has failed since, or is slow. */
export function feltByCalls({ caller }: FaultContext): () => boolean {
  const before = caller.tally.disturbed;
  return () => caller.tally.disturbed > before;
}
