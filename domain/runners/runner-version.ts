import { limits } from '../limits.ts';
import { redacted } from '../redact.ts';

/** A runner's version from User-Agent, safe to store and show; null when absent. */
export function runnerVersion(userAgent: string | undefined): string | null {
  if (userAgent === undefined) return null;
  const printable = userAgent.replace(/[^\x20-\x7e]+/g, ' ').replace(/ {2,}/g, ' ');
  const version = redacted(printable).trim().slice(0, limits.runnerVersionCharacters).trimEnd();
  return version === '' ? null : version;
}
