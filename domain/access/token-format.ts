/**
 * The form of every token (decisions 3): a prefix that names the kind, 43 random characters (256 bits), and 6
 * characters holding the CRC-32 of all before them. Most garbage is thereby refused without a database read.
 */
export const tokenPrefixes = {
  access: 'hat_',
  refresh: 'hrf_',
  offline: 'hot_',
  runner: 'hrt_',
  ingest: 'his_',
} as const;
export type TokenFamily = keyof typeof tokenPrefixes;

/** Finds our tokens in leaked text: logs, commits, pastes. */
export const leakedTokenPattern = '\\b(?:hat|hrf|hot|hrt|his)_[0-9A-Za-z]{49}\\b';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomCharacters = 43;
const checksumCharacters = 6;
export const tokenRandomBytes = 32;
const tokenShape = /^(hat|hrf|hot|hrt|his)_[0-9A-Za-z]{49}$/;
const familyByPrefix = new Map<string, TokenFamily>(
  Object.entries(tokenPrefixes).map(([family, prefix]) => [prefix, family as TokenFamily]),
);

const crcTable = Uint32Array.from({ length: 256 }, (_unused, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** CRC-32 (IEEE) of ASCII text. */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let at = 0; at < text.length; at += 1) {
    crc = (crcTable[(crc ^ text.charCodeAt(at)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function base62(value: bigint, characters: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text;
  return text.padStart(characters, '0');
}

/** Builds a token from 32 random bytes. Throws for any other length. */
export function formatToken(family: TokenFamily, random: Uint8Array): string {
  if (random.length !== tokenRandomBytes) throw new Error('A token needs 32 random bytes.');
  let value = 0n;
  for (const byte of random) value = (value << 8n) | BigInt(byte);
  const body = tokenPrefixes[family] + base62(value, randomCharacters);
  return body + base62(BigInt(crc32(body)), checksumCharacters);
}

/** The family of a well-formed token, or null for wrong shape or checksum. Says nothing of its validity. */
export function tokenFamily(value: string): TokenFamily | null {
  if (!tokenShape.test(value)) return null;
  const body = value.slice(0, -checksumCharacters);
  if (base62(BigInt(crc32(body)), checksumCharacters) !== value.slice(-checksumCharacters)) return null;
  return familyByPrefix.get(value.slice(0, 4)) ?? null;
}

/** A token anywhere in a text, also with letters right before or after it. */
export const tokenWithin = new RegExp(leakedTokenPattern.replaceAll('\\b', ''));

/**
 * Whether a text contains something of a token's form: names that programs choose are stored and shown, so a name that
 * holds a token by mistake is refused.
 */
export function holdsToken(text: string): boolean {
  return tokenWithin.test(text);
}

/** The last four characters: part of the checksum, so they reveal nothing of the secret. */
export function tokenHint(value: string): string {
  return value.slice(-4);
}
