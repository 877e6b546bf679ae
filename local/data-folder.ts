import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PlainError } from './plain-error.ts';
import { endOrphan, identityOf, isAlive, readIdentity } from './process-identity.ts';

const KEY_BYTES = 32;
const LOCK_ATTEMPTS = 3;
const TURN_MILLISECONDS = 5_000;

/**
 * Secrets made at the first start. Losing them makes stored secrets and tokens unreadable, so they are stored beside
 * the data.
 */
export interface Keys {
  postgresPassword: string;
  s3AccessKeyId: string;
  s3SecretAccessKey: string;
  tokenKey: string;
  secretsKey: string;
  participantKey: string;
  authServiceKey: string;
  runnerHostKey: string;
}

const KEY_NAMES = [
  'postgresPassword',
  's3AccessKeyId',
  's3SecretAccessKey',
  'tokenKey',
  'secretsKey',
  'participantKey',
  'authServiceKey',
] as const satisfies (keyof Keys)[];

/** Added by later versions, and not needed to read stored data: older folders get them at the next start. */
const LATER_KEY_NAMES = ['runnerHostKey'] as const satisfies (keyof Keys)[];

/** Makes the folder with `logs` and `run` in it. As root it may be passed by all, because PostgreSQL runs as `nobody`. */
export function makeDataFolder(dataDir: string): void {
  const isNew = mkdirSync(dataDir, { recursive: true }) !== undefined;
  if (isNew) chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
  for (const name of ['logs', 'run']) mkdirSync(join(dataDir, name), { recursive: true, mode: 0o700 });
}

/**
 * Locks the folder for this process. Throws PlainError while another process holds it; takes over from one that was
 * killed. Returns the function that releases it.
 */
export function lockDataFolder(dataDir: string): () => void {
  const file = join(dataDir, 'lock');
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt += 1) {
    try {
      writeFileSync(file, `${JSON.stringify(identityOf(process.pid))}\n`, { flag: 'wx', mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readIdentity(file);
    if (holder !== undefined && isAlive(holder))
      throw new PlainError(
        `The data folder ${dataDir} is in use by another start (process ${holder.pid}). ` +
          'Stop it first, or choose another folder with DATA_DIR.',
      );
    removeDeadLock(file);
  }
  throw new PlainError(`The data folder ${dataDir} could not be locked; another start is locking it.`);
}

/**
 * Removes a lock whose holder is gone. Two starts may find the same dead holder at once; without the folder that only
 * one of them can make, the slower one would remove the new lock of the faster one.
 */
function removeDeadLock(file: string): void {
  const turn = `${file}.turn`;
  try {
    mkdirSync(turn);
  } catch {
    if (ageMilliseconds(turn) > TURN_MILLISECONDS) rmSync(turn, { recursive: true, force: true });
    return;
  }
  try {
    const holder = readIdentity(file);
    // A lock without content is being written at this moment, unless it stays empty.
    const isDead = holder === undefined ? ageMilliseconds(file) > TURN_MILLISECONDS : !isAlive(holder);
    if (isDead) rmSync(file, { force: true });
  } finally {
    rmSync(turn, { recursive: true, force: true });
  }
}

function ageMilliseconds(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 0 : Date.now() - stat.mtimeMs;
}

/** Ends the children of an earlier start on this folder that was killed. The folder must be locked. */
export async function endOrphans(dataDir: string, log: (line: string) => void): Promise<void> {
  const folder = join(dataDir, 'run');
  const notes = readdirSync(folder).filter((name) => name.endsWith('.pid'));
  const ended = await Promise.all(notes.map((name) => endOrphan(join(folder, name))));
  for (const name of ended.filter((name) => name !== undefined))
    log(`${name} of an earlier start was still running and has been stopped.`);
}

/** Reads the keys of this folder, or makes them at its first start. */
export function readOrMakeKeys(dataDir: string): Keys {
  const file = join(dataDir, 'keys.json');
  if (!existsSync(file)) {
    if (existsSync(join(dataDir, 'postgres.json')) || existsSync(join(dataDir, 'objects')))
      throw new PlainError(
        `${file} is missing, and the data in its folder cannot be read without it. ` +
          'Restore the file, or choose another folder with DATA_DIR.',
      );
    const made = Object.fromEntries(KEY_NAMES.map((name) => [name, randomKey()]));
    made.s3AccessKeyId = randomBytes(10).toString('hex');
    writeKeys(file, made);
  }
  const keys = parseKeys(file);
  const missing = LATER_KEY_NAMES.filter((name) => !keys[name]);
  if (missing.length === 0) return keys;
  writeKeys(file, { ...keys, ...Object.fromEntries(missing.map((name) => [name, randomKey()])) });
  return parseKeys(file);
}

const randomKey = () => randomBytes(KEY_BYTES).toString('hex');

function writeKeys(file: string, keys: object): void {
  writeDurably(file, `${JSON.stringify(keys, null, 2)}\n`);
}

/** The keys of a folder that has them. Throws PlainError otherwise, also when they may not be read. */
export function readKeys(dataDir: string): Keys {
  return parseKeys(join(dataDir, 'keys.json'));
}

function parseKeys(file: string): Keys {
  const value = parseJson(file);
  for (const name of KEY_NAMES) {
    if (typeof value[name] !== 'string' || value[name] === '')
      throw new PlainError(
        `${file} has no "${name}". Restore the right file, or choose another folder with DATA_DIR.`,
      );
  }
  return value as unknown as Keys;
}

function parseJson(file: string): Record<string, unknown> {
  const text = readText(file);
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new PlainError(
      `${file} is not JSON. Restore the right file, or choose another folder with DATA_DIR.`,
    );
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new PlainError(
      `${file} cannot be read (${code}). It must be a file of the user who starts the platform, as all of its folder.`,
    );
  }
}

/** Writes a file that only this user may read; after a power cut it is either complete or absent. */
export function writeDurably(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.partial`;
  const handle = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
}
