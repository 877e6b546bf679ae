/**
 * What a benchmark found, as `npm run bench` writes it down: each figure is one line of JSON in the file that
 * `BENCH_FIGURES` names. Without it a benchmark only prints them.
 */
import { appendFileSync } from 'node:fs';

/** Units of which more is better; of the others less is better. */
const rates = ['a second', 'MiB/s'];

export interface Finding {
  readonly name: string;
  /** `ms`, `s`, `MiB`, `KB`, `a second`, `MiB/s`, `times` */
  readonly unit: string;
  /** The values of all rounds. */
  readonly values: readonly number[];
  /** What the same costs, in the same unit, without the platform. */
  readonly floor?: { readonly name: string; readonly values: readonly number[] } | undefined;
  readonly aim?: Aim | undefined;
}

/** What is aimed at: `of` the values at most or at least so much, or so much for each of the floor (`ratio`). */
interface Aim {
  readonly of: 'median' | 'p95' | 'p99' | 'worst' | 'ratio';
  readonly most?: number;
  readonly least?: number;
}

/** A finding in numbers. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly median: number;
  /** The 95th percentile; null where there are too few values. */
  readonly p95: number | null;
  readonly floor: { readonly name: string; readonly median: number } | null;
  /** Median for each of the floor's. */
  readonly ratio: number | null;
  readonly aim: { readonly text: string; readonly isMet: boolean } | null;
}

/** The `share` quantile (0 to 1) of values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Writes a finding to the file of `npm run bench`. */
export function report(finding: Finding): void {
  const file = process.env.BENCH_FIGURES;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figureOf(finding))}\n`);
}

const fewest = 5;

function figureOf({ name, unit, values, floor, aim }: Finding): Figure {
  const isRate = rates.includes(unit);
  const atShare = (share: number) => quantile(values, isRate ? 1 - share : share);
  const median = quantile(values, 0.5);
  const floorMedian = floor === undefined ? null : quantile(floor.values, 0.5);
  const ratio = floorMedian === null ? null : median / floorMedian;
  return {
    name,
    unit,
    median,
    p95: values.length < fewest ? null : atShare(0.95),
    floor: floor === undefined || floorMedian === null ? null : { name: floor.name, median: floorMedian },
    ratio,
    aim:
      aim === undefined
        ? null
        : judged(aim, aim.of === 'ratio' ? (ratio ?? Number.NaN) : atShare(shares[aim.of]), unit),
  };
}

const shares = { median: 0.5, p95: 0.95, p99: 0.99, worst: 1 } as const;

function judged({ of, most, least }: Aim, value: number, unit: string): NonNullable<Figure['aim']> {
  const bound = most ?? least ?? Number.NaN;
  return {
    text: `${of} ${most === undefined ? 'at least' : 'at most'} ${bound}${of === 'ratio' ? '' : ` ${unit}`}`,
    isMet: most === undefined ? value >= bound : value <= bound,
  };
}
