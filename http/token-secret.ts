/** The random and keyed parts of tokens, for their stores: values are never stored, only their digests. */
import { createHmac, randomBytes } from 'node:crypto';
import { formatToken, type TokenFamily, tokenRandomBytes } from '../domain/access/token-format.ts';

/** A new token value. Show it once and store its `tokenDigest`. */
export function mintToken(family: TokenFamily): string {
  return formatToken(family, randomBytes(tokenRandomBytes));
}

/** HMAC-SHA-256 of a token value under the server's `TOKEN_KEY`: the value that is stored and looked up. */
export function tokenDigest(key: string, value: string): Buffer {
  return createHmac('sha256', key).update(value).digest();
}
