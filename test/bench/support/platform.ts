/** The whole platform as `npm start` runs it (servers, API, worker), in a temporary folder, for benchmarks. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { makeDataFolder } from '../../../local/data-folder.ts';
import { migrate } from '../../../local/migrate.ts';
import { onEnd } from '../../../local/parent.ts';
import { platformProcesses } from '../../../local/platform.ts';
import { freePort } from '../../../local/ports.ts';
import { removeData, type Stack, startStack } from '../../../local/stack.ts';
import type { Supervised } from '../../../local/supervised.ts';
import { temporaryDataFolder } from '../../support/global-setup.ts';
import { type Finding, quantile, report } from './figures.ts';

const password = 'password-of-the-benchmark';

/** Who the platform of a benchmark belongs to. */
const benchAdministrator = { username: 'admin', password };

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** JSON over kept-alive connections, with as little work as possible: the client shares the machine. */
export class BenchClient {
  private readonly agent: Agent;
  private readonly ports: readonly number[];
  private readonly headers: Record<string, string>;
  private sent = 0;

  /** @param ports of several APIs: its calls go to one after the other */
  constructor(ports: number | readonly number[], headers: Record<string, string> = {}, connections = 200) {
    this.ports = [ports].flat();
    this.headers = headers;
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  call<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const isBytes = Buffer.isBuffer(body);
    const payload = body === undefined ? undefined : isBytes ? body : Buffer.from(JSON.stringify(body));
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          port: this.ports[this.sent++ % this.ports.length],
          host: '127.0.0.1',
          method,
          path,
          agent: this.agent,
          headers: {
            ...this.headers,
            ...(payload && {
              'content-type': isBytes ? 'text/csv' : 'application/json',
              'content-length': payload.length,
            }),
            ...headers,
          },
        },
        (response) => void answerOf<T>(response).then(resolve, reject),
      );
      sent.on('error', reject);
      sent.end(payload);
    });
  }

  /** As {@link call}; throws for any other status. */
  async expect<T>(
    status: number,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<T> {
    const answer = await this.call<T>(method, path, body, headers);
    if (answer.status === status) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  close(): void {
    this.agent.destroy();
  }
}

async function answerOf<T>(response: IncomingMessage): Promise<Answer<T>> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const isJson = text !== '' && response.headers['content-type']?.includes('json') === true;
  return { status: response.statusCode ?? 0, body: (isJson ? JSON.parse(text) : undefined) as T };
}

export interface BenchPlatform {
  readonly port: number;
  /** The ports of all APIs. */
  readonly ports: readonly number[];
  readonly stack: Stack;
  /** Signed in as the Administrator. */
  readonly client: BenchClient;
  /** The same person's access token. */
  readonly token: string;
  /** Process ids by name, e.g. `api`: of the first and of all. */
  pid(name: string): number;
  pids(name: string): readonly number[];
  stop(): Promise<void>;
}

/**
 * @param pinned so many APIs and workers, the first of each on the first processor and so on, while the
 * servers are free; without it one of each, all free
 */
export async function startBenchPlatform(pinned?: number): Promise<BenchPlatform> {
  const dataDir = temporaryDataFolder();
  const stack = await startStack({ dataDir, log: () => {} });
  const started: { processes: Supervised[]; client?: BenchClient } = { processes: [] };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopAll(dataDir, stack, started.processes);
    started.client?.close();
    return stopped;
  };
  // A benchmark that is stopped, or fails outside of its own work, leaves nothing running.
  onEnd(() => void stop().finally(() => process.exit(1)));
  process.once('uncaughtException', (error) => {
    console.error(error);
    void stop().finally(() => process.exit(1));
  });
  // A benchmark does not stay alive to wait for the command that started it.
  process.channel?.unref();
  try {
    return await startOn(dataDir, stack, pinned, started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function stopAll(dataDir: string, stack: Stack, processes: readonly Supervised[]): Promise<void> {
  await Promise.all(processes.map((child) => child.stop()));
  await stack.stop();
  await removeData(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}

async function startOn(
  dataDir: string,
  stack: Stack,
  pinned: number | undefined,
  started: { processes: Supervised[]; client?: BenchClient },
  stop: () => Promise<void>,
): Promise<BenchPlatform> {
  const environment = {
    ...(process.env as Record<string, string>),
    ...stack.environment,
    // For downloads that ask for it.
    S3_DOWNLOAD_ENDPOINT: stack.environment.S3_ENDPOINT ?? '',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'info',
    NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS ?? '',
  };
  await migrate({ ...environment, DATA_DIR: dataDir }, join(dataDir, 'migrate.log'), password);
  const sets: ProcessSet[] = [];
  for (let copy = 0; copy < (pinned ?? 1); copy++)
    sets.push(await processSet(environment, join(dataDir, `copy-${copy}`)));
  started.processes = sets.flatMap(({ processes }) => processes);
  await Promise.all(started.processes.map((child) => child.start()));
  if (pinned !== undefined) for (const [processor, set] of sets.entries()) pin(set, processor);
  const ports = sets.map(({ port }) => port);
  const token = await signIn(ports[0]!);
  const client = new BenchClient(ports, { authorization: `Bearer ${token}` });
  started.client = client;
  const pids = (name: string) => sets.map(({ processes }) => pidOf(processes, name));
  return { port: ports[0]!, ports, stack, client, token, pid: (name) => pids(name)[0]!, pids, stop };
}

/** An API and a worker. */
interface ProcessSet {
  readonly port: number;
  readonly processes: readonly Supervised[];
}

async function processSet(common: Record<string, string>, dataDir: string): Promise<ProcessSet> {
  const port = await freePort();
  makeDataFolder(dataDir);
  const tempDir = join(dataDir, 'temp');
  mkdirSync(tempDir);
  const environment = {
    ...common,
    WORKFLOW_CACHE_DIR: join(dataDir, 'workflow-cache'),
    PORT: String(port),
    DATA_DIR: dataDir,
    TEMP_DIR: tempDir,
  };
  const address = `http://127.0.0.1:${port}`;
  return { port, processes: platformProcesses({ environment, dataDir, address, log: () => {} }) };
}

function pidOf(processes: readonly Supervised[], name: string): number {
  const pid = processes[['api', 'worker'].indexOf(name)]?.pid;
  if (pid === undefined) throw new Error(`${name} does not run.`);
  return pid;
}

function pin({ processes }: ProcessSet, processor: number): void {
  for (const { pid } of processes)
    execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(processor), String(pid)]);
}

async function signIn(port: number): Promise<string> {
  const anonymous = new BenchClient(port);
  const { accessToken } = await anonymous.expect<{ accessToken: string }>(
    200,
    'POST',
    '/api/authorization/token',
    { ...benchAdministrator, rememberMe: false },
  );
  anonymous.close();
  return accessToken;
}

/** One line of a result, in milliseconds, and a row of the table of all benchmarks. */
export function printFigure(
  what: string,
  valuesMs: readonly number[],
  more: Pick<Finding, 'floor' | 'aim'> = {},
): void {
  report({ name: what, unit: 'ms', values: valuesMs, ...more });
  const shown = (share: number) => quantile(valuesMs, share).toFixed(1);
  console.log(
    `${what.padEnd(58)} p50 ${shown(0.5)} ms   p95 ${shown(0.95)} ms   p99 ${shown(0.99)} ms   ` +
      `max ${shown(1)} ms   n ${valuesMs.length}`,
  );
}

export function printMachine(): void {
  const [cpu] = cpus();
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(
    `${cpus().length} x ${cpu?.model.trim()}, Node ${process.version}, load average ${load.join(' ')}`,
  );
}
