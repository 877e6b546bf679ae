/** The random and keyed parts of tokens, for their stores: values are never stored, only their digests. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { formatToken, type TokenFamily, tokenRandomBytes } from '../domain/access/token-format.ts';

/** A new token value. Show it once and store its `keyedDigest`. */
export function mintToken(family: TokenFamily): string {
  return formatToken(family, randomBytes(tokenRandomBytes));
}

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
