/**
 * How fast work reaches outside runners, with runner tokens. Run: `npm run bench:runs`.
 *
 * - upload sent -> child run held by a waiting runner, and complete -> next run held, on a chain of 60 nodes with 100 ms work
 * - claim + complete a second at 1, 8 and 32 runners over 1,000 queued runs
 * - node runs a second through graphs with 8 runners over 20 sessions
 *
 * `PROCESSES=1,2,4 npm run bench:runs` does it with one, two and four APIs and workers, each pinned to a processor.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuSeconds, printCpu } from './support/cpu.ts';
import { report } from './support/figures.ts';
import { importTemplate, Runner, register, runnerTokenClient, upload } from './support/outside-runner.ts';
import {
  type BenchClient,
  type BenchPlatform,
  printFigure,
  printMachine,
  startBenchPlatform,
} from './support/platform.ts';
import { createSession, type Template } from './support/sessions.ts';

const chainLength = 60;
const workMs = 100;

async function latency(platform: BenchPlatform): Promise<void> {
  const { client } = platform;
  await register(client, 'chain-node');
  const runnerClient = await runnerTokenClient(platform, 'chain-node');
  const template = await importTemplate(client, 'chain-node', 1, chainLength);
  // Two, so that one always waits while the other works.
  const runners = [new Runner(runnerClient, 'chain-node'), new Runner(runnerClient, 'chain-node')] as const;
  const toFirst: number[] = [];
  const toNext: number[] = [];
  for (let round = 0; round < 4; round++) {
    const session = await createSession(client, template, 'input');
    let waiting = runners[0].claim(30);
    await delay(200);
    let since = performance.now();
    await upload(client, session.inputId);
    for (let node = 0; node < chainLength; node++) {
      const task = await waiting;
      // The first round warms up.
      if (round > 0) (node === 0 ? toFirst : toNext).push(performance.now() - since);
      if (!task) throw new Error('No task within 30 seconds.');
      const holder = runners[node % 2 === 0 ? 0 : 1];
      if (node + 1 < chainLength) waiting = runners[node % 2 === 0 ? 1 : 0].claim(30);
      await delay(workMs);
      await holder.writeOutput(task);
      since = performance.now();
      await holder.complete(task, 'completed');
    }
  }
  for (let shot = 0; shot < 40; shot++) {
    const single = shot === 0 ? await importTemplate(client, 'chain-node', 1, 1) : singleTemplate!;
    singleTemplate = single;
    const session = await createSession(client, single, 'input');
    const waiting = runners[0].claim(30);
    await delay(60);
    const since = performance.now();
    await upload(client, session.inputId);
    const task = (await waiting)!;
    toFirst.push(performance.now() - since);
    await runners[0].complete(task, 'no-output');
  }
  printFigure('upload sent -> child run held by a waiting runner', toFirst);
  printFigure('complete sent -> next run held', toNext);
}
let singleTemplate: Template | undefined;

async function claimRate(platform: BenchPlatform): Promise<void> {
  const { client } = platform;
  const wide = 100;
  await register(client, 'wide-node');
  const runnerClient = await runnerTokenClient(platform, 'wide-node');
  const template = await importTemplate(client, 'wide-node', wide, 1);
  // The first round warms up: PostgreSQL plans a statement anew for the first five uses on each connection.
  for (const [round, runners] of [32, 1, 8, 32].entries()) {
    for (let session = 0; session < 10; session++) {
      await upload(client, (await createSession(client, template, 'input')).inputId);
    }
    await delay(3_000);
    const before = cpuSeconds(platform);
    const started = performance.now();
    let done = 0;
    await Promise.all(
      Array.from({ length: runners }, async () => {
        const own = new Runner(runnerClient, 'wide-node');
        for (let task = await own.claim(0); task; task = await own.claim(0)) {
          await own.complete(task, 'no-output');
          done += 1;
        }
      }),
    );
    const seconds = (performance.now() - started) / 1_000;
    if (round === 0) continue;
    report({ name: `claim + complete, ${runners} runners`, unit: 'a second', values: [done / seconds] });
    console.log(
      `claim + complete, ${String(runners).padStart(2)} runners, ${done} runs`.padEnd(58),
      `${(done / seconds).toFixed(0)} a second`,
    );
    printCpu(platform, before, done);
    await delay(3_000);
  }
}

async function throughput(platform: BenchPlatform): Promise<void> {
  const { client } = platform;
  await register(client, 'graph-node');
  const runnerClient = await runnerTokenClient(platform, 'graph-node');
  const template = await importTemplate(client, 'graph-node', 5, 10);
  // The first round warms up.
  await throughGraphs(platform, template, runnerClient, 4);
  const { total, seconds, before } = await throughGraphs(platform, template, runnerClient, 20);
  report({
    name: 'node runs through graphs, 8 runners, 20 sessions',
    unit: 'a second',
    values: [total / seconds],
  });
  console.log(
    'node runs through graphs, 8 runners, 20 sessions'.padEnd(58),
    `${(total / seconds).toFixed(0)} a second`,
  );
  printCpu(platform, before, total);
}

export async function throughGraphs(
  platform: BenchPlatform,
  template: Template,
  runnerClient: BenchClient,
  sessionCount: number,
) {
  const { client } = platform;
  const sessions = await Promise.all(
    Array.from({ length: sessionCount }, () => createSession(client, template, 'input')),
  );
  const total = sessionCount * 50;
  const completeMs: number[] = [];
  const before = cpuSeconds(platform);
  const started = performance.now();
  await Promise.all(sessions.map((session) => upload(client, session.inputId)));
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const own = new Runner(runnerClient, 'graph-node');
      while (completeMs.length < total) {
        const task = await own.claim(1);
        if (!task) continue;
        await own.writeOutput(task);
        const sentAt = performance.now();
        await own.complete(task, 'completed');
        completeMs.push(performance.now() - sentAt);
      }
    }),
  );
  return { total, seconds: (performance.now() - started) / 1_000, before, completeMs };
}

const benches = { latency, claimRate, throughput };

async function run(pinned?: number): Promise<void> {
  const platform = await startBenchPlatform(pinned);
  try {
    for (const [name, bench] of Object.entries(benches)) {
      if (process.argv.length < 3 || process.argv.includes(name)) await bench(platform);
    }
  } finally {
    await platform.stop();
  }
}

if (import.meta.main) {
  printMachine();
  const counts = process.env.PROCESSES?.split(',').map(Number);
  if (counts === undefined) await run();
  for (const count of counts ?? []) {
    console.log(`${count} of each, pinned`);
    await run(count);
  }
}
