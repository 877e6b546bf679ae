/** The author's program: how it is started, and its process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../errors.ts';
import { kits } from '../own-files.ts';

/** What the kits need beyond the grace of a task, until they have ended. */
export const endMs = 13_000;
const probeMs = 20_000;
const isWindows = process.platform === 'win32';

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * `runner.py` or `runner.ts` of the folder, else the command.
 * @throws UsageError when something is missing
 */
export function findProgram(folder: string, command: string | undefined): Program {
  if (command !== undefined) return throughShell(command);
  const own = programOf(folder);
  if (own !== undefined) return own;
  throw new UsageError(
    `There is no runner.py or runner.ts in ${folder}. Name the program with --command, or make a runner with \`sdp runner init\`.`,
  );
}

function throughShell(command: string): Program {
  if (!isWindows) return { file: '/bin/sh', args: ['-c', `exec ${command}`], environment: {} };
  return { file: process.env.ComSpec ?? 'cmd.exe', args: ['/d', '/s', '/c', command], environment: {} };
}

/** The program of a folder that `sdp runner init` could have made; undefined for any other folder. */
export function programOf(folder: string): Program | undefined {
  if (existsSync(join(folder, 'runner.py'))) return pythonProgram(folder);
  const module = ['runner.ts', 'runner.mts', 'runner.js', 'runner.mjs'].find((name) =>
    existsSync(join(folder, name)),
  );
  return module === undefined ? undefined : typescriptProgram(folder, module);
}

function pythonProgram(folder: string): Program {
  const { VIRTUAL_ENV, PYTHONPATH } = process.env;
  const environments = [join(folder, '.venv'), ...(VIRTUAL_ENV ? [VIRTUAL_ENV] : [])];
  const own = environments.map((each) => join(each, isWindows ? 'Scripts/python.exe' : 'bin/python'));
  const file = own.find((path) => existsSync(path)) ?? (isWindows ? 'python' : 'python3');
  const run = (code: string) => spawnSync(file, ['-c', code], { cwd: folder, timeout: probeMs }).status === 0;
  if (!run('import sys; sys.exit(sys.version_info < (3, 10))')) {
    throw new UsageError(`A runner in Python needs Python 3.10 or newer; ${file} is older or missing.`);
  }
  // Without an installed package it runs on the one that came with the command line.
  const path = [join(kits.python, 'src'), ...(PYTHONPATH ? [PYTHONPATH] : [])].join(delimiter);
  const lent: Record<string, string> = run('import sdp.testing') ? {} : { PYTHONPATH: path };
  return { file, args: ['-m', 'sdp', 'runner.py'], environment: { PYTHONUNBUFFERED: '1', ...lent } };
}

function typescriptProgram(folder: string, module: string): Program {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 18)) {
    throw new UsageError(
      `A runner in TypeScript needs Node 22.18 or newer; this is ${process.versions.node}.`,
    );
  }
  const installed = join(folder, 'node_modules/@simulation-data-platform/runner');
  const description = join(installed, 'package.json');
  const kit = existsSync(description)
    ? join(installed, JSON.parse(readFileSync(description, 'utf8')).bin['sdp-runner'])
    : kits.typescriptProgram;
  return { file: process.execPath, args: [kit, module], environment: {} };
}

/** A process of the program. The terminal's Ctrl-C does not reach it: it is ended in good order by `stop`. */
export class Running {
  /** Exit code or signal. */
  readonly ended: Promise<number | string>;
  readonly #child: ChildProcess;

  constructor(
    { file, args, environment }: Program,
    folder: string,
    variables: Readonly<Record<string, string>>,
    onLine: (line: string) => void,
  ) {
    // The author's own token and a saved case are not for the runner.
    const { SDP_TOKEN: _, SDP_REPLAY_CASE: _case, SDP_REPLAY_OUT: _out, ...inherited } = process.env;
    this.#child = spawn(file, args, {
      cwd: folder,
      env: { ...inherited, ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      createInterface({ input: stream }).on('line', onLine);
    this.ended = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(error.message));
      this.#child.on('close', (code, signal) => resolve(signal ?? code ?? 0));
    });
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** Its task is given the grace; then it is killed. */
  async stop(graceSeconds: number): Promise<void> {
    this.terminate();
    const isOver = new AbortController();
    const tooLate = delay(graceSeconds * 1_000 + endMs, 'late', { signal: isOver.signal });
    const first = await Promise.race([this.ended, tooLate.catch(() => '')]);
    isOver.abort();
    if (first === 'late') this.kill();
    await this.ended;
  }

  /** The second time it ends at once. */
  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
