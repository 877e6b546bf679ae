/** The figures of two commits side by side. */
import type { Figure } from './figures.ts';
import { quantile } from './figures.ts';
import { digits, rowOf } from './table.ts';

/** One benchmark of the other commit and of this one, one right after the other. */
export interface Round {
  readonly area: string;
  readonly before: readonly Figure[];
  readonly now: readonly Figure[];
}

const median = (values: readonly number[]) => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
};

/**
 * One row for each figure that both commits have: the medians over all rounds, and the median of the ratios within each
 * round, in which a machine that becomes slower from one round to the next does not show.
 */
export function comparisonTable(name: string, rounds: readonly Round[]): string {
  const rows: string[] = [];
  const alone: string[] = [];
  for (const area of new Set(rounds.map((round) => round.area))) {
    const own = rounds.filter((round) => round.area === area);
    const names = new Set(own.flatMap(({ before, now }) => [...before, ...now].map((figure) => figure.name)));
    for (const figure of names) {
      const pairs = own.flatMap(({ before, now }) => {
        const [one, other] = [before, now].map((all) => all.find((candidate) => candidate.name === figure));
        return one === undefined || other === undefined ? [] : [[one, other] as const];
      });
      if (pairs.length === 0) {
        alone.push(`${area}: ${figure}`);
        continue;
      }
      const ratios = pairs.map(([one, other]) => other.median / one.median);
      const unit = pairs[0]![0].unit;
      rows.push(
        rowOf([
          area,
          figure,
          `${digits(median(pairs.map(([one]) => one.median)))} ${unit}`,
          `${digits(median(pairs.map(([, other]) => other.median)))} ${unit}`,
          digits(median(ratios)),
          `${digits(quantile(ratios, 0))} to ${digits(quantile(ratios, 1))}`,
        ]),
      );
    }
  }
  return [
    `| Area | Figure | ${name} | This commit | Ratio | Of the rounds |`,
    '|---|---|---|---|---|---|',
    ...rows,
    ...(alone.length === 0 ? [] : ['', `Only one of the two has: ${alone.join('; ')}.`]),
    '',
  ].join('\n');
}
