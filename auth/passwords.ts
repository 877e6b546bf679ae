/** Passwords: Argon2id from Node itself, few at a time, and as slow for unknown users as for known ones. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';

const derive = promisify(argon2);

/** The parameters of new hashes; stored hashes carry their own. */
const memoryKibibytes = 19_456;
const passes = 2;
const parallelism = 1;
const saltBytes = 16;
const hashBytes = 32;

const hashShape =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** At most two hashes at a time: each needs 19 MiB and a core. Further ones queue, up to a limit. */
let running = 0;
const waiting: (() => void)[] = [];

/** Runs `work` in one of the two places; throws `tooManyRequests` when the queue is full. */
export async function withHashingPlace<T>(work: () => Promise<T>): Promise<T> {
  if (running >= limits.passwordHashesAtOnce) {
    if (waiting.length >= limits.passwordHashesWaiting) {
      throw new Problem('tooManyRequests', { headers: { 'retry-after': '5' } });
    }
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

/** Hashes a password, in the usual text form that carries its parameters. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(saltBytes);
  const hash = await withHashingPlace(() =>
    derive('argon2id', {
      message: normal(password),
      nonce,
      parallelism,
      tagLength: hashBytes,
      memory: memoryKibibytes,
      passes,
    }),
  );
  return `$argon2id$v=19$m=${memoryKibibytes},t=${passes},p=${parallelism}$${bare(nonce)}$${bare(hash)}`;
}

/** Whether a password belongs to a stored hash. Call it inside `withHashingPlace`. */
export async function matchesHash(password: string, stored: string): Promise<boolean> {
  const match = hashShape.exec(stored);
  if (match === null) return false;
  const [, memory, passCount, lanes, salt, expected] = match;
  const wanted = Buffer.from(expected ?? '', 'base64');
  const hash = await derive('argon2id', {
    message: normal(password),
    nonce: Buffer.from(salt ?? '', 'base64'),
    parallelism: Number(lanes),
    tagLength: wanted.length,
    memory: Number(memory),
    passes: Number(passCount),
  });
  return timingSafeEqual(hash, wanted);
}

/** A hash that matches no password, with the parameters of real ones, for checking unknown users. */
export const dummyHash = `$argon2id$v=19$m=${memoryKibibytes},t=${passes},p=${parallelism}$${bare(
  randomBytes(saltBytes),
)}$${bare(randomBytes(hashBytes))}`;

/** True for 12 to 256 characters. */
export function isAcceptablePassword(password: string): boolean {
  const characters = [...password.slice(0, limits.passwordMaxCharacters * 2 + 1)].length;
  return (
    password.isWellFormed() &&
    characters >= limits.passwordMinCharacters &&
    characters <= limits.passwordMaxCharacters
  );
}

/** One password, however its keyboard composes accents. */
const normal = (password: string): string => password.normalize('NFC');

function bare(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
