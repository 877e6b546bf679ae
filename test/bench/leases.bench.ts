/**
 * How long work pauses when its runner is killed: seconds from `kill -9` of a process that heartbeats as it
 * should until a waiting runner holds the work. Run: `npm run bench:leases`.
 *
 * LEASE_SECONDS (default 30, the platform's own; 10 to 3,600) and KILLS (default 20) by environment. The aim is at most the
 * lease and 3 seconds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { importTemplate, Runner, register, upload } from './support/outside-runner.ts';
import { type BenchPlatform, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession } from './support/sessions.ts';

const leaseSeconds = Number(process.env.LEASE_SECONDS ?? 30);
const kills = Number(process.env.KILLS ?? 20);
const template = 'lease-node';

interface Holder {
  readonly process: ChildProcess;
  readonly runId: string;
  leaseUntilMs: number;
  killedAtMs: number;
}

printMachine();
const platform = await startBenchPlatform();
const holders: Holder[] = [];
try {
  await register(platform.client, template, { leaseSeconds });
  const definition = await importTemplate(platform.client, template, kills, 1);
  await upload(platform.client, (await createSession(platform.client, definition, 'input')).inputId);
  holders.push(...(await Promise.all(Array.from({ length: kills }, () => startHolder(platform)))));
  const byRun = new Map(holders.map((holder) => [holder.runId, holder]));
  const afterKillMs: number[] = [];
  const afterLeaseMs: number[] = [];
  const standbys = Array.from({ length: kills }, async () => {
    const runner = new Runner(platform.client, template);
    let task = await runner.claim(60);
    while (task === undefined) task = await runner.claim(60);
    const holder = byRun.get(task.runId)!;
    const now = Date.now();
    afterKillMs.push(now - holder.killedAtMs);
    afterLeaseMs.push(now - holder.leaseUntilMs);
    await runner.complete(task, 'no-output');
  });
  // At any moment between two heartbeats.
  await Promise.all(
    holders.map(async (holder) => {
      await delay(1_000 + ((Math.random() * leaseSeconds) / 3) * 1_000);
      holder.killedAtMs = Date.now();
      holder.process.kill('SIGKILL');
    }),
  );
  await Promise.all(standbys);
  printFigure(`runner killed -> another holds the work, lease of ${leaseSeconds} s`, afterKillMs, {
    floor: { name: 'the lease', values: [leaseSeconds * 1_000] },
    aim: { of: 'worst', most: (leaseSeconds + 3) * 1_000 },
  });
  printFigure('end of the lease -> another holds the work', afterLeaseMs);
  const worst = Math.max(...afterKillMs) / 1_000;
  console.log(`    worst ${worst.toFixed(1)} s; the aim is at most ${leaseSeconds + 3} s`);
} finally {
  for (const holder of holders) holder.process.kill('SIGKILL');
  await platform.stop();
}

async function startHolder(on: BenchPlatform): Promise<Holder> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./support/lease-holder.ts', import.meta.url))],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        BENCH_PORT: String(on.port),
        BENCH_TOKEN: on.token,
        BENCH_TEMPLATE: template,
        BENCH_LEASE_SECONDS: String(leaseSeconds),
      },
    },
  );
  return await new Promise<Holder>((resolve, reject) => {
    let holder: Holder | undefined;
    child.once('exit', () => reject(new Error('A holder ended before it was killed.')));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const [, runId = '', until = ''] = text.trim().split('\n').at(-1)!.split(' ');
      holder ??= { process: child, runId, leaseUntilMs: 0, killedAtMs: Number.NaN };
      holder.leaseUntilMs = Date.parse(until);
      resolve(holder);
    });
  });
}
