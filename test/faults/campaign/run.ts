/** A campaign: round after round on one platform, each with its own people, sessions and checks. */

import { Random } from '../../support/random.ts';
import type { FaultKind } from './fault.ts';
import type { Finding } from './journal.ts';
import type { CampaignPlatform } from './platform.ts';
import { emptyRow, type Report, type Row } from './report.ts';
import { Round } from './round.ts';
import type { CampaignSize } from './sizes.ts';

export interface CampaignOptions {
  readonly platform: CampaignPlatform;
  readonly size: CampaignSize;
  readonly seed: number;
  readonly log: (line: string) => void;
  /** Called with each row when its round is over. */
  readonly onRow?: (row: Row) => void;
}

/** @param rounds each a kind alone or several together */
export async function runCampaign(
  options: CampaignOptions,
  rounds: ReadonlyArray<readonly FaultKind[]>,
): Promise<Report> {
  const startedAt = performance.now();
  const { platform, size, seed, log } = options;
  const done: Round[] = [];
  const rows: Row[] = [];
  const said = new Set<string>();
  for (const [number, kinds] of rounds.entries()) {
    const label = kinds.map((kind) => kind.number).join('+');
    const skipped = kinds.map(({ unavailable }) => unavailable?.(platform)).find((why) => why !== undefined);
    if (skipped !== undefined) {
      rows.push(emptyRow(label, kinds.map(({ name }) => name).join(' / '), skipped));
      continue;
    }
    // The same seed makes the same round, whichever rounds ran before it.
    const random = new Random(seed).fork(`round ${label}`);
    const isLast = number === rounds.length - 1;
    const round = await Round.begin({ platform, size, kinds, label, number, isLast, seed, random });
    await round.run();
    keepNew(round.row, said);
    done.push(round);
    rows.push(round.row);
    log(sentenceOf(round.row));
    for (const { what, sentence } of round.row.findings) log(`${label} ${what}: ${sentence}`);
    options.onRow?.(round.row);
  }
  for (const round of done.slice(0, -1)) {
    const before = round.row.findings.length;
    await round.checkUploadsAgain();
    keepNew(round.row, said);
    if (round.row.findings.length > before) options.onRow?.(round.row);
  }
  return {
    seed,
    size: size.name,
    rows,
    errors: errorsOf(done),
    unexpectedEnds: platform.slots.flatMap((slot) => slot.unexpectedEnds),
    seconds: (performance.now() - startedAt) / 1_000,
  };
}

/** Found in what is stored. */
const stored = new Set(['lost', 'torn', 'doubled', 'stuck', 'stale']);

/** Every later round finds what an earlier one left in the tables: the first round reports it. */
function keepNew({ kind, findings }: Row, said: Set<string>): void {
  const isNew = ({ what, sentence }: Finding) =>
    !stored.has(what) || !said.has(sentence) || said.has(`${kind}: ${sentence}`);
  const its = findings.filter(isNew);
  for (const { sentence } of its) said.add(sentence).add(`${kind}: ${sentence}`);
  findings.splice(0, Infinity, ...its);
}

function sentenceOf(row: Row): string {
  const { kind, name, faults, felt, acknowledged, recoveryMs, slowest, findings, seconds } = row;
  const rate = (acknowledged / seconds).toFixed(0);
  return `${kind} ${name}: ${faults} faults, ${felt} felt, ${acknowledged} acknowledged (${rate} a second), recovered in ${Math.round(recoveryMs)} ms (${slowest}), ${findings.length} findings, ${seconds.toFixed(1)} s, ${JSON.stringify(row.duringFaults)}`;
}

function errorsOf(rounds: readonly Round[]): Map<string, number> {
  const errors = new Map<string, number>();
  for (const { caller } of rounds)
    for (const [name, count] of caller.tally.errors) errors.set(name, (errors.get(name) ?? 0) + count);
  return errors;
}
