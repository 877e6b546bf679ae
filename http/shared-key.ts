import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether a bearer is a key that two processes share, in a time that reveals nothing of the key. False without a key.
 */
export function isSharedKey(bearer: string | null, key: string | undefined): boolean {
  if (bearer === null || key === undefined) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(bearer), digest(key));
}
