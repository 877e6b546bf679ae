/** Header values in and out. */

/** Node reads header bytes as latin-1; callers send UTF-8. Text that is no UTF-8 stays as it is. */
export function utf8Header(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

const mediaType =
  /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(\s*;\s*[\w!#$&^.+-]+=("[\x20\x21\x23-\x5b\x5d-\x7e]*"|[\w!#$&^.+:-]+))*$/;

/** A stored Content-Type as it may be sent: only real media types of up to 255 characters, else bytes. */
export function safeMediaType(stored: string | null | undefined): string {
  if (stored === null || stored === undefined || stored.length > 255) return 'application/octet-stream';
  const trimmed = stored.trim();
  return mediaType.test(trimmed) ? trimmed : 'application/octet-stream';
}
