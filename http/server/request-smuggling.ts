/** Whether a request is one that everybody between the caller and us reads alike. */
import type { IncomingMessage } from 'node:http';
import type { ProblemKey } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';

/**
 * What stands in front of us and we must mean the same host, and the same end of the body: one Host (HTTP/1.0 may name
 * none), and as transfer coding `chunked` alone, which HTTP/1.0 does not know. Null when nothing is wrong; Node itself
 * has refused what is no HTTP at all.
 */
export function faultOf({ rawHeaders, httpVersion, headers }: IncomingMessage): ProblemKey | null {
  if (rawHeaders.length / 2 > limits.headerFields) return 'headersTooLarge';
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
  if (hosts !== 1 && !(hosts === 0 && httpVersion === '1.0')) return 'malformedRequest';
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return null;
  return coding.trim().toLowerCase() === 'chunked' && httpVersion !== '1.0' ? null : 'malformedRequest';
}
