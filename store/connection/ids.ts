import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { formatToken, type TokenFamily, tokenRandomBytes } from '../../domain/access/token-format.ts';

/** A new UUID, version 7: ids made later sort later, to the millisecond. */
export function newId(): string {
  const time = timeDigits(Date.now());
  // Behind its version digit, a version 4 has the variant and the random bits that a version 7 has there.
  return `${time}-7${randomUUID().slice(15)}`;
}

/** The least id that {@link newId} makes at a time. */
export function firstIdAt(at: Date): string {
  return `${timeDigits(Math.max(0, at.getTime()))}-0000-0000-000000000000`;
}

/** The first two groups of an id: 48 bits of milliseconds since 1970. */
function timeDigits(ms: number): string {
  const digits = ms.toString(16).padStart(12, '0').slice(-12);
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** The UUID of a text, version 8: the same text has the same one. */
export function idOf(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** A new token value. Show it once and store a digest of it. */
export function mintToken(family: TokenFamily): string {
  return formatToken(family, randomBytes(tokenRandomBytes));
}
