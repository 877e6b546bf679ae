/** Headers of resumable uploads (tus 1.0.0: core, creation, checksum; additions 3). */
import { bodyTooLarge, Problem } from '../errors.ts';
import { limits } from '../limits.ts';
import type { HeaderValues } from './output-headers.ts';

export const tusVersion = '1.0.0';
/** Type of the body of every piece. */
export const tusPieceMedia = 'application/offset+octet-stream';
export const tusExtensions = 'creation,creation-with-upload,termination,checksum,expiration';
/** By the names of tus, which are those of Node too. */
const checksumBytes: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, md5: 16 };
export const tusChecksums = Object.keys(checksumBytes).join(',');

/** @throws Problem `tusVersionMissing` */
export function requireTus(headers: HeaderValues): void {
  if (headers['tus-resumable'] !== tusVersion)
    throw new Problem('tusVersionMissing', { headers: { 'tus-version': tusVersion } });
}

/** A number of bytes in a header. @throws Problem `invalidRequest` */
export function readByteCount(headers: HeaderValues, name: string): number {
  const text = headers[name.toLowerCase()]?.trim() ?? '';
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw invalid(`The header ${name} must be a number of bytes.`);
  return count;
}

/** The size of a new upload. @throws Problem `invalidRequest`, `bodyTooLarge` */
export function readUploadLength(headers: HeaderValues, maxBytes: number): number {
  // Each part would become an output of its own.
  if (headers['upload-concat'] !== undefined)
    throw invalid('Parts cannot be joined: send the upload as one, without Upload-Concat.');
  if (headers['upload-defer-length'] !== undefined) throw invalid('The header Upload-Length is required.');
  const sizeBytes = readByteCount(headers, 'Upload-Length');
  if (sizeBytes > maxBytes) throw bodyTooLarge(maxBytes);
  return sizeBytes;
}

/** The metadata's keys, and the headers of a plain upload that say the same. */
const headerOfKey: Readonly<Record<string, string>> = {
  identifier: 'x-platform-output-identifier',
  metadata: 'x-platform-output-metadata',
  contentType: 'content-type',
  contentEncoding: 'content-encoding',
};

/**
 * Reads `Upload-Metadata`, as the headers of a plain upload; other keys than ours are passed over.
 * @throws Problem `invalidRequest`
 */
export function readUploadMetadata(headers: HeaderValues): HeaderValues {
  const found: Record<string, string> = {};
  const text = headers['upload-metadata'] ?? '';
  if (text.length > limits.outputMetadataBytes * 2) throw invalid('The header Upload-Metadata is too long.');
  const keys = new Set<string>();
  for (const pair of text.split(',').map((one) => one.trim())) {
    if (pair === '' && text.trim() === '') break;
    const [, key, value = ''] = /^([\x21-\x2b\x2d-\x7e]+)(?: ([A-Za-z0-9+/]*={0,2}))?$/.exec(pair) ?? [];
    if (key === undefined) throw invalid('The header Upload-Metadata is malformed.');
    if (keys.has(key)) throw invalid(`Upload-Metadata has the key ${key} twice.`);
    keys.add(key);
    const header = Object.hasOwn(headerOfKey, key) ? headerOfKey[key] : undefined;
    if (header !== undefined) found[header] = fromBase64(value, `Upload-Metadata: ${key}`);
  }
  return found;
}

function fromBase64(value: string, name: string): string {
  try {
    return atob(value);
  } catch {
    throw invalid(`${name} is no base64.`);
  }
}

export interface PieceChecksum {
  readonly algorithm: string;
  /** Lower-case hexadecimal. */
  readonly digest: string;
}

/** Reads `Upload-Checksum`; null without one. @throws Problem `invalidRequest` */
export function readPieceChecksum(headers: HeaderValues): PieceChecksum | null {
  const text = headers['upload-checksum'];
  if (text === undefined) return null;
  const [algorithm = '', value = ''] = text.trim().split(' ');
  const bytes = Object.hasOwn(checksumBytes, algorithm) ? checksumBytes[algorithm] : undefined;
  if (bytes === undefined) throw invalid(`Upload-Checksum must name one of ${tusChecksums}.`);
  const digest = Array.from(fromBase64(value, 'Upload-Checksum'), (character) =>
    character.charCodeAt(0).toString(16).padStart(2, '0'),
  );
  if (digest.length !== bytes) throw invalid('Upload-Checksum is no digest of its algorithm.');
  return { algorithm, digest: digest.join('') };
}

const invalid = (message: string) => new Problem('invalidRequest', { message });
