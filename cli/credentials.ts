/**
 * The sign-ins of `sdp login`: the tokens of each platform, in a file that only its owner may read.
 *
 * A refresh token works once, and using it again ends the whole sign-in. So it is used under a lock, and a command that
 * waited for the lock uses the tokens that the other one got.
 */
import { rmSync } from 'node:fs';
import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { whenInterrupted } from './interrupted.ts';

export interface SignedIn {
  readonly username: string;
  readonly accessToken: string;
  readonly expiresAt: string;
  readonly refreshToken: string | null;
  readonly refreshExpiresAt: string | null;
}

interface Stored {
  /** The platform of the last sign-in. */
  readonly current: string | null;
  readonly platforms: Readonly<Record<string, SignedIn>>;
}

const lockWaitMs = 10_000;
/** The unknown owner of an older lock, as on another machine, must have died: a lock is held for one request at most. */
const lockStaleMs = 90_000;

export const credentialsFile = () => secretFile('credentials.json');

/** A file of the person's own settings. */
export function secretFile(name: string): string {
  return join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'sdp', name);
}

export async function readCredentials(): Promise<Stored> {
  const { current, platforms } = await readSecrets<Partial<Stored>>(credentialsFile());
  return { current: current ?? null, platforms: platforms ?? {} };
}

/** What {@link writeSecrets} stored; an empty object when there is no such file. */
export async function readSecrets<Secrets extends object>(
  file: string,
): Promise<Secrets | Record<string, never>> {
  try {
    const secrets: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof secrets !== 'object' || secrets === null) throw new Error('it holds no JSON object');
    return secrets as Secrets;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Stores the sign-in at a platform, or removes it. */
export function remember(address: string, signedIn: SignedIn | undefined): Promise<void> {
  return locked(() => write(address, signedIn, true));
}

/**
 * Replaces tokens by newer ones, unless another command has done so meanwhile.
 * @param fetchNew gets new tokens for a refresh token; undefined when the platform refuses it
 * @returns the tokens to use; undefined when a new sign-in is needed
 */
export function renewTokens(
  address: string,
  old: SignedIn,
  fetchNew: (refreshToken: string) => Promise<SignedIn | undefined>,
): Promise<SignedIn | undefined> {
  return locked(async () => {
    const present = (await readCredentials()).platforms[address];
    if (present !== undefined && present.accessToken !== old.accessToken) return present;
    const refreshToken = present?.refreshToken ?? null;
    if (refreshToken === null) return undefined;
    const renewed = await fetchNew(refreshToken);
    if (renewed !== undefined) await write(address, renewed, false);
    return renewed;
  });
}

/** @param byPerson a renewal leaves the platform of the last sign-in as it is */
async function write(address: string, signedIn: SignedIn | undefined, byPerson: boolean): Promise<void> {
  const { current, platforms } = await readCredentials();
  const { [address]: _, ...others } = platforms;
  const next: Stored =
    signedIn === undefined
      ? { current: current === address ? null : current, platforms: others }
      : { current: byPerson ? address : current, platforms: { ...others, [address]: signedIn } };
  await writeSecrets(credentialsFile(), next);
}

/** Writes a file that only its owner may read, all of it or nothing. */
export async function writeSecrets(file: string, secrets: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}`;
  const handle = await open(partial, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(secrets, null, 2)}\n`);
  } finally {
    await handle.close();
  }
  await rename(partial, file);
  await chmod(file, 0o600);
}

async function locked<T>(work: () => Promise<T>): Promise<T> {
  const lock = `${credentialsFile()}.lock`;
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
  const untilMs = performance.now() + lockWaitMs;
  while (!(await isTaken(lock))) {
    if (await isLeft(lock)) await rm(lock, { force: true, recursive: true });
    else if (performance.now() > untilMs)
      throw new Error(`Another command has locked ${lock}. If none is running, delete it.`);
    else await delay(50);
  }
  // Without a network the work may take long, and its end by Ctrl-C must not lock out the next command.
  const forget = whenInterrupted(() => rmSync(lock, { force: true, recursive: true }));
  try {
    return await work();
  } finally {
    await rm(lock, { force: true, recursive: true });
    forget();
  }
}

/** The lock names its owner. */
async function isTaken(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, `${process.pid} ${hostname()}`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the owner of a lock was killed. For a command on this machine its process id says so, not a clock. */
async function isLeft(lock: string): Promise<boolean> {
  const owner = await readFile(lock, 'utf8').catch(() => '');
  const [, pid, host] = /^(\d+) (.*)$/.exec(owner) ?? [];
  if (host === hostname()) return !isAlive(Number(pid));
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
  return Math.abs(Date.now() - mtimeMs) > lockStaleMs;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
