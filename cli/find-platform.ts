/** Finds the platform that a command calls. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface Running {
  readonly address: string;
  readonly temporalUiUrl?: string;
}

/** The platform that was found; `dataDir` when `npm start` runs it on a data folder of this machine. */
export interface FoundPlatform extends Running {
  readonly dataDir?: string;
}

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The platform at this address, else the one that `npm start` runs in this checkout.
 * @throws Error with a sentence for the person when there is none
 */
export async function findPlatform(url: string | undefined): Promise<FoundPlatform> {
  const dataDir = dataFolder();
  const local = await readRunning(dataDir);
  if (url)
    return local !== undefined && isSame(url, local.address) ? { ...local, dataDir } : { address: url };
  if (local !== undefined) return { ...local, dataDir };
  throw new Error('No running platform found. Start one with `npm start`, or name one with --url.');
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
