/** Checks that every proxy between the caller and us reads a request the same way. */
import type { IncomingMessage } from 'node:http';
import type { ProblemKey } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';

/**
 * A proxy in front of us and we must agree on the host and the end of the body: one Host (HTTP/1.0 may have none), and
 * `chunked` as the only transfer coding, which HTTP/1.0 does not know. Null when nothing is wrong; Node itself has
 * refused invalid HTTP.
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
