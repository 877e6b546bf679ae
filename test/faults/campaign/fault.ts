import type { Random } from '../../support/random.ts';
import type { Caller } from './caller.ts';
import type { Journal } from './journal.ts';
import type { CampaignPlatform } from './platform.ts';
import type { Stage } from './stage.ts';

/** What a fault works on. */
export interface FaultContext {
  readonly platform: CampaignPlatform;
  readonly stage: Stage;
  readonly random: Random;
  readonly caller: Caller;
  readonly journal: Journal;
  /** Counts the faults, so that a kind takes its forms in turn. */
  readonly turn: number;
  /** How long the fault stays, in milliseconds. */
  readonly holdMs: number;
  /** Small within the suite, full in a campaign of its own. */
  readonly size: 'small' | 'full';
}

export interface Fault {
  /** Ends it. What was killed is not waited for: that is what recovery is. */
  readonly heal: () => Promise<void> | void;
  /** Whether the platform has felt it; absent where it cannot but do so. */
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

/** The form whose turn it is. */
export function inTurn<T>(forms: readonly T[], { turn }: FaultContext): T {
  return forms[turn % forms.length] as T;
}

export const nothingToHeal: Fault = { heal: () => undefined };

/** Felt when a call has failed since, or takes long. */
export function feltByCalls({ caller }: FaultContext): () => boolean {
  const before = caller.tally.disturbed;
  return () => caller.tally.disturbed > before;
}
