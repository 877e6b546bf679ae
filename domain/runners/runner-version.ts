import { limits } from '../limits.ts';
import { redacted } from '../redact.ts';

/** What a runner says of its version in User-Agent, fit to be stored and shown; null for nothing. */
export function runnerVersion(userAgent: string | undefined): string | null {
  if (userAgent === undefined) return null;
  const printable = userAgent.replace(/[^\x20-\x7e]+/g, ' ').replace(/ {2,}/g, ' ');
  const version = redacted(printable).trim().slice(0, limits.runnerVersionCharacters).trimEnd();
  return version === '' ? null : version;
}
