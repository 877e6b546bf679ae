/**
 * What the logs of running tasks cost the platform, and claims. Run: `npm run bench:logs`.
 *
 * 200 tasks are held (TASKS) and log 50 lines a second each, as the kits do: one call at a time, a second after the one
 * before, with all lines that have come meanwhile. Rounds of 10 s of four kinds come in turns (ROUNDS, default 5), so that
 * all have their share of what else the machine does:
 * - idle: nothing.
 * - logs: these calls alone. What they take beyond idle is their cost: processor time of the API, of PostgreSQL, and
 *   of the load generator.
 * - silent: 20 runners (RUNNERS) claim tasks, work 1 s (WORK_MS) at each and complete them, without logs.
 * - logging: the same beside the logs. The aim: the runners do at least 95 % as many tasks a second.
 *
 * The load generator and the whole platform share the machine, so the aim means something only where the machine has
 * time to spare: with RUNNERS=8 WORK_MS=100 on two cores, or beside other work, tasks a second fall by what the logs
 * and their generator take. The cost, in processor time, means something on a busy machine too.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../../store/connection/database.ts';
import { cpuSeconds } from './support/cpu.ts';
import { quantile, report } from './support/figures.ts';
import { importTemplate, Runner, register, runnerTokenClient, type Task } from './support/outside-runner.ts';
import { type BenchClient, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { queueRuns } from './support/queued-runs.ts';

const tasks = Number(process.env.TASKS ?? 200);
const linesASecond = 50;
/** At most, as the platform takes them. */
const linesACall = 500;
const rounds = Number(process.env.ROUNDS ?? 5);
const roundMs = 10_000;
const aSecond = 1_000 / roundMs;
const runners = Number(process.env.RUNNERS ?? 20);
const workMs = Number(process.env.WORK_MS ?? 1_000);
/** The lease of the tasks that log: longer than the benchmark. */
const leaseSeconds = 3_600;
const [logged, worked] = ['logged-node', 'worked-node'];
const kinds = ['idle', 'logs', 'silent', 'logging'] as const;
type Kind = (typeof kinds)[number];

interface Round {
  /** Tasks done, calls with lines and lines, a second. */
  readonly tasks: number;
  readonly calls: number;
  readonly lines: number;
  /** Processor milliseconds a second, by part. */
  readonly cpu: Readonly<Record<string, number>>;
}

printMachine();
const platform = await startBenchPlatform();
const database = await Database.open({
  databaseUrl: platform.stack.environment.DATABASE_URL ?? '',
  poolSize: 2,
});
try {
  const holders = await held(await queued(logged, 4, { leaseSeconds }));
  const client = await queued(worked, 100);
  const found: Record<Kind, Round[]> = { idle: [], logs: [], silent: [], logging: [] };
  const claimMs: Record<Kind, number[]> = { idle: [], logs: [], silent: [], logging: [] };
  await measured('logging', holders, client, []);
  for (let round = 0; round < rounds; round++)
    for (const kind of kinds) found[kind].push(await measured(kind, holders, client, claimMs[kind]));
  printCost(found);
  for (const kind of ['silent', 'logging'] as const) printFigure(`claim, ${kind}`, claimMs[kind]);
  printRates(found);
} finally {
  await database.close();
  await platform.stop();
}

interface Holder {
  readonly client: BenchClient;
  readonly runner: Runner;
  readonly task: Task;
  /** Each as JSON. */
  readonly lines: readonly string[];
  sequence: number;
}

/** What a round has done so far. */
interface Doing {
  tasks: number;
  calls: number;
  lines: number;
  readonly untilMs: number;
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
      return { client, runner, task, lines: lines(), sequence: 0 };
    }),
  );
}

/** Made once for each task: making them is no work of the platform. */
function lines(): string[] {
  return Array.from({ length: linesACall }, (_, line) => {
    const message = `sample ${line}: ${randomUUID()} is within its bounds, 12.5 ms after the one before`;
    return JSON.stringify({ at: new Date().toISOString(), level: 'info', message });
  });
}

/** What was done within the round; work under way at its end is done before the next begins. */
async function measured(
  kind: Kind,
  holders: readonly Holder[],
  client: BenchClient,
  claimMs: number[],
): Promise<Round> {
  const before = cpuSeconds(platform);
  const round = { tasks: 0, calls: 0, lines: 0, untilMs: performance.now() + roundMs };
  const isLogging = kind === 'logs' || kind === 'logging';
  const isWorking = kind === 'silent' || kind === 'logging';
  const ended = Promise.all([
    ...(isLogging ? holders.map((holder) => logInto(round, holder)) : []),
    ...(isWorking ? Array.from({ length: runners }, () => workInto(round, client, claimMs)) : []),
  ]);
  await Promise.race([delay(roundMs), ended.then(() => delay(roundMs))]);
  const { tasks, calls, lines } = round;
  const after = cpuSeconds(platform);
  await ended;
  const cpu = Object.entries(after).map(
    ([part, value]) => [part, (value - (before[part] ?? 0)) * 1_000 * aSecond] as const,
  );
  console.log(
    `${kind.padEnd(8)} ${(tasks * aSecond).toFixed(1)} tasks, ${(calls * aSecond).toFixed(0)} calls, ` +
      `${(lines * aSecond).toFixed(0)} lines a second; processor ms a second: ` +
      cpu.map(([part, ms]) => `${part} ${ms.toFixed(0)}`).join('  '),
  );
  return {
    tasks: tasks * aSecond,
    calls: calls * aSecond,
    lines: lines * aSecond,
    cpu: Object.fromEntries(cpu),
  };
}

/** As the kits do: one call at a time, a second after the one before, with all lines that have come meanwhile. */
async function logInto(round: Doing, holder: Holder): Promise<void> {
  const startedAt = performance.now() - Math.random() * 1_000;
  let sent = 0;
  for (let now = performance.now(); now < round.untilMs; now = performance.now()) {
    const due = Math.floor(((now - startedAt) * linesASecond) / 1_000) - sent;
    const count = Math.min(due, linesACall);
    if (count > 0) {
      holder.sequence += 1;
      await holder.client.expect(
        200,
        'POST',
        `/api/v2/runner/tasks/${holder.task.taskId}/logs`,
        Buffer.from(`{"sequence":${holder.sequence},"entries":[${holder.lines.slice(0, count).join()}]}`),
        { 'x-platform-runner-instance': holder.runner.instanceId },
      );
      sent += count;
      round.calls += 1;
      round.lines += count;
    }
    await delay(Math.max(0, now + 1_000 - performance.now()));
  }
}

async function workInto(round: Doing, client: BenchClient, claimMs: number[]): Promise<void> {
  const runner = new Runner(client, worked);
  // Not all at the same moment.
  await delay(Math.random() * Math.min(workMs, 1_000));
  while (performance.now() < round.untilMs) {
    const startedAt = performance.now();
    const task = await runner.claim(0);
    claimMs.push(performance.now() - startedAt);
    if (task === undefined) throw new Error('There are too few tasks.');
    await delay(workMs);
    await runner.complete(task, 'no-output');
    round.tasks += 1;
  }
}

/** What lines take of each part's processor time, beyond what the part takes anyway. */
function printCost({ idle, logs }: Readonly<Record<Kind, readonly Round[]>>): void {
  const parts = { api: 'the API', postgres: 'PostgreSQL', bench: 'the load generator' };
  for (const [part, name] of Object.entries(parts)) {
    const anyway = median(idle.map(({ cpu }) => cpu[part] ?? 0));
    const values = logs.map(({ cpu, lines }) => (((cpu[part] ?? 0) - anyway) * 1_000) / lines);
    report({ name: `processor time of 1,000 log lines, ${name}`, unit: 'ms', values });
    console.log(`processor time of 1,000 log lines, ${name}: ${median(values).toFixed(1)} ms`);
  }
  console.log(
    `${median(logs.map(({ lines }) => lines)).toFixed(0)} of ${tasks * linesASecond} lines a second were taken, ` +
      `in ${median(logs.map(({ calls }) => calls)).toFixed(0)} calls.`,
  );
}

function printRates(found: Readonly<Record<Kind, readonly Round[]>>): void {
  const rates = (kind: Kind) => found[kind].map((round) => round.tasks);
  const [silent, logging] = [rates('silent'), rates('logging')];
  report({ name: 'tasks beside silent tasks', unit: 'a second', values: silent });
  report({
    name: `tasks beside ${tasks * linesASecond} lines a second`,
    unit: 'a second',
    values: logging,
    floor: { name: 'without logs', values: silent },
    aim: { of: 'ratio', least: 0.95 },
  });
  const [free, beside] = [median(silent), median(logging)];
  console.log(
    `${free.toFixed(1)} tasks a second without logs, ${beside.toFixed(1)} beside ${tasks * linesASecond} lines a ` +
      `second: ${((beside / free) * 100).toFixed(1)} % (aim 95)`,
  );
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
