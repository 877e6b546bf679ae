/** The result of a campaign as a table, for people and for `docs/reliability.md`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import type { Finding } from './journal.ts';
import type { Report, Row } from './run.ts';

const heads = [
  'Kind',
  'Faults',
  'Operations',
  'Good under fault',
  'Acknowledged',
  'Ambiguous',
  'Lost',
  'Torn',
  'Doubled',
  'Stuck',
  'Stale',
  'Slowest recovery',
];

const isNumber = (text: string) => /^[\d,.]+( s| %)?$|^–$/.test(text);

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(cellsOf);
  const rule = heads.map((_, at) => (lines.every((cells) => isNumber(cells[at] ?? '–')) ? '---:' : '---'));
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf(row: Row): string[] {
  const kind = `${row.kind} ${row.name}`;
  if (row.skipped !== undefined)
    return [`${kind} (left out: ${row.skipped})`, ...Array<string>(heads.length - 1).fill('–')];
  const count = (what: Finding['what']) =>
    whole(row.findings.filter((finding) => finding.what === what).length);
  return [
    kind,
    whole(row.faults),
    whole(row.operations),
    shareOf(row),
    whole(row.acknowledged),
    whole(row.ambiguous),
    count('lost'),
    count('torn'),
    count('doubled'),
    count('stuck'),
    count('stale'),
    row.recoveryMs === Number.POSITIVE_INFINITY ? 'never' : `${(row.recoveryMs / 1_000).toFixed(1)} s`,
  ];
}

function shareOf({ duringFaults: { made, succeeded } }: Row): string {
  return made === 0 ? '–' : `${Math.round((100 * succeeded) / made)} %`;
}

function whole(count: number): string {
  return count.toLocaleString('en-GB');
}

/** Everything that is wrong, a line each, with how to see it again. */
export function complaints({ rows, seed }: Report): string[] {
  return rows.flatMap(({ kind, findings }) =>
    findings.map(({ what, sentence }) => `${what}: ${sentence} (${repeat(seed, kind)})`),
  );
}

/** The command that runs the round again. */
function repeat(seed: number, kind: string): string {
  const named = kind.split('+').filter((number) => /^\d+$/.test(number));
  if (named.length === 0) return `npm run campaign:faults -- --seed ${seed}`;
  return `npm run campaign:faults -- --seed ${seed} --kind ${named.join('+')}`;
}

const begin = '<!-- campaign:faults begins -->';
const end = '<!-- campaign:faults ends -->';
const title = '## Campaign of faults';

const promise = `What is promised: an upload that was acknowledged is kept, whole, whatever fails; a call that is repeated
because its answer was lost takes effect once; a runner that has lost its task changes nothing; a token that was revoked
is let in by no process; after a fault every process serves again within 10 seconds, and during it at least 30 % of the
operations succeed.

\`npm run campaign:faults\` puts this to the test: it runs the processes of \`npm start\`, two of each, under uploads,
reads, runners, shared sessions, reprocesses and revocations, injects each kind of fault alone and then in random pairs,
and judges all that was acknowledged once everything is at rest. Which fault comes when, and where, is repeated by the
seed. The data lie in memory, so a power cut is not among the faults.`;

/** Replaces the section, or appends it; makes the page where there is none. */
export function writeSection(file: string, report: Report, processes: number): void {
  const page = existsSync(file) ? readFileSync(file, 'utf8') : '# Reliability\n';
  const section = [
    begin,
    title,
    '',
    promise,
    '',
    facts(report, processes),
    '',
    tableOf(report.rows),
    end,
  ].join('\n');
  const [before, rest] = page.split(begin);
  const after = rest === undefined ? '\n' : rest.slice(rest.indexOf(end) + end.length);
  writeFileSync(file, `${before!.trimEnd()}\n\n${section}${after}`);
}

function facts({ seed, counts, seconds }: Report, processes: number): string {
  const machine = `${cpus().length} processors (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const wrong = counts.staleAccepted + counts.revokedAccepted;
  return [
    `Seed ${seed}, ${processes} of each process, ${Math.round(seconds / 60)} minutes, on ${machine}.`,
    `${whole(counts.acknowledged)} uploads were acknowledged and ${whole(counts.ambiguous)} writes had to be repeated;`,
    `of ${whole(counts.staleRefused + counts.revokedRefused + wrong)} calls by runners that had lost their task and by revoked tokens ${whole(wrong)} were accepted.`,
  ].join('\n');
}
