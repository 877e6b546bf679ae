/**
 * How late the last of 500 people receives an event of the session that they follow.
 * Run: `npm run bench:events [-- --listeners 500 --rounds 60]`.
 *
 * From the sending of the statement whose commit is the change (a freeze, an upload) until the last listener has the
 * event. The floor is a bare server that writes an announcement of PostgreSQL to as many connections. The aim is a p95
 * under 250 ms.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Database } from '../../store/connection/database.ts';
import { cpuSeconds, printCpu } from './support/cpu.ts';
import { report } from './support/figures.ts';
import { memoryMebibytes } from './support/memory.ts';
import { importTemplate, register, upload } from './support/outside-runner.ts';
import { printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession } from './support/sessions.ts';

const { values } = parseArgs({
  options: { listeners: { type: 'string', default: '500' }, rounds: { type: 'string', default: '60' } },
});
const listeners = Number(values.listeners);
const rounds = Number(values.rounds);
const aim = { of: 'p95', most: 250 } as const;

/** Connections that wait for the same word. */
class Crowd {
  readonly #agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  readonly #responses: IncomingMessage[] = [];
  #word = '';
  #round = 0;
  #heardAt: number[] = [];
  #all: (() => void) | undefined;

  async gather(port: number, path: string, headers: Record<string, string>): Promise<void> {
    // Some at a time, as people come; all at once would fill the server's queue of connections.
    for (let at = 0; at < listeners; at += 50) {
      const count = Math.min(50, listeners - at);
      await Promise.all(Array.from({ length: count }, () => this.#join(port, path, headers)));
    }
  }

  /** Resolves when all have received the event; milliseconds since `work` began, of the median and the last. */
  async hear(word: string, work: () => Promise<unknown>): Promise<{ middleMs: number; lastMs: number }> {
    this.#word = word;
    this.#round += 1;
    this.#heardAt = [];
    const all = new Promise<void>((resolve) => {
      this.#all = resolve;
    });
    const startedAt = performance.now();
    await Promise.all([work(), Promise.race([all, tooLate()])]);
    return {
      middleMs: this.#heardAt[Math.floor(listeners / 2)]! - startedAt,
      lastMs: this.#heardAt.at(-1)! - startedAt,
    };
  }

  close(): void {
    for (const response of this.#responses) response.destroy();
    this.#agent.destroy();
  }

  async #join(port: number, path: string, headers: Record<string, string>): Promise<void> {
    const sent = request({ port, host: '127.0.0.1', path, headers, agent: this.#agent });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`A listener was answered ${response.statusCode}.`);
    this.#responses.push(response);
    let heard = 0;
    response.on('error', () => undefined);
    await once(response, 'data');
    response.on('data', (bytes: Buffer) => {
      if (heard === this.#round || !bytes.includes(this.#word)) return;
      heard = this.#round;
      this.#heardAt.push(performance.now());
      if (this.#heardAt.length === listeners) this.#all?.();
    });
  }
}

async function tooLate(): Promise<never> {
  await delay(30_000, undefined, { ref: false });
  throw new Error('Not all listeners heard of it within 30 seconds.');
}

async function rehearse(crowd: Crowd, happen: (round: number) => [string, () => Promise<unknown>]) {
  const lastMs: number[] = [];
  const middleMs: number[] = [];
  for (let round = -3; round < rounds; round++) {
    const heard = await crowd.hear(...happen(round));
    // Not in the rhythm of anything that the platform does by itself.
    await delay(100 + Math.random() * 200);
    if (round < 0) continue;
    lastMs.push(heard.lastMs);
    middleMs.push(heard.middleMs);
  }
  return { lastMs, middleMs };
}

printMachine();
const platform = await startBenchPlatform();
const databaseUrl = platform.stack.environment.DATABASE_URL ?? '';
const database = await Database.open({ databaseUrl, poolSize: 2 });
const bare = spawn(process.execPath, [fileURLToPath(new URL('./support/bare-events.ts', import.meta.url))], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { DATABASE_URL: databaseUrl },
});
process.once('exit', () => bare.kill());
try {
  const [barePort] = (await once(bare.stdout.setEncoding('utf8'), 'data')) as [string];
  const bareCrowd = new Crowd();
  await bareCrowd.gather(Number(barePort), '/', {});
  const { lastMs: floorMs } = await rehearse(bareCrowd, (round) => [
    `round ${round} `,
    () => database.query(`select pg_notify('bench_floor', $1)`, [`"round ${round} "`]),
  ]);
  bareCrowd.close();
  const floor = { name: 'a bare server', values: floorMs };
  printFigure(`announcement -> last of ${listeners}, bare server`, floorMs);

  const { client } = platform;
  await register(client, 'followed-node');
  const session = await createSession(client, await importTemplate(client, 'followed-node', 1, 3), 'input');
  const api = platform.pid('api');
  const crowd = new Crowd();
  const joiningAt = performance.now();
  await crowd.gather(platform.port, `/api/v2/sessions/${session.id}/events`, {
    authorization: `Bearer ${platform.token}`,
  });
  const joined = `${listeners} listeners joined, 50 at a time`;
  console.log(joined.padEnd(58), `${(performance.now() - joiningAt).toFixed(0)} ms`);
  await delay(3_000);
  const restSeconds = 10;
  const atRest = cpuSeconds(platform);
  await delay(restSeconds * 1_000);
  const restShare = ((cpuSeconds(platform).api! - atRest.api!) / restSeconds) * 100;
  console.log(`    nothing happens: API uses ${restShare.toFixed(1)} % of a processor`);
  report({
    name: `processor of the API while ${listeners} listen to nothing`,
    unit: '%',
    values: [restShare],
  });

  const before = cpuSeconds(platform);
  const freeze =
    'update session set frozen_at = case when $2::boolean then clock_timestamp() end where id = $1';
  const frozen = await rehearse(crowd, (round) => {
    const isFrozen = round % 2 !== 0;
    return [`"frozen":${isFrozen}`, () => database.query(freeze, [session.id, isFrozen])];
  });
  printFigure(`commit -> last of ${listeners}`, frozen.lastMs, { aim, floor });
  printFigure(`commit -> half of ${listeners}`, frozen.middleMs);
  printCpu(platform, before, rounds + 3);
  await database.query('update session set frozen_at = null where id = $1', [session.id]);
  await delay(500);
  const uploads = await rehearse(crowd, () => ['event: output', () => upload(client, session.inputId)]);
  printFigure(`upload sent -> last of ${listeners} knows the output`, uploads.lastMs, { aim, floor });
  const mebibytes = memoryMebibytes(api, 'VmRSS');
  console.log(`    API memory ${mebibytes} MiB`);
  report({ name: `memory of the API with ${listeners} listeners`, unit: 'MiB', values: [mebibytes] });
  crowd.close();
} finally {
  bare.kill('SIGTERM');
  await database.close();
  await platform.stop();
}
