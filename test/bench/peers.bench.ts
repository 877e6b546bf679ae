/**
 * The same work on this platform and on other engines whose workers are outside programs. Run: `npm run bench:peers`, or
 * with the names of some: `npm run bench:peers -- platform temporal`. docs/peers.md says how the engines of Java are
 * fetched; one whose jar is not named (`CONDUCTOR_JAR`, `CAMUNDA_JAR`) is left out.
 *
 * - result of 1,000 characters sent -> next task held, on a chain of 60 tasks with 100 ms of work, by two workers that
 *   take turns; on this platform that is two calls: the output, then the completion
 * - claim + complete a second without outputs, 1,000 queued tasks, 1, 8 and 32 workers
 * - tasks a second through 20 graphs of 5 chains of 10 tasks, 8 workers, each task with an output of 1,000 characters
 *
 * Processor time is that of the engine with its database and store. The workers are this process, which does the same
 * for each engine over its own protocol. The engines run one after another.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { onEnd } from '../../local/parent.ts';
import { startCamunda } from './peers/camunda.ts';
import { startConductor } from './peers/conductor.ts';
import type { Peer, PeerTask } from './peers/peer.ts';
import { startPlatform } from './peers/platform.ts';
import { startTemporal } from './peers/temporal.ts';
import { secondsWithChildren } from './support/cpu.ts';
import { printFigure, printMachine } from './support/platform.ts';

const chainLength = 60;
const workMs = 100;
const output = 'x'.repeat(1_000);
const { CONDUCTOR_JAR: conductor, CAMUNDA_JAR: camunda } = process.env;

const engines: Readonly<Record<string, (() => Promise<Peer>) | undefined>> = {
  platform: startPlatform,
  temporal: startTemporal,
  conductor: conductor === undefined ? undefined : () => startConductor(conductor),
  camunda: camunda === undefined ? undefined : () => startCamunda(camunda),
};

async function latency(peer: Peer): Promise<void> {
  const begin = await peer.graph(1, chainLength);
  const took: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    let waiting = peer.claim('w0', 30);
    await delay(200);
    await begin();
    for (let at = 0, since = 0; at < chainLength; at += 1) {
      const task = await waiting;
      if (task === undefined) throw new Error('No task within 30 seconds.');
      // The first round warms up.
      if (round > 0 && at > 0) took.push(performance.now() - since);
      if (at + 1 < chainLength) waiting = peer.claim(`w${(at + 1) % 2}`, 30);
      await delay(workMs);
      since = performance.now();
      await peer.complete(`w${at % 2}`, task, output);
    }
  }
  printFigure(`${peer.name}: result of 1 KB sent -> next task held`, took);
}

/**
 * Works on `total` tasks with some workers at once.
 * @returns when the last one was completed: the other workers' claims still wait then
 */
async function workOff(peer: Peer, total: number, workers: number, result: string | null): Promise<number> {
  let claimed = 0;
  let endedAt = 0;
  await Promise.all(
    Array.from({ length: workers }, async (_, index) => {
      const worker = `w${index}`;
      while (claimed < total) {
        const task: PeerTask | undefined = await peer.claim(worker, 1);
        if (task === undefined) continue;
        claimed += 1;
        await peer.complete(worker, task, result);
        endedAt = performance.now();
      }
    }),
  );
  return endedAt;
}

async function measured(peer: Peer, what: string, total: number, work: () => Promise<number>): Promise<void> {
  const before = secondsWithChildren(peer.pids());
  const startedAt = performance.now();
  const seconds = ((await work()) - startedAt) / 1_000;
  const cpuMs = ((secondsWithChildren(peer.pids()) - before) * 1_000) / total;
  const rate = `${(total / seconds).toFixed(0)} a second`;
  console.log(
    `${peer.name}: ${what}`.padEnd(66),
    rate.padEnd(16),
    `${cpuMs.toFixed(1)} ms of processor each`,
  );
}

async function rates(peer: Peer): Promise<void> {
  const begin = await peer.graph(100, 1);
  // The first round warms up.
  for (const [round, workers] of [32, 1, 8, 32].entries()) {
    for (let at = 0; at < 10; at += 1) await begin();
    await delay(3_000);
    const work = () => workOff(peer, 1_000, workers, null);
    if (round === 0) await work();
    else await measured(peer, `claim + complete, ${workers} workers`, 1_000, work);
  }
}

async function graphs(peer: Peer): Promise<void> {
  const begin = await peer.graph(5, 10);
  for (const count of [4, 20]) {
    const work = async () => {
      await Promise.all(Array.from({ length: count }, begin));
      return await workOff(peer, count * 50, 8, output);
    };
    if (count === 4) await work();
    else await measured(peer, 'tasks through graphs, 8 workers, output of 1 KB', count * 50, work);
  }
}

printMachine();
// It does not stay alive to wait for the command that started it.
process.channel?.unref();
const asked = process.argv.slice(2);
for (const [name, start] of Object.entries(engines)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  if (start === undefined) {
    console.log(`${name}: left out, its jar is not named.`);
    continue;
  }
  const peer = await start();
  onEnd(() => void peer.stop().finally(() => process.exit(1)));
  console.log(`${peer.name}: ${peer.settings}`);
  try {
    await latency(peer);
    await rates(peer);
    await graphs(peer);
  } finally {
    await peer.stop();
  }
}
