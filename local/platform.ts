import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './settings.ts';
import { type ChildPlan, Supervised } from './supervised.ts';

/** What the platform's own processes are started with. */
export interface PlatformOptions {
  environment: Record<string, string>;
  dataDir: string;
  /** The address of the API on this machine. */
  address: string;
  log: (line: string) => void;
}

const HEALTH_MILLISECONDS = 2_500;

/** The API and a worker for everything, each a process under supervision, not yet started. */
export function platformProcesses(options: PlatformOptions): Supervised[] {
  return [apiProcess(options), workerProcess(options, 'all')];
}

export function apiProcess(options: PlatformOptions): Supervised {
  return child(options, 'API', 'api', ['api/main.ts'], {
    isReady: () => isHealthy(options.address),
    niceness: 0,
    stopSeconds: STOP_SECONDS,
    youngMebibytes: API_YOUNG_MEBIBYTES,
  });
}

/** @param queue what it works on (`--queue`): of several machines, one may run the workflows and another the built-in nodes */
export function workerProcess(options: PlatformOptions, queue: 'workflows' | 'builtin' | 'all'): Supervised {
  const [name, file] =
    queue === 'builtin' ? ['Worker of the built-in nodes', 'worker-builtin'] : ['Worker', 'worker'];
  return worker(options, name, file, ['worker/main.ts', '--queue', queue]);
}

/**
 * The host of deployed runners, not yet started; undefined without `SDK_RUNNERS_DIR`. Stop it while the API is running.
 */
export function runnerHostProcess(options: PlatformOptions): Supervised | undefined {
  const { SDK_RUNNERS_DIR: folder = '', SDK_RUNNERS_GRACE_SECONDS: grace } = options.environment;
  if (folder === '') return undefined;
  // It ends after its runners: their grace period plus a margin.
  const stopSeconds = Math.max(STOP_SECONDS, (Number(grace) || 0) + 20);
  const script: [string] = ['worker/runner-host/main.ts'];
  const environment = hostEnvironment(options.environment);
  return worker({ ...options, environment }, 'Host of deployed runners', 'runner-host', script, stopSeconds);
}

/** Variables of the host of deployed runners, of its telemetry, of Node and of the system; no secret of another part. */
const HOST_VARIABLES =
  /^(SDK_RUNNERS_\w+|RUNNER_HOST_KEY(_FILE)?|PORT|LOG_LEVEL|METRICS_\w+|OTEL_\w+|PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|NODE_\w+)$/;

export function hostEnvironment(environment: Record<string, string>): Record<string, string> {
  const isToken = (name: string) => name.startsWith('METRICS_TOKEN');
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => HOST_VARIABLES.test(name) && !isToken(name)),
  );
}

/** A worker serves no requests: a file shows that it accepts tasks and has registered the built-in templates. */
function worker(
  options: PlatformOptions,
  name: string,
  file: string,
  script: [string, ...string[]],
  stopSeconds = STOP_SECONDS,
): Supervised {
  const readyFile = join(options.dataDir, 'run', `${file}.ready`);
  const environment = { ...options.environment, READY_FILE: readyFile };
  const isReady = () => Promise.resolve(existsSync(readyFile));
  const youngMebibytes = WORKER_YOUNG_MEBIBYTES;
  const own = { isReady, readyFile, niceness: WORKER_NICENESS, stopSeconds, youngMebibytes };
  return child({ ...options, environment }, name, file, script, own);
}

// Otherwise a signal from any process of the same user would open a debugger with access to all memory of the process.
const NODE_FLAGS = ['--disable-sigusr1'];

/**
 * Transferred bytes leave garbage quickly: a small young generation bounds memory. Requests leave it too, and with 4 MiB
 * the API spends a sixth of its processor time on collecting it.
 */
const API_YOUNG_MEBIBYTES = 8;
const WORKER_YOUNG_MEBIBYTES = 4;

/**
 * The memory of a password hash (19 MiB) is returned to the system at its end. Without a fixed threshold glibc raises
 * its own at the first free, and retains as much for each thread that ever hashed: 50 MiB of the API. Other C libraries
 * ignore it.
 */
const MALLOC_SETTINGS = { MALLOC_MMAP_THRESHOLD_: String(16 * 1024 * 1024) };

/** The API lets requests in flight finish for 30 seconds. */
const STOP_SECONDS = 35;

/** Bookkeeping and built-in nodes yield to requests on a machine with few processors. */
const WORKER_NICENESS = 5;

type OwnPlan = Pick<ChildPlan, 'isReady' | 'readyFile' | 'niceness' | 'stopSeconds'> & {
  readonly youngMebibytes: number;
};

function child(
  options: PlatformOptions,
  name: string,
  file: string,
  [script, ...args]: [string, ...string[]],
  { youngMebibytes, ...own }: OwnPlan,
): Supervised {
  const path = join(checkout, script);
  return new Supervised({
    name,
    command: process.execPath,
    args: [...NODE_FLAGS, `--max-semi-space-size=${youngMebibytes}`, path, ...args],
    env: { ...MALLOC_SETTINGS, ...withMetricsPort(options.environment, file) },
    cwd: checkout,
    programName: 'node',
    mark: path,
    logFile: join(options.dataDir, 'logs', `${file}.log`),
    pidFile: join(options.dataDir, 'run', `${file}.pid`),
    stopSignal: 'SIGTERM',
    readySeconds: 180,
    ...own,
    log: options.log,
  });
}

/** The processes share one machine: each serves its metrics at its own port, from `METRICS_PORT` on. */
const METRICS_PORTS = ['api', 'worker', 'worker-builtin', 'runner-host'];

function withMetricsPort(environment: Record<string, string>, file: string): Record<string, string> {
  const first = Number(environment.METRICS_PORT ?? '');
  // The processes themselves report an invalid port, with their other faults.
  if (!Number.isInteger(first) || first <= 0) return environment;
  return { ...environment, METRICS_PORT: String(first + METRICS_PORTS.indexOf(file)) };
}

async function isHealthy(address: string): Promise<boolean> {
  return (
    (await fetch(`${address}/health_check`, { signal: AbortSignal.timeout(HEALTH_MILLISECONDS) })).status ===
    200
  );
}
