/** The command line as operators run it: a separate process. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { compileCache } from '../support/caches.ts';

const program = fileURLToPath(new URL('../../cli/sdp.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

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
 * end, without a terminal; `startSdp` does not wait for it.
 */
export function commandLine() {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-cli-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const startSdp = (...command: Command) => started(folder, command);
  return { folder, startSdp, runSdp: (...command: Command): Promise<Ended> => startSdp(...command).ended };
}

function started(folder: string, [args, environment, input = '', cwd]: Command): Running {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: {
      PATH,
      HOME,
      XDG_CONFIG_HOME: folder,
      DATA_DIR: folder,
      NODE_COMPILE_CACHE: compileCache,
      ...environment,
    },
  });
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
