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

/** Callers whose hashes are computed; each hash needs 19 MiB and a core. */
const running: string[] = [];
const waiting: { readonly caller: string; readonly start: () => void }[] = [];

/**
 * Runs `work` in one of the places for hashes. The rest waits in order of arrival, but a caller who has a place already
 * comes after others. @throws Problem `tooManyRequests` when the queue, or the caller's share of it, is full
 */
export async function withHashingPlace<T>(caller: string, work: () => Promise<T>): Promise<T> {
  if (running.length < limits.passwordHashesAtOnce) running.push(caller);
  else {
    const own = waiting.filter((turn) => turn.caller === caller).length;
    if (waiting.length >= limits.passwordHashesWaiting || own >= limits.passwordHashesWaitingPerCaller) {
      throw new Problem('tooManyRequests', { headers: { 'retry-after': '5' } });
    }
    await new Promise<void>((start) => waiting.push({ caller, start }));
  }
  try {
    return await work();
  } finally {
    passOn(caller);
  }
}

function passOn(caller: string): void {
  running.splice(running.indexOf(caller), 1);
  const ofAnother = waiting.findIndex((turn) => !running.includes(turn.caller));
  const [next] = waiting.splice(Math.max(0, ofAnother), 1);
  if (next === undefined) return;
  running.push(next.caller);
  next.start();
}

/** Hashes a password, in the usual text form that carries its parameters. @param caller as {@link withHashingPlace} */
export async function hashPassword(password: string, caller: string): Promise<string> {
  const nonce = randomBytes(saltBytes);
  const hash = await withHashingPlace(caller, () =>
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
  return characters >= limits.passwordMinCharacters && characters <= limits.passwordMaxCharacters;
}

/** One password, however its keyboard composes accents. */
const normal = (password: string): string => password.normalize('NFC');

function bare(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
