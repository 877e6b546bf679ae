/**
 * All benchmarks but churn and peers, one after the other, into one table: `npm run bench` (about half an hour), or
 * `npm run bench -- series report` for some, which keeps the rows of the others.
 *
 * `npm run bench -- --against REF` compares this checkout with a commit and prints the ratios: each benchmark of both, twice
 * (`--rounds`), over the ways of requests and runs unless others are named. The commit comes first in odd rounds and
 * second in even ones: what runs second finds a machine that the first has warmed or worn.
 *
 * Each benchmark is a separate process with its own platform. One that fails leaves its old rows and makes the
 * command fail in the end.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { onEnd } from '../../local/parent.ts';
import { findPrograms } from '../../local/programs.ts';
import { checkout } from '../../local/settings.ts';
import { comparisonTable, type Round } from './support/comparison.ts';
import type { Figure } from './support/figures.ts';
import { checkOut } from './support/other-checkout.ts';
import { type AreaRun, mergeTable } from './support/table.ts';

/** What makes a benchmark short enough to run with the others. */
interface Short {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** In the order of the table. */
const benches: Readonly<Record<string, Short>> = {
  http: {},
  claims: { env: { CLAIMS: '2000' } },
  runs: {},
  cost: {},
  leases: {},
  logs: { env: { ROUNDS: '2' } },
  shared: {},
  query: { args: ['--rounds', '100'] },
  reads: { env: { RUNS: '500000' } },
  growth: { env: { GROWTH_SIZES: '10000,100000' } },
  bytes: {},
  resumable: { args: ['--broken', '512'] },
  output: { env: { OUTPUT_MEBIBYTES: '2048' } },
  outputs: {},
  dashboard: {},
  series: {},
  report: {},
  events: {},
  webhooks: {},
  console: {},
  panning: {},
};

const documentFile = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sdp-bench-'));
let running: ReturnType<typeof spawn> | undefined;
let isEnding = false;

/** What most changes are about, compared twice within half an hour. */
const comparedUnlessNamed = ['http', 'claims', 'runs'];

async function main(args: string[]): Promise<number> {
  const { values, positionals: asked } = parseArgs({
    args,
    allowPositionals: true,
    options: { against: { type: 'string' }, rounds: { type: 'string', default: '2' } },
  });
  const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
  if (unknown.length > 0) {
    console.error(
      `There is no benchmark ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}.`,
    );
    return 2;
  }
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 20) {
    console.error('--rounds must be a whole number from 1 to 20.');
    return 2;
  }
  const names = Object.keys(benches).filter((name) => asked.length === 0 || asked.includes(name));
  if (values.against === undefined) return runAll(names);
  return compare(values.against, asked.length === 0 ? comparedUnlessNamed : names, rounds);
}

async function runAll(names: readonly string[]): Promise<number> {
  const machine = await describeMachine();
  mkdirSync(dirname(documentFile), { recursive: true });
  const failed: string[] = [];
  for (const name of names) {
    if (isEnding) break;
    console.log(`\n=== ${name} ===`);
    const run = await runBench(name, machine);
    if (run === undefined) failed.push(name);
    else writeFileSync(documentFile, mergeTable(readDocument(), Object.keys(benches), [run]));
  }
  if (failed.length > 0) console.error(`\nFailed, their rows stay as they were: ${failed.join(', ')}`);
  console.log(`\n${documentFile}`);
  return failed.length > 0 || isEnding ? 1 : 0;
}

/** Prints the figures of a commit and of this checkout, each as its own benchmarks measure it. */
async function compare(reference: string, names: readonly string[], count: number): Promise<number> {
  const other = checkOut(reference, join(folder, 'other'));
  const rounds: Round[] = [];
  const failed = new Set<string>();
  try {
    for (let round = 1; round <= count; round += 1) {
      for (const area of names) {
        if (isEnding || failed.has(area)) continue;
        const sides = [
          { name: other.name, from: other.folder },
          { name: 'this checkout', from: undefined },
        ];
        const runs = new Map<string, AreaRun | undefined>();
        for (const { name, from } of round % 2 === 1 ? sides : sides.toReversed()) {
          if (isEnding) break;
          console.log(`\n=== ${area}, round ${round} of ${count}: ${name} ===`);
          runs.set(name, await runBench(area, '', from));
        }
        if (isEnding) continue;
        const [before, now] = sides.map(({ name }) => runs.get(name));
        if (before === undefined || now === undefined) failed.add(area);
        else rounds.push({ area, before: before.figures, now: now.figures });
      }
    }
  } finally {
    other.remove();
  }
  console.log(`\n${comparisonTable(other.name, rounds)}`);
  if (failed.size > 0) console.error(`Failed, or not there in one of the two: ${[...failed].join(', ')}`);
  return failed.size > 0 || isEnding ? 1 : 0;
}

/**
 * @param from the checkout whose benchmark is run
 * @returns undefined when the benchmark failed
 */
async function runBench(
  area: string,
  machine: string,
  from: string = checkout,
): Promise<AreaRun | undefined> {
  const file = join(folder, `${area}.jsonl`);
  writeFileSync(file, '');
  const measuredAt = new Date();
  const load = loadavg().map((value) => value.toFixed(1));
  const { env, args = [] } = benches[area] ?? {};
  const child = spawn(process.execPath, [join(from, `test/bench/${area}.bench.ts`), ...args], {
    cwd: from,
    env: { ...process.env, ...env, BENCH_FIGURES: file },
    // Over the channel it notices when this process is killed outright.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  running = child;
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  running = undefined;
  const figures = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Figure);
  if (code !== 0 || figures.length === 0) return undefined;
  const tookSeconds = (Date.now() - measuredAt.getTime()) / 1_000;
  return { area, measuredAt, load: load.join(' '), tookSeconds, machine, figures };
}

function readDocument(): string {
  try {
    return readFileSync(documentFile, 'utf8');
  } catch {
    return '';
  }
}

async function describeMachine(): Promise<string> {
  const { postgres } = await findPrograms({ postgres: false, temporal: false, objectStore: false });
  const { stdout } = await promisify(execFile)(join(postgres?.folder ?? '', 'postgres'), ['--version']);
  // The server that is built here does not know its own version.
  const modules = readFileSync(new URL('../../local/tools/go.mod', import.meta.url), 'utf8');
  const temporal = /go\.temporal\.io\/server v([\d.]+)/.exec(modules)?.[1];
  const [cpu] = cpus();
  return [
    `${cpus().length} x ${cpu?.model.trim()}`,
    `${Math.round(totalmem() / 1024 ** 3)} GB`,
    `Node ${process.versions.node}`,
    `PostgreSQL ${/\d+(\.\d+)+/.exec(stdout)?.[0]}`,
    `Temporal ${temporal}`,
  ].join(', ');
}

onEnd(() => {
  isEnding = true;
  running?.kill('SIGTERM');
});
// The channel is only for noticing its end.
process.channel?.unref();
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
