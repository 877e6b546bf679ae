/** What goes wrong with bytes that come in, as the problem that their caller gets: plain, in parts and in pieces alike. */
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { SentDigests } from '../../domain/outputs/output-headers.ts';
import { ObjectStoreError, ObjectTooLarge, SourceBroken } from '../../store/objects/object-store.ts';
import { StagingFull } from '../../store/objects/staging-area.ts';

/**
 * The problem for an error that broke off the receiving of bytes. Any other error, also one of the object store, comes
 * back as it is: callers differ in what they make of it.
 * @param options `tooLarge`: the refusal for more bytes than allowed; `signal`: aborted when the caller hangs up, which
 *   explains every later error
 */
export function bytesProblem(
  error: unknown,
  { tooLarge, signal }: { readonly tooLarge: Problem; readonly signal?: AbortSignal },
): unknown {
  if (error instanceof ObjectTooLarge) return tooLarge;
  if (error instanceof StagingFull) return stagingProblem(error);
  if (error instanceof SourceBroken || signal?.aborted) {
    const cause = (error as Error).cause;
    // The caller was too slow and has its answer already, or hung up and reads none.
    return cause instanceof Problem ? cause : new Problem('malformedRequest', { cause: error });
  }
  return error;
}

/** No failure: this process has more staged bytes than it may hold, and the caller should retry. */
function stagingProblem(cause: StagingFull): Problem {
  const headers = { 'retry-after': String(limits.stagingRetryAfterSeconds) };
  return new Problem('unavailable', { headers, cause });
}

/** `unavailable` for an error of the object store, so that the caller retries; any other error as it is. */
export function storeProblem(error: unknown): unknown {
  return error instanceof ObjectStoreError ? new Problem('unavailable', { cause: error }) : error;
}

/**
 * Compares the digests that a caller sent with those of the bytes that came.
 * @throws Problem `checksumMismatch`
 */
export function checkDigests(
  sent: SentDigests,
  stored: { readonly md5: string | null; readonly sha256: string },
): void {
  if (sent.sha256 !== null && sent.sha256 !== stored.sha256) throw new Problem('checksumMismatch');
  if (sent.md5 !== null && sent.md5 !== stored.md5) throw new Problem('checksumMismatch');
}
