/** Values of runner tokens: shown once, stored as a digest (decisions 3). */
import { tokenFamily, tokenHint } from '../../domain/access/token-format.ts';
import { mintToken } from '../connection/ids.ts';
import type { SecretBox } from '../objects/secrets.ts';

const purpose = 'runner token';

export interface NewTokenValue {
  readonly value: string;
  readonly digest: Buffer;
  readonly hint: string;
}

export function newTokenValue(secrets: SecretBox): NewTokenValue {
  const value = mintToken('runner');
  return { value, digest: secrets.digest(value, purpose), hint: tokenHint(value) };
}

/** The digest by which a value is looked up; null for a wrong form or checksum, without a database read. */
export function digestOf(secrets: SecretBox, value: string): Buffer | null {
  return tokenFamily(value) === 'runner' ? secrets.digest(value, purpose) : null;
}
