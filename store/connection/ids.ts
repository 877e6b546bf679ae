import { randomUUID } from 'node:crypto';

/** A new UUID, version 7: ids made later sort later, to the millisecond. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  // Behind its version digit, a version 4 has the variant and the random bits that a version 7 has there.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
