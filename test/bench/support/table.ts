/** `docs/benchmarks.md`: one table of all figures, and when and where each area was measured. */
import type { Figure } from './figures.ts';

/** One run of a benchmark. */
export interface AreaRun {
  readonly area: string;
  readonly measuredAt: Date;
  /** Load average when it began. */
  readonly load: string;
  readonly tookSeconds: number;
  /** Machine and versions. */
  readonly machine: string;
  readonly figures: readonly Figure[];
}

const intro = `# Benchmarks

Written by \`npm run bench\`, which runs all benchmarks in about half an hour, but for \`bench:churn\` (an hour), \`bench:peers\`
and the large sizes of \`bench:growth\`; \`npm run bench -- series report\` runs some and keeps the rows of the others. Each starts
the whole platform on this machine, so client, servers and database share its processors. \`npm run bench -- --against REF\`
compares this checkout with a commit: both in turn, on one machine.

p95 is what 95 of 100 values are not worse than; the floor is what the same costs without the platform, with the ratio
of the medians behind it (for rates: how much of the floor is reached).
`;
const figuresHead = [
  '| Area | Figure | Median | p95 | Floor | Ratio | Aim | Met | Measured |',
  '|---|---|---|---|---|---|---|---|---|',
];
const runsHead = ['| Area | Measured | Load average before | Took | Machine |', '|---|---|---|---|---|'];

/** The document with the rows of these areas in the place of the older ones. */
export function mergeTable(document: string, order: readonly string[], runs: readonly AreaRun[]): string {
  const [figuresBefore = '', runsBefore = ''] = document.split('\n## Runs\n');
  const fresh = new Set(runs.map(({ area }) => area));
  const kept = (text: string) => rowsOf(text).filter((row) => !fresh.has(areaOf(row)));
  const sorted = (rows: readonly string[]) =>
    rows.toSorted((a, b) => order.indexOf(areaOf(a)) - order.indexOf(areaOf(b)));
  const figureRows = sorted([...kept(figuresBefore), ...runs.flatMap(figureRowsOf)]);
  const runRows = sorted([...kept(runsBefore), ...runs.map(runRowOf)]);
  return [intro, ...figuresHead, ...figureRows, '', '## Runs', '', ...runsHead, ...runRows, ''].join('\n');
}

/** Rows of a table without its head. */
function rowsOf(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Area |'));
}

const areaOf = (row: string) => row.split('|')[1]?.trim() ?? '';

function figureRowsOf({ area, measuredAt, figures }: AreaRun): string[] {
  return figures.map(({ name, unit, median, p95, floor, ratio, aim }) =>
    rowOf([
      area,
      name,
      shown(median, unit),
      p95 === null ? '' : shown(p95, unit),
      floor === null ? '' : `${shown(floor.median, unit)} (${floor.name})`,
      ratio === null ? '' : digits(ratio),
      aim?.text ?? '',
      aim === null ? '' : aim.isMet ? 'yes' : '**no**',
      dayOf(measuredAt),
    ]),
  );
}

function runRowOf({ area, measuredAt, load, tookSeconds, machine }: AreaRun): string {
  const minute = `${measuredAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return rowOf([area, minute, load, `${Math.round(tookSeconds)} s`, machine]);
}

export const rowOf = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const dayOf = (date: Date) => date.toISOString().slice(0, 10);

const shown = (value: number, unit: string) => `${digits(value)} ${unit}`;

/** Three digits that count. */
export function digits(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-GB');
  return Number(value.toPrecision(3)).toString();
}
