import { createHash, randomUUID } from 'node:crypto';

/** A new UUID, version 7: ids made later sort later, to the millisecond. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  // Behind its version digit, a version 4 has the variant and the random bits that a version 7 has there.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** The UUID of a text, version 8: the same text has the same one. */
export function idOf(text: string): string {
  const digest = createHash('sha256').update(text).digest('hex');
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
