/** The command line as operators run it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { compileCache } from '../support/caches.ts';
import type { Call, Ended } from './one-process/commands.ts';

const program = fileURLToPath(new URL('../../cli/sdp.ts', import.meta.url));
const commonProgram = fileURLToPath(new URL('./one-process/commands.ts', import.meta.url));

export interface Running {
  /** What the command has printed so far. */
  readonly printed: { readonly out: string; readonly err: string };
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  /** As `2>&1 | head` does once it has its lines. */
  stopReading(): void;
}

type Command = readonly [
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  input?: string,
  cwd?: string,
];

/**
 * The command line for a test file. Call it once at the top of the file.
 *
 * `folder` is the file's own, for files and sign-ins; it is removed after the last test. `runSdp` runs one command to its
 * end, without a terminal, in the process of the one before: starting one takes ten times as long as most commands.
 * `startSdp` runs it in a process of its own, beside others, and does not wait for it: for what is about signals, or
 * starts programs that write to the streams of the command.
 */
export function commandLine() {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-cli-'));
  const common = commonProcess();
  afterAll(async () => {
    await common.end();
    rmSync(folder, { recursive: true });
  });
  const startSdp = (...command: Command) => started(callOf(folder, command));
  return { folder, startSdp, runSdp: (...command: Command) => common.run(callOf(folder, command)) };
}

function callOf(folder: string, [args, more, input = '', cwd]: Command): Call {
  const { PATH = '', HOME = '' } = process.env;
  const environment = {
    PATH,
    HOME,
    XDG_CONFIG_HOME: folder,
    DATA_DIR: folder,
    NODE_COMPILE_CACHE: compileCache,
    ...more,
  };
  return { program, args, environment, input, cwd };
}

function started({ args, environment, input, cwd }: Call): Running {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: environment });
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (printed.out += chunk));
  child.stderr.on('data', (chunk) => (printed.err += chunk));
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...printed }));
  });
  const stopReading = () => void child.stderr.destroy();
  return { printed, ended, kill: (signal) => void child.kill(signal), stopReading };
}

/** The process for calls one after another; it starts with the first. */
function commonProcess() {
  let child: ReturnType<typeof startCommonProcess> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const one = async (call: Call): Promise<Ended> => {
    child ??= startCommonProcess();
    child.wire.write(`${JSON.stringify(call)}\n`);
    const { value, done } = await child.lines.next();
    if (done) throw new Error(`The process of the command line ended at: ${call.args.join(' ')}`);
    return JSON.parse(value);
  };
  return {
    run(call: Call): Promise<Ended> {
      const ended = last.then(() => one(call));
      last = ended.catch(() => undefined);
      return ended;
    },
    async end() {
      child?.kill();
      await child?.closed;
    },
  };
}

function startCommonProcess() {
  const child = spawn(process.execPath, [commonProgram], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache },
  });
  const closed = new Promise((resolve) => child.on('close', resolve));
  const wire = child.stdio[3] as Socket;
  wire.on('error', () => undefined);
  const lines = createInterface({ input: wire })[Symbol.asyncIterator]();
  return { wire, lines, closed, kill: () => child.kill() };
}
