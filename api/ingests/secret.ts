/** Secrets of managed ingests: shown once, stored as a digest (decisions 3 and 8). */
import { timingSafeEqual } from 'node:crypto';
import { tokenFamily, tokenHint, tokenPrefixes } from '../../domain/access/token-format.ts';
import { Problem } from '../../domain/errors.ts';
import { mintToken } from '../../store/connection/ids.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import type { IngestSecret } from '../../store/ingests/ingests.ts';
import type { SecretBox } from '../../store/objects/secrets.ts';
import type { Services } from '../services.ts';

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

/**
 * The ingest, for a caller that may use it.
 * @param given the secret; null for none
 * @throws Problem `ingestNotFound`, `ingestSecretRequired` also for a wrong secret where none is needed
 */
export function admitted(
  { objects }: Pick<Services, 'objects'>,
  found: Ingest | undefined,
  given: string | null,
): Ingest {
  if (found === undefined) throw new Problem('ingestNotFound');
  const isAllowed =
    given === null ? found.allowAnonymous : isSecretOf(objects.secrets, given, found.secretDigest);
  if (!isAllowed) throw new Problem('ingestSecretRequired');
  return found;
}

/** The name of a caller of an ingest: uploads that one caller began are not those of another. */
export function ingestCaller({ id }: Pick<Ingest, 'id'>, given: string | null): string {
  return `ingest:${id}:${given === null ? 'anonymous' : 'secret'}`;
}

/** Values of the wrong form or checksum are refused without comparing them to the stored digest. */
function isSecretOf(secrets: SecretBox, value: string, digest: Buffer): boolean {
  return tokenFamily(value) === 'ingest' && timingSafeEqual(secrets.digest(value, purpose), digest);
}
