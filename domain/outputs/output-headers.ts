/**
 * Headers that describe an output being written: by runners and by uploads alike (contract: Runner rules 3; decisions
 * 8, 9).
 */

import { holdsToken } from '../access/token-format.ts';
import { Problem } from '../errors.ts';
import { limits } from '../limits.ts';
import { parseStrictJson } from '../strict-json.ts';
import { isFreeJson } from '../text.ts';

export type HeaderValues = Readonly<Record<string, string | undefined>>;

/** The caller's description of the output; null where a header is absent. */
export interface OutputHeaders {
  readonly outputIdentifier: string | null;
  readonly metadata: Record<string, unknown> | null;
}

export const outputIdentifierForm = new RegExp(`^[A-Za-z0-9._-]{1,${limits.outputIdentifierCharacters}}$`);

/**
 * Reads `X-Platform-Output-Identifier` and `X-Platform-Output-Metadata`.
 * @param headers by lower-case name, each byte as one character, as Node hands them over
 * @throws Problem `invalidOutputIdentifier`, `invalidOutputMetadata`
 */
export function readOutputHeaders(headers: HeaderValues): OutputHeaders {
  return {
    outputIdentifier: readIdentifier(headers['x-platform-output-identifier']),
    metadata: readMetadata(headers['x-platform-output-metadata']),
  };
}

function readIdentifier(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (!outputIdentifierForm.test(value) || holdsToken(value)) throw new Problem('invalidOutputIdentifier');
  return value;
}

function readMetadata(value: string | undefined): Record<string, unknown> | null {
  if (value === undefined) return null;
  if (value.length > limits.outputMetadataBytes) throw new Problem('invalidOutputMetadata');
  const text = decodeUtf8(value);
  const json = text === null ? null : parseStrictJson(text);
  if (json === null || !json.ok || !isFreeJson(json.value)) throw new Problem('invalidOutputMetadata');
  if (Object.keys(json.value).some((key) => key.startsWith('$'))) throw new Problem('invalidOutputMetadata');
  return json.value;
}

/** Header bytes reach us as one character each; callers write UTF-8. Null for bytes that are none. */
function decodeUtf8(value: string): string | null {
  const bytes = Uint8Array.from(value, (character) => character.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Reads `Content-Encoding` of an output: `gzip` is stored as it is, nothing else is known.
 * @throws Problem `unsupportedMediaType`
 */
export function readContentEncoding(value: string | undefined): 'gzip' | null {
  const coding = (value ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity') return null;
  if (coding === 'gzip' || coding === 'x-gzip') return 'gzip';
  throw new Problem('unsupportedMediaType', { message: 'Content-Encoding must be gzip or absent.' });
}

/**
 * The encoding that is stored with bytes: an empty body has none, because it cannot be decoded. Every place that writes
 * or compares an encoding asks here, or else a repeat of an empty upload would look like a new one.
 */
export function storedEncoding<T extends string>(sizeBytes: number, encoding: T | null): T | null {
  return sizeBytes === 0 ? null : encoding;
}

/** Digests that the caller sent of the body, in lower-case hexadecimal; null where absent. */
export interface SentDigests {
  readonly md5: string | null;
  readonly sha256: string | null;
}

/**
 * Reads `Content-MD5` and `x-amz-checksum-sha256`, both base64, and the `sha-256` of `Content-Digest` and `Repr-Digest`
 * (RFC 9530): a request carries the whole output, so both are of the same bytes. Other algorithms are passed over.
 * @throws Problem `checksumMismatch` for a value that is no such digest, and for some that differ
 */
export function readSentDigests(headers: HeaderValues): SentDigests {
  const [sha256 = null, ...others] = [
    headers['x-amz-checksum-sha256'],
    sha256Of(headers['content-digest']),
    sha256Of(headers['repr-digest']),
  ].flatMap((value) => readDigest(value, 32) ?? []);
  if (others.some((other) => other !== sha256)) throw new Problem('checksumMismatch');
  return { md5: readDigest(headers['content-md5'], 16), sha256 };
}

/** The base64 in `sha-256=:...:`, a member of a structured-field dictionary of which the last of a name counts. */
function sha256Of(value: string | undefined): string | undefined {
  const member = value
    ?.split(',')
    .map((text) => text.trim())
    .findLast((text) => text.split(/[=;]/, 1)[0] === 'sha-256');
  if (member === undefined) return undefined;
  return /^sha-256=:([^:]*):(;.*)?$/.exec(member)?.[1] ?? 'none';
}

function readDigest(value: string | undefined, byteCount: number): string | null {
  if (value === undefined) return null;
  const text = value.trim();
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? fromBase64(text) : null;
  if (bytes?.length !== byteCount) throw new Problem('checksumMismatch');
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function fromBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
