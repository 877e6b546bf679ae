/** Values of runner tokens: shown once, stored as a digest (decisions 3). */
import { tokenFamily, tokenHint } from '../../domain/token-format.ts';
import { mintToken } from '../../http/token-secret.ts';
import type { SecretBox } from '../../store/secrets.ts';

const purpose = 'runner token';

export function newTokenValue(secrets: SecretBox) {
  const value = mintToken('runner');
  return { value, digest: secrets.digest(value, purpose), hint: tokenHint(value) };
}

/** What a value is looked up by; null for a wrong form or checksum, without a look at what is stored. */
export function digestOf(secrets: SecretBox, value: string): Buffer | null {
  return tokenFamily(value) === 'runner' ? secrets.digest(value, purpose) : null;
}
