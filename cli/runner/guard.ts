/**
 * Ends the runner and the registration of a killed `sdp runner dev`. It is a separate process that learns of both over a
 * pipe. A pipe that ends without a message means that `sdp runner dev` was killed.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { handleSignals } from '../interrupted.ts';
import type { PlatformClient } from '../platform-client.ts';

/** What there is to end; `over` when nothing is left. */
interface Change {
  /** Process of the runner; null while none runs. */
  readonly runner?: number | null;
  /** The manifest that retires the registered node templates. */
  readonly withdrawal?: string;
  readonly over?: true;
}

const checkEveryMs = 200;
const withdrawMs = 10_000;

/** The side of `sdp runner dev`. */
export class Guard {
  readonly #pipe: NodeJS.WritableStream;

  /** @param address of the platform, which `--url` may have named */
  constructor(address: string) {
    const child = spawn(process.execPath, [process.argv[1]!, 'runner', 'guard', '--url', address], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#pipe = child.stdin;
    // Without a guard it works as well; only a kill leaves something behind.
    child.on('error', () => undefined);
    this.#pipe.on('error', () => undefined);
    child.unref();
  }

  notify(change: Change): void {
    this.#pipe.write(`${JSON.stringify(change)}\n`);
  }

  end(): void {
    this.notify({ over: true });
    this.#pipe.end();
  }
}

/** The guard itself. Resolves when nothing is left to end. */
export async function guard(connect: () => Promise<PlatformClient>, graceMs: number): Promise<void> {
  // The terminal's Ctrl-C and its end are for the other side.
  handleSignals(['SIGINT', 'SIGHUP'], () => undefined);
  let known: Change = {};
  for await (const line of createInterface({ input: process.stdin })) {
    known = { ...known, ...(JSON.parse(line) as Change) };
    if (known.over === true) return;
  }
  const { runner, withdrawal } = known;
  if (typeof runner === 'number') await endProcess(runner, graceMs);
  if (withdrawal === undefined) return;
  const platform = await connect();
  const signal = AbortSignal.timeout(withdrawMs);
  await platform.call('POST /api/v2/admin/runner-manifests', { document: withdrawal, signal });
}

/** Its task is given the grace; then it is killed. */
async function endProcess(pid: number, graceMs: number): Promise<void> {
  const untilMs = performance.now() + graceMs;
  let signal: NodeJS.Signals | 0 = 'SIGTERM';
  while (sent(pid, signal)) {
    signal = performance.now() > untilMs ? 'SIGKILL' : 0;
    await delay(checkEveryMs);
  }
}

/** @returns false when the process is gone */
function sent(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
