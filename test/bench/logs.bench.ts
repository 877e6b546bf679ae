/**
 * What the logs of running tasks cost claims. Run: `npm run bench:logs`.
 *
 * 200 tasks are held (TASKS) and log 50 lines a second each, in one call a second as the kits do, while 8 runners
 * (RUNNERS) claim tasks, work 100 ms at each and complete them. Rounds with and without logs come in turns, so that both have their
 * share of what else the machine does. The aim: the runners do at least 95 % as many tasks a second.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../../store/connection/database.ts';
import { cpuSeconds, printCpu } from './support/cpu.ts';
import { quantile, report } from './support/figures.ts';
import { importTemplate, Runner, register, runnerTokenClient, type Task } from './support/outside-runner.ts';
import { type BenchClient, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { queueRuns } from './support/queued-runs.ts';

const tasks = Number(process.env.TASKS ?? 200);
const linesASecond = 50;
const rounds = Number(process.env.ROUNDS ?? 6);
const roundMs = 10_000;
const runners = Number(process.env.RUNNERS ?? 8);
const workMs = 100;
/** Of the tasks that log: longer than the benchmark. */
const leaseSeconds = 600;
const [logged, worked] = ['logged-node', 'worked-node'];

printMachine();
const platform = await startBenchPlatform();
const database = await Database.open({
  databaseUrl: platform.stack.environment.DATABASE_URL ?? '',
  poolSize: 2,
});
try {
  const holders = await held(await queued(logged, 4, { leaseSeconds }));
  const client = await queued(worked, 100);
  const rates: Record<'silent' | 'logging', number[]> = { silent: [], logging: [] };
  const claimMs: Record<'silent' | 'logging', number[]> = { silent: [], logging: [] };
  await work(client, []);
  for (let round = 0; round < rounds; round++) {
    for (const kind of ['silent', 'logging'] as const) {
      const over = new AbortController();
      const before = cpuSeconds(platform);
      const logs = kind === 'logging' ? holders.map((holder) => logUntil(holder, over.signal)) : [];
      const done = await work(client, claimMs[kind]);
      over.abort();
      await Promise.all(logs);
      rates[kind].push((done * 1_000) / roundMs);
      printCpu(platform, before, done);
    }
  }
  for (const kind of ['silent', 'logging'] as const) {
    printFigure(`claim, ${kind}`, claimMs[kind]);
    report({ name: `claims and completions beside ${kind} tasks`, unit: 'a second', values: rates[kind] });
  }
  const [silent, logging] = [quantile(rates.silent, 0.5), quantile(rates.logging, 0.5)];
  console.log(
    `${silent.toFixed(1)} tasks a second without logs, ${logging.toFixed(1)} beside ${tasks * linesASecond} lines a ` +
      `second: ${((logging / silent) * 100).toFixed(1)} % (aim 95)`,
  );
} finally {
  await database.close();
  await platform.stop();
}

interface Holder {
  readonly client: BenchClient;
  readonly runner: Runner;
  readonly task: Task;
  sequence: number;
}

/** A queue of runs of its own node template. */
async function queued(name: string, width: number, options: { leaseSeconds?: number } = {}) {
  const { client } = platform;
  await register(client, name, options);
  const { id: templateId } = await importTemplate(client, name, width, 1);
  const { id: projectId } = await client.expect<{ id: number }>(201, 'POST', '/projects', { Title: 'Bench' });
  await queueRuns(database, { sessions: 100, templateId, projectId, spreadSeconds: 0.2 });
  return runnerTokenClient(platform, name);
}

async function held(client: BenchClient): Promise<Holder[]> {
  return Promise.all(
    Array.from({ length: tasks }, async () => {
      const runner = new Runner(client, logged);
      const task = await runner.claim(0);
      if (task === undefined) throw new Error('There are too few tasks.');
      return { client, runner, task, sequence: 0 };
    }),
  );
}

async function logUntil(holder: Holder, signal: AbortSignal): Promise<void> {
  await delay(Math.random() * 1_000);
  while (!signal.aborted) {
    const startedAt = performance.now();
    const entries = Array.from({ length: linesASecond }, (_, line) => ({
      at: new Date().toISOString(),
      level: 'info',
      message: `sample ${line}: ${randomUUID()} is within its bounds, 12.5 ms after the one before`,
    }));
    holder.sequence += 1;
    await holder.client.expect(
      200,
      'POST',
      `/api/v2/runner/tasks/${holder.task.taskId}/logs`,
      { sequence: holder.sequence, entries },
      { 'x-platform-runner-instance': holder.runner.instanceId },
    );
    await delay(Math.max(0, 1_000 - (performance.now() - startedAt)), undefined, { signal }).catch(
      () => undefined,
    );
  }
}

/** @returns how many tasks were done in the round */
async function work(client: BenchClient, claimMs: number[]): Promise<number> {
  let done = 0;
  const until = performance.now() + roundMs;
  await Promise.all(
    Array.from({ length: runners }, async () => {
      const runner = new Runner(client, worked);
      while (performance.now() < until) {
        const startedAt = performance.now();
        const task = await runner.claim(0);
        claimMs.push(performance.now() - startedAt);
        if (task === undefined) throw new Error('There are too few tasks.');
        await delay(workMs);
        await runner.complete(task, 'no-output');
        done += 1;
      }
    }),
  );
  return done;
}
