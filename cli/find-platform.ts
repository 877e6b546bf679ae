/** Finds the platform that a command calls. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface Running {
  readonly address: string;
  readonly temporalUiUrl?: string;
}

/** The platform that was found; `dataDir` when `npm start` runs it on a data folder of this machine. */
export interface Found extends Running {
  readonly dataDir?: string;
}

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];
const pollMs = 200;

/**
 * The platform at this address, else the one that `npm start` runs in this checkout.
 * @throws Error with a sentence for the person when there is none
 */
export async function findPlatform(url: string | undefined): Promise<Found> {
  const dataDir = dataFolder();
  const local = await readRunning(dataDir);
  if (url)
    return local !== undefined && isSame(url, local.address) ? { ...local, dataDir } : { address: url };
  if (local !== undefined) return { ...local, dataDir };
  throw new Error('No running platform was found. Start one with `npm start`, or name one with --url.');
}

/**
 * Waits until `npm start` on this data folder is ready: the API answers a moment before the address file is written.
 * Returns at once when it is already ready, or when nothing is starting.
 */
export async function waitForStart(notify: () => void): Promise<void> {
  const dataDir = dataFolder();
  for (let tries = 0; (await readRunning(dataDir)) === undefined; tries += 1) {
    if (!(await isStarting(dataDir))) return;
    if (tries === 0) notify();
    await delay(pollMs);
  }
}

/** Whether the process in the lock file of `npm start` is alive. It removes the file when it ends. */
async function isStarting(dataDir: string): Promise<boolean> {
  try {
    const { pid } = JSON.parse(await readFile(join(dataDir, 'lock'), 'utf8')) as { pid: number };
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function dataFolder(): string {
  return resolve(process.env.DATA_DIR || join(import.meta.dirname, '../.data'));
}

async function readRunning(dataDir: string): Promise<Running | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDir, 'running.json'), 'utf8')) as Running;
  } catch {
    return undefined;
  }
}

/** All names of this machine's loopback are the same address. */
function isSame(url: string, address: string): boolean {
  if (!URL.canParse(url)) return false;
  const [wanted, running] = [new URL(url), new URL(address)];
  const isLoopback = [wanted, running].every(({ hostname }) => loopbackHosts.includes(hostname));
  return wanted.protocol === running.protocol && wanted.port === running.port
    ? isLoopback || wanted.hostname === running.hostname
    : false;
}
