/** A runner that claims one task and holds it until it is killed. Prints `held <runId> <end of lease>` at renewals. */
import { setTimeout as delay } from 'node:timers/promises';
import { Runner } from './outside-runner.ts';
import { BenchClient } from './platform.ts';

const { BENCH_PORT, BENCH_TOKEN, BENCH_TEMPLATE, BENCH_LEASE_SECONDS } = process.env;
const client = new BenchClient(Number(BENCH_PORT), { authorization: `Bearer ${BENCH_TOKEN}` });
const runner = new Runner(client, BENCH_TEMPLATE ?? '');
const task = await runner.claim(60);
if (task === undefined) throw new Error('There was no task.');
let { leaseExpiresAt } = task;
for (;;) {
  console.log(`held ${task.runId} ${leaseExpiresAt}`);
  await delay((Number(BENCH_LEASE_SECONDS) * 1_000) / 3);
  ({ leaseExpiresAt } = await runner.heartbeat(task));
}
