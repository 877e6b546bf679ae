/** The result of a campaign. */
import type { Finding } from './journal.ts';
import { aimedShare } from './sizes.ts';
import { noneOf, type Outcomes } from './tally.ts';

/** The result of one kind, or of one pair. */
export interface Row {
  readonly kind: string;
  readonly name: string;
  /** Why it was left out. */
  readonly skipped?: string;
  faults: number;
  /** Faults that the platform has felt. */
  felt: number;
  operations: number;
  acknowledged: number;
  ambiguous: number;
  /** Calls for tasks that their runner had lost, and by tokens that were revoked. */
  staleCalls: number;
  duringFaults: Outcomes;
  /** The slowest, in milliseconds, and the process that was last. */
  recoveryMs: number;
  slowest: string;
  seconds: number;
  readonly findings: Finding[];
}

export interface Report {
  readonly seed: number;
  readonly size: string;
  readonly rows: readonly Row[];
  /** Answers that were not the ones asked for, by family and code. */
  readonly errors: ReadonlyMap<string, number>;
  readonly unexpectedEnds: readonly string[];
  readonly seconds: number;
}

export function emptyRow(kind: string, name: string, skipped?: string): Row {
  return {
    kind,
    name,
    ...(skipped === undefined ? {} : { skipped }),
    faults: 0,
    felt: 0,
    operations: 0,
    acknowledged: 0,
    ambiguous: 0,
    staleCalls: 0,
    duringFaults: noneOf(),
    recoveryMs: 0,
    slowest: '',
    seconds: 0,
    findings: [],
  };
}

/** The share served of the calls that were not refused as the contract says; undefined where there are none. */
export function shareServed({ served, unnamed, lost, hung }: Outcomes): number | undefined {
  const all = served + unnamed + lost + hung;
  return all === 0 ? undefined : served / all;
}

/** A kind that stops the database alone leaves nothing to serve. */
const minRowsForShare = 10;

/** All findings, a line each, with the command that repeats them. */
export function complaints({ rows, seed, size }: Report): string[] {
  const found = rows.flatMap(({ kind, findings }) =>
    findings.map(({ what, sentence }) => `${what}: ${sentence} (${repeat(seed, size, kind)})`),
  );
  const share = shareOfAll(rows);
  if (rows.length < minRowsForShare || share >= aimedShare) return found;
  const missed = `share: ${Math.round(100 * share)} % of all calls during faults were served, refusals included`;
  return [...found, missed];
}

/** Over all kinds a refusal counts as well: a platform that refuses everything must not pass. */
function shareOfAll(rows: readonly Row[]): number {
  const sum = (of: (outcomes: Outcomes) => number) =>
    rows.reduce((total, { duringFaults }) => total + of(duringFaults), 0);
  const all = sum(({ served, refused, unnamed, lost, hung }) => served + refused + unnamed + lost + hung);
  return all === 0 ? 1 : sum(({ served }) => served) / all;
}

/** The command that runs the round again. */
function repeat(seed: number, size: string, kind: string): string {
  return `npm run campaign:faults -- --seed ${seed} --size ${size} --kind ${kind}`;
}
