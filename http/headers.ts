/** Parses and formats header values. */

/** RFC 9110, 5.6.2 and 5.6.4. A colon is not allowed in a token, but callers write times and addresses that way. */
const tokenCharacters = "\\w!#$%&'*+.^`|~-";
const token = `[${tokenCharacters}]+`;
const quoted = String.raw`"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e]|\\[\t\x20-\x7e])*"`;
const value = `${quoted}|[:${tokenCharacters}]+`;
/**
 * RFC 9110, 8.3.1, without the wildcards of an Accept header. A space can be matched in one way only: with two, the time
 * doubles with each `; ` of a header that is no media type in the end.
 */
const mediaType = new RegExp(
  `^(?!\\*)${token}/(?!\\*)${token}(?:[ \\t]*;(?:[ \\t]*${token}=(?:${value}))?)*$`,
);

/** A stored Content-Type in a form that is safe to send: only real media types of up to 255 characters, else bytes. */
export function safeMediaType(stored: string | null | undefined): string {
  if (stored === null || stored === undefined || stored.length > 255) return 'application/octet-stream';
  const trimmed = stored.trim();
  return mediaType.test(trimmed) ? trimmed : 'application/octet-stream';
}
