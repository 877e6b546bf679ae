/**
 * What a node run and the lists around it cost as the work of the past grows. Run: `npm run bench:growth`.
 *
 * The same steps on platforms with 10,000, 100,000 and 1,000,000 sessions and as many ended runs, attempts, claims and
 * outputs (GROWTH_SIZES=10000,1000000:10000000; the second number counts the runs), alone and beside 1,000 runners that
 * wait for other tasks. The aim: the p95 of each step within 1.5 times that of the smallest.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuSeconds } from './support/cpu.ts';
import { seedEndedRuns } from './support/ended-runs.ts';
import { quantile, report } from './support/figures.ts';
import {
  importTemplate,
  Runner,
  register,
  runnerTokenClient,
  upload,
  waitingRunners,
} from './support/outside-runner.ts';
import { type BenchPlatform, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { openForSeeding, seedSessionsInto } from './support/seeded-sessions.ts';
import { createSession } from './support/sessions.ts';

const sizes = (process.env.GROWTH_SIZES ?? '10000,100000,1000000').split(',').map((size) => {
  const [sessions, runs = sessions] = size.split(':').map(Number);
  return { sessions: sessions!, runs: runs! };
});
const rounds = 300;
/** PostgreSQL plans a statement anew for the first uses on each connection. */
const warmUpRounds = 60;
const restSeconds = 20;
const waitingCount = 1_000;
/** Until all wait. */
const gatheringMs = 5_000;
const nodeTemplate = 'grown-node';

type Steps = Map<string, number[]>;

/** Milliseconds of each step, one node run after the other. */
async function measured(platform: BenchPlatform): Promise<Steps> {
  const { client } = platform;
  await register(client, nodeTemplate);
  const template = await importTemplate(client, nodeTemplate, 1, 1);
  const runner = new Runner(await runnerTokenClient(platform, nodeTemplate), nodeTemplate);
  const steps: Steps = new Map();
  const timed = async <T>(name: string, step: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await step();
    const ms = performance.now() - startedAt;
    if (steps.get(name)?.push(ms) === undefined) steps.set(name, [ms]);
    return result;
  };
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    if (round === warmUpRounds) steps.clear();
    const session = await createSession(client, template, 'input');
    await timed('upload', () => upload(client, session.inputId));
    const task = await timed('claim', () => runner.claim(5));
    if (task === undefined) throw new Error('There is no task.');
    await timed('output', () => runner.writeOutput(task));
    await timed('complete', () => runner.complete(task, 'completed'));
    await timed('list of sessions', () => client.expect(200, 'GET', '/api/v2/session?pageSize=25'));
    await timed('list of runs', () => client.expect(200, 'GET', '/api/v2/admin/node-runs?pageSize=25'));
  }
  return steps;
}

/** Milliseconds of processor time a second of all parts while nobody calls: healers and loops alone. */
async function atRest(platform: BenchPlatform): Promise<number> {
  await delay(5_000);
  const sum = () => {
    const { bench: _, ...parts } = cpuSeconds(platform);
    return Object.values(parts).reduce((total, seconds) => total + seconds, 0);
  };
  const before = sum();
  await delay(restSeconds * 1_000);
  return ((sum() - before) * 1_000) / restSeconds;
}

function printSteps(steps: Steps, what: string, smallest: Steps): void {
  for (const [name, ms] of steps) {
    printFigure(`${name}, ${what}`, ms);
    const times = quantile(ms, 0.95) / quantile(smallest.get(name)!, 0.95);
    console.log(`    p95 ${times.toFixed(2)} times that of the smallest`);
  }
}

printMachine();
let smallest: Steps | undefined;
for (const { sessions, runs } of sizes) {
  const platform = await startBenchPlatform();
  try {
    const database = await openForSeeding(platform);
    await seedSessionsInto(database, sessions);
    await seedEndedRuns(database, runs);
    await database.close();
    const [sessionCount, runCount] = [sessions, runs].map((count) => count.toLocaleString('en'));
    const label =
      sessions === runs
        ? `${sessionCount} sessions and ended runs`
        : `${sessionCount} sessions, ${runCount} ended runs`;
    const rest = await atRest(platform);
    const steps = await measured(platform);
    smallest ??= steps;
    printSteps(steps, label, smallest);
    const waiting = await waitingRunners(platform, waitingCount);
    await delay(gatheringMs);
    printSteps(await measured(platform), `${label} and ${waitingCount} waiting runners`, smallest);
    waiting.stop();
    report({ name: `at rest, ${label}`, unit: 'ms', values: [rest] });
    console.log(`${`at rest, ${label}`.padEnd(40)} ${rest.toFixed(1)} ms of processor time a second`);
  } finally {
    await platform.stop();
  }
}
