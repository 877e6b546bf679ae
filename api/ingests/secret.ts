/** Secrets of managed ingests: shown once, stored as a digest (decisions 3 and 8). */
import { timingSafeEqual } from 'node:crypto';
import { tokenFamily, tokenHint, tokenPrefixes } from '../../domain/access/token-format.ts';
import { mintToken } from '../../http/token-secret.ts';
import type { IngestSecret } from '../../store/ingests/ingests.ts';
import type { SecretBox } from '../../store/objects/secrets.ts';

const purpose = 'ingest secret';

export function newSecret(secrets: SecretBox): { readonly value: string; readonly stored: IngestSecret } {
  const value = mintToken('ingest');
  return { value, stored: { digest: secrets.digest(value, purpose), hint: tokenHint(value) } };
}

/** The secret that the caller sent: the header's value, or a bearer token of that kind; null for neither. */
export function givenSecret(header: string | undefined, bearer: string | null): string | null {
  if (header !== undefined) return header.trim();
  return bearer?.startsWith(tokenPrefixes.ingest) ? bearer : null;
}

/** Values of the wrong form or checksum are refused without comparing them to the stored digest. */
export function isSecretOf(secrets: SecretBox, value: string, digest: Buffer): boolean {
  return tokenFamily(value) === 'ingest' && timingSafeEqual(secrets.digest(value, purpose), digest);
}
