/** The platform's own processes, as an installation runs them: for tests that kill, stop and restart them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Failpoint } from '../../store/failpoint.ts';
import { eventually } from './eventually.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const keptLogCharacters = 200_000;
const readyLimitMs = 40_000;

export interface ProcessOptions {
  /** The place at which it dies, as by `kill -9`. */
  readonly failpoint?: Failpoint;
  /** The API's port; default: a free one. */
  readonly port?: number;
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
  /** `worker/main.ts`; resolves when it takes tasks. */
  startWorker(queue: 'workflows' | 'builtin', options?: ProcessOptions): Promise<TestProcess>;
  /** A script, given as a path in the checkout; by Node unless another program is named. */
  startScript(
    path: string,
    variables: Readonly<Record<string, string>>,
    how?: { readonly program?: string; readonly args?: readonly string[] },
  ): TestProcess;
}

/** All processes are gone after the file's last test, whatever state they are in. */
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
    const child = new Child(name, [program, ...args], {
      ...environment,
      ...extra,
      ...(options.failpoint === undefined ? {} : { FAILPOINT: options.failpoint }),
    });
    started.push(child);
    return child;
  }

  return {
    async startApi(options = {}) {
      const child = start('API', ['api/main.ts'], options, {
        PORT: String(options.port ?? 0),
        HOST: '127.0.0.1',
        LOG_LEVEL: 'info',
        RESPONSE_CHECKS: 'strict',
      });
      const port = await child.until(() => /"port":(\d+),"msg":"listening"/.exec(child.log())?.[1]);
      return Object.assign(child, { port: Number(port), url: `http://127.0.0.1:${port}` });
    },
    async startWorker(queue, options = {}) {
      const readyFile = join(folder, `ready-${started.length}`);
      const child = start(`worker ${queue}`, ['worker/main.ts', '--queue', queue], options, {
        READY_FILE: readyFile,
        LOG_LEVEL: 'warn',
      });
      await child.until(() => existsSync(readyFile));
      return child;
    },
    startScript: (path, variables, { program, args = [] } = {}) =>
      start(path, [path, ...args], {}, variables, program),
  };
}

class Child implements TestProcess {
  readonly pid: number;
  readonly ended: Promise<NodeJS.Signals | number>;
  readonly #name: string;
  readonly #process: ChildProcess;
  #log = '';
  #end: NodeJS.Signals | number | undefined;

  constructor(name: string, [program, ...args]: [string, ...string[]], environment: Record<string, string>) {
    this.#name = name;
    const child = spawn(program, args, {
      cwd: checkout,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...environment },
    });
    if (child.pid === undefined) throw new Error(`${name} could not be started.`);
    this.#process = child;
    this.pid = child.pid;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-keptLogCharacters);
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

  /** Waits for a sign in its log or elsewhere; throws with the log when it ends before. */
  async until<T>(sign: () => T): Promise<Exclude<T, undefined | null | false>> {
    const seen = await eventually(
      `${this.#name} is ready`,
      () => (this.#end === undefined ? sign() : 'ended'),
      readyLimitMs,
    );
    if (seen === 'ended') throw new Error(`${this.#name} ended (${this.#end}):\n${this.#log}`);
    return seen as Exclude<T, undefined | null | false>;
  }
}
