/** The result of a campaign as a table, for people and for `docs/reliability.md`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import type { Finding } from './journal.ts';
import { type Row, shareServed } from './report.ts';

const heads = [
  'Kind',
  'Faults',
  'Felt',
  'Operations',
  'Served under fault',
  'Acknowledged',
  'Ambiguous',
  'Stale calls',
  'Lost',
  'Torn',
  'Doubled',
  'Stuck',
  'Stale accepted',
  'Other findings',
  'Slowest recovery',
  'Run',
];

const isNumber = (text: string) => /^[\d,.]+( s| %)?$|^–$/.test(text);

/** What each row of a run of some rounds contains. */
export interface RunFacts {
  readonly seed: number;
  readonly size: string;
  /** How many processes of each kind. */
  readonly processes: number;
}

export function tableOf(rows: readonly Row[], run: RunFacts): string {
  return tableOfCells(rows.map((row) => cellsOf(row, run)));
}

function tableOfCells(lines: readonly string[][]): string {
  const rule = heads.map((_, at) => (lines.every((cells) => isNumber(cells[at] ?? '–')) ? '---:' : '---'));
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf(row: Row, { seed, size, processes }: RunFacts): string[] {
  const kind = `${row.kind} ${row.name}`;
  const date = new Date().toISOString().slice(0, 10);
  const run = `${size}, seed ${seed}, ${processes} of each, ${date}, ${Math.round(row.seconds)} s`;
  if (row.skipped !== undefined)
    return [`${kind} (left out: ${row.skipped})`, ...Array<string>(heads.length - 2).fill('–'), run];
  const count = (...what: Finding['what'][]) =>
    whole(row.findings.filter((finding) => what.includes(finding.what)).length);
  const share = shareServed(row.duringFaults);
  return [
    kind,
    whole(row.faults),
    whole(row.felt),
    whole(row.operations),
    share === undefined ? '–' : `${Math.round(100 * share)} %`,
    whole(row.acknowledged),
    whole(row.ambiguous),
    whole(row.staleCalls),
    count('lost'),
    count('torn'),
    count('doubled'),
    count('stuck'),
    count('stale', 'revoked'),
    count('recovered', 'answer', 'share'),
    row.recoveryMs === Number.POSITIVE_INFINITY ? 'never' : `${(row.recoveryMs / 1_000).toFixed(1)} s`,
    run,
  ];
}

function whole(count: number): string {
  return count.toLocaleString('en-GB');
}

const begin = '<!-- campaign:faults begins -->';
const end = '<!-- campaign:faults ends -->';
const title = '## Campaign of faults';

const promise = `What is promised: an upload that was acknowledged is kept, whole, whatever fails; a call that is repeated
because its answer was lost takes effect once; a runner that has lost its task changes nothing; a token that was revoked
is let in by no process; after a fault every process serves again within 10 seconds, and during it at least 30 % of the
calls are served that are not refused as the contract says.

\`npm run campaign:faults\` puts this to the test: it runs the processes of \`npm start\`, two or one of each, under
uploads, reads, runners, shared sessions, reprocesses and revocations, injects each kind of fault alone and then in random pairs,
and judges all that was acknowledged once everything is at rest, each kind by itself. Which fault comes when, and where, is
repeated by the seed. *Felt* are the faults of which the platform was seen to notice something. *Other findings* are slow
recoveries, errors that the contract does not name, and shares below 30 %. The data lie in memory, so a power cut is not
among the faults.`;

/** Puts rows into the section, in the place of earlier ones of the same kinds and number of processes; makes section and page where there are none. */
export function writeRows(file: string, rows: readonly Row[], run: RunFacts): void {
  const page = existsSync(file) ? readFileSync(file, 'utf8') : '# Reliability\n';
  const [before, rest] = page.split(begin);
  const after = rest === undefined ? '\n' : rest.slice(rest.indexOf(end) + end.length);
  const cells = new Map(
    [...writtenCells(rest ?? ''), ...rows.map((row) => cellsOf(row, run))].map((line) => [keyOf(line), line]),
  );
  const lines = [...cells.values()].sort(byKind);
  const section = [begin, title, '', promise, '', facts(lines), '', tableOfCells(lines), end].join('\n');
  writeFileSync(file, `${before!.trimEnd()}\n\n${section}${after}`);
}

/** Rows of a table with other columns are dropped. */
function writtenCells(section: string): string[][] {
  return section
    .slice(0, section.indexOf(end))
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter((cells) => cells.length === heads.length && /^\d/.test(cells[0]!));
}

function kindOf([first]: readonly string[]): string {
  return first!.split(' ')[0]!;
}

/** The same kind with another number of processes is another row. */
const keyOf = (cells: readonly string[]) => `${kindOf(cells)}, ${processesOf(cells)} of each`;

function processesOf(cells: readonly string[]): number {
  return Number(/(\d) of each/.exec(cells.at(-1)!)?.[1]);
}

/** Two of each process before one of each; in both, kinds alone by their number, then pairs. */
function byKind(one: readonly string[], other: readonly string[]): number {
  const [a, b] = [kindOf(one), kindOf(other)].map((kind) => kind.split('+').map(Number));
  const byProcesses = processesOf(other) - processesOf(one);
  return byProcesses || a!.length - b!.length || a![0]! - b![0]! || (a![1] ?? 0) - (b![1] ?? 0);
}

function facts(lines: readonly string[][]): string {
  const sum = (head: string) => {
    const at = heads.indexOf(head);
    return lines.reduce((total, cells) => total + (Number(cells[at]!.replaceAll(',', '')) || 0), 0);
  };
  const machine = `${cpus().length} processors (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
  return [
    `Of all rows together: ${whole(sum('Acknowledged'))} acknowledged uploads, ${whole(sum('Lost'))} lost;`,
    `${whole(sum('Ambiguous'))} writes that were repeated because their answer was lost or on purpose, ${whole(sum('Doubled'))} doubled;`,
    `${whole(sum('Stale calls'))} calls by runners that had lost their task and by revoked tokens, ${whole(sum('Stale accepted'))} accepted.`,
    `On ${machine}. \`full\` rounds go on until 5,000 uploads are acknowledged; \`small\` ones are those of \`npm test\`.`,
  ].join('\n');
}
