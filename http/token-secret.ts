/** The keyed digests of token values: the values are never stored. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** As key objects: every call with an account's token makes a digest, and a key that is text is imported anew each time. */
const keyObjects = new Map<string, KeyObject>();

/**
 * HMAC-SHA-256 under a key of the server: of a token value under `TOKEN_KEY`, what is stored and looked up.
 * @param key a setting; each is kept as long as the process runs
 */
export function keyedDigest(key: string, value: string): Buffer {
  let object = keyObjects.get(key);
  if (object === undefined) {
    object = createSecretKey(key, 'utf8');
    keyObjects.set(key, object);
  }
  return createHmac('sha256', object).update(value).digest();
}
