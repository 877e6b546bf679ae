/**
 * What a node run costs while an hour of them goes through the same tables. Run: `npm run bench:churn` (CHURN_MINUTES,
 * default 60).
 *
 * Each node run updates 14 rows. Where vacuum does not keep up, the tables and indexes of the queue grow, and each
 * statement reads more. So 8 runners work without a pause, and each twelfth of the time is measured alone. The aim: no
 * part costs more than 1.1 times the first.
 */
import pg from 'pg';
import { throughGraphs } from './runs.bench.ts';
import { cpuSeconds } from './support/cpu.ts';
import { quantile, report } from './support/figures.ts';
import { importTemplate, register, runnerTokenClient } from './support/outside-runner.ts';
import { type BenchPlatform, printMachine, startBenchPlatform } from './support/platform.ts';
import type { Template } from './support/sessions.ts';

const minutes = Number(process.env.CHURN_MINUTES ?? 60);
const partCount = 12;
const sessionsAtOnce = 20;
const aimedTimes = 1.1;

interface Part {
  readonly perSecond: number;
  /** Milliseconds of a node run: of the whole platform, and by process. */
  readonly costMs: number;
  readonly byProcess: string;
  readonly completeMs: readonly number[];
}

/** Node runs for a twelfth of the time, one group of sessions after the other. */
async function measure(
  platform: BenchPlatform,
  work: (sessions: number) => ReturnType<typeof throughGraphs>,
): Promise<Part> {
  const before = cpuSeconds(platform);
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1_000;
  const completeMs: number[] = [];
  while (seconds() < (minutes * 60) / partCount) completeMs.push(...(await work(sessionsAtOnce)).completeMs);
  const count = completeMs.length;
  const each = Object.entries(cpuSeconds(platform))
    .filter(([process]) => process !== 'bench')
    .map(([process, after]) => [process, ((after - before[process]!) * 1_000) / count] as const);
  return {
    perSecond: count / seconds(),
    costMs: each.reduce((sum, [, ms]) => sum + ms, 0),
    byProcess: each.map(([process, ms]) => `${process} ${ms.toFixed(2)}`).join('  '),
    completeMs,
  };
}

/** The tables with most updates, with their indexes. */
async function printTables(database: pg.Client): Promise<void> {
  const { rows } = await database.query<{ name: string; bytes: string; rows: number; dead: number }>(`
    select relname as name, pg_size_pretty(pg_total_relation_size(relid)) as bytes, n_live_tup::int as rows,
           n_dead_tup::int as dead
      from pg_stat_user_tables order by n_tup_upd desc limit 8`);
  for (const { name, bytes, rows: live, dead } of rows)
    console.log(`    ${name.padEnd(26)} ${bytes.padStart(8)}  ${live} rows, ${dead} dead`);
}

async function churn(platform: BenchPlatform, database: pg.Client): Promise<void> {
  await register(platform.client, 'graph-node');
  const runnerClient = await runnerTokenClient(platform, 'graph-node');
  const template: Template = await importTemplate(platform.client, 'graph-node', 5, 10);
  const work = (sessions: number) => throughGraphs(platform, template, runnerClient, sessions);
  // The first round warms up.
  await work(4);
  let first: Part | undefined;
  for (let number = 1; number <= partCount; number++) {
    const part = await measure(platform, work);
    first ??= part;
    const p95 = quantile(part.completeMs, 0.95).toFixed(1);
    const times = (part.costMs / first.costMs).toFixed(2);
    const rate = `${part.perSecond.toFixed(0)} a second, complete p95 ${p95} ms`;
    console.log(
      `part ${number}: ${rate}, ${part.costMs.toFixed(2)} ms of processor time each, ${times} times`,
    );
    console.log(`    ${part.byProcess}`);
    await printTables(database);
    report({
      name: `processor time of a node run, part ${number} of ${minutes} minutes`,
      unit: 'ms',
      values: [part.costMs],
      floor: { name: 'the first part', values: [first.costMs] },
      aim: { of: 'ratio', most: aimedTimes },
    });
  }
}

printMachine();
const platform = await startBenchPlatform();
const database = new pg.Client(platform.stack.environment.DATABASE_URL);
try {
  await database.connect();
  await churn(platform, database);
} finally {
  await Promise.allSettled([database.end()]);
  await platform.stop();
}
