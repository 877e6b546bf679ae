/**
 * A last net under the rule that tokens and addresses of people are never written down (decisions 3 and 6): what passes
 * through it on its way into a log line or an error body carries none, even where a library's own message quoted one.
 */
import { tokenWithin } from './access/token-format.ts';

const token = new RegExp(tokenWithin, 'g');
/** Plain or percent-encoded. Bounded, so that a long text without an `@` at its end costs no time. */
const address =
  /[\p{L}\p{M}\p{N}.!#$&'*+^_`{|}~-]{1,256}(?:@|%40)(?:\[[0-9A-Fa-f.:]{2,64}\]|[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}.-]{0,255})/giu;

const redactedToken = '[token]';
const redactedAddress = '[address]';

/** The same text with `[token]` and `[address]` in place of tokens and of everything of the form of an address. */
export function redacted(text: string): string {
  const withoutTokens = text.includes('_') ? text.replace(token, redactedToken) : text;
  return withoutTokens.includes('@') || withoutTokens.includes('%40')
    ? withoutTokens.replace(address, redactedAddress)
    : withoutTokens;
}
