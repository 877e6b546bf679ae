/** The platform's own processes, as an installation runs them: for tests that kill, stop and restart them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Failpoint } from '../../store/connection/failpoint.ts';
import type { WorkerQueue } from '../../worker/main.ts';
import { compileCache } from './caches.ts';
import { eventually } from './eventually.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const keptLogCharacters = 200_000;
const printedLogCharacters = 5_000;
const readyLimitMs = 100_000;

interface ProcessOptions {
  /** The place at which it dies, as by `kill -9`. */
  readonly failpoint?: Failpoint;
  /** The API's port; default: a free one. */
  readonly port?: number;
  /** Beside and above the environment's and the process's own. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Keeps all that it writes, and not only the end. */
  readonly keepsWholeLog?: boolean;
}

export interface TestProcess {
  readonly pid: number;
  /** The end of what it wrote. */
  readonly log: () => string;
  /** The signal by which it ended, or its exit code. */
  readonly ended: Promise<NodeJS.Signals | number>;
  kill(signal: NodeJS.Signals): void;
}

export interface ApiProcess extends TestProcess {
  readonly url: string;
  readonly port: number;
}

export interface TestProcesses {
  /** `api/main.ts`; resolves when it listens. */
  startApi(options?: ProcessOptions): Promise<ApiProcess>;
  /** `auth/main.ts`, the authentication service alone; resolves when it listens. */
  startAuth(options?: ProcessOptions): Promise<ApiProcess>;
  /** `worker/main.ts`; resolves when it claims tasks. */
  startWorker(queue: WorkerQueue, options?: ProcessOptions): Promise<TestProcess>;
  /** A script, by its path in the checkout; run by Node unless another program is named. */
  startScript(
    path: string,
    variables: Readonly<Record<string, string>>,
    how?: { readonly program?: string; readonly args?: readonly string[] },
  ): TestProcess;
}

/** False once its parent has learned its end: `ps` leaves a process out while its threads still end. */
export function hasProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** All processes are ended after the file's last test, in whatever state they are. */
export function testProcesses(environment: Readonly<Record<string, string>>): TestProcesses {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-processes-'));
  const started: Child[] = [];
  const killAll = () => {
    for (const child of started) child.kill('SIGKILL');
  };
  process.once('exit', killAll);
  afterAll(async () => {
    process.off('exit', killAll);
    killAll();
    await Promise.all(started.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
  });

  function start(
    name: string,
    args: string[],
    options: ProcessOptions,
    extra: Readonly<Record<string, string>>,
    program = process.execPath,
  ) {
    const child = new Child(
      name,
      [program, ...args],
      {
        ...environment,
        ...extra,
        ...options.variables,
        ...(options.failpoint === undefined ? {} : { FAILPOINT: options.failpoint }),
      },
      options.keepsWholeLog === true ? Number.POSITIVE_INFINITY : keptLogCharacters,
    );
    started.push(child);
    return child;
  }

  return {
    startApi: (options = {}) =>
      listening(start('API', ['api/main.ts'], options, serverVariables(options.port))),
    startAuth: (options = {}) =>
      listening(start('authentication', ['auth/main.ts'], options, serverVariables(options.port))),
    async startWorker(queue, options = {}) {
      const readyFile = join(folder, `ready-${started.length}`);
      const child = start(`worker ${queue}`, ['worker/main.ts', '--queue', queue], options, {
        READY_FILE: readyFile,
        LOG_LEVEL: 'warn',
      });
      // One that is to be killed may be so before its file is seen.
      if (options.failpoint === undefined) await child.until(() => existsSync(readyFile));
      return child;
    },
    startScript: (path, variables, { program, args = [] } = {}) =>
      start(path, [path, ...args], {}, variables, program),
  };
}

/**
 * The authentication service as a separate process, for tests that end it themselves. It gets its own variables and no
 * other part's secrets; one proxy, the platform, is in front of it beside those of the environment.
 */
export async function spawnAuth(environment: Readonly<Record<string, string>>): Promise<ApiProcess> {
  const given = ['DATABASE_URL', 'TOKEN_KEY', 'AUTH_SERVICE_KEY'].flatMap((name) =>
    environment[name] === undefined ? [] : [[name, environment[name]]],
  );
  const variables = {
    ...Object.fromEntries(given),
    TRUSTED_PROXIES: String(Number(environment.TRUSTED_PROXIES ?? '0') + 1),
    ...serverVariables(),
  };
  const child = new Child('authentication', [process.execPath, 'auth/main.ts'], variables);
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  void child.ended.then(() => process.off('exit', killWithUs));
  return await listening(child);
}

const serverVariables = (port = 0) => ({
  PORT: String(port),
  HOST: '127.0.0.1',
  LOG_LEVEL: 'info',
  RESPONSE_CHECKS: 'strict',
});

async function listening(child: Child): Promise<ApiProcess> {
  const port = await child.until(() => /"port":(\d+),"msg":"listening"/.exec(child.log())?.[1]);
  return Object.assign(child, { port: Number(port), url: `http://127.0.0.1:${port}` });
}

/** A module that ends its process soon after the test's own was killed outright, when no parent is left to end it. */
const endWithParent = `data:text/javascript,${encodeURIComponent(
  'const p = process.ppid; setInterval(() => { if (process.ppid !== p) process.exit(1); }, 1000).unref();',
)}`;

class Child implements TestProcess {
  readonly pid: number;
  readonly ended: Promise<NodeJS.Signals | number>;
  readonly #name: string;
  readonly #process: ChildProcess;
  #log = '';
  #end: NodeJS.Signals | number | undefined;

  constructor(
    name: string,
    [program, ...args]: [string, ...string[]],
    environment: Record<string, string>,
    keptCharacters = keptLogCharacters,
  ) {
    this.#name = name;
    const isNode = program === process.execPath;
    const child = spawn(program, isNode ? ['--import', endWithParent, ...args] : args, {
      cwd: checkout,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        ...(isNode ? { NODE_COMPILE_CACHE: compileCache } : {}),
        ...environment,
      },
    });
    if (child.pid === undefined) throw new Error(`${name} could not be started.`);
    this.#process = child;
    this.pid = child.pid;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-keptCharacters);
      });
    }
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#end = signal ?? code ?? 0;
        resolve(this.#end);
      });
    });
  }

  readonly log = () => this.#log;

  /** Only while it runs: its pid may be somebody else's afterwards. */
  kill(signal: NodeJS.Signals): void {
    if (this.#end === undefined) this.#process.kill(signal);
  }

  /** Waits for a sign in its log or elsewhere; throws with the log when that does not come. */
  async until<T>(sign: () => T): Promise<Exclude<T, undefined | null | false>> {
    const seen = await eventually(
      `${this.#name} is ready`,
      () => (this.#end === undefined ? sign() : 'ended'),
      readyLimitMs,
    ).catch((error: Error) => {
      throw new Error(`${error.message}:\n${this.#log.slice(-printedLogCharacters)}`, { cause: error });
    });
    if (seen === 'ended') throw new Error(`${this.#name} ended (${this.#end}):\n${this.#log}`);
    return seen as Exclude<T, undefined | null | false>;
  }
}
