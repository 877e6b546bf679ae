/** From a caller's stream to bytes being stored: counted, bounded, aborted by a signal. */
import type { Readable } from 'node:stream';
import { whileBytesFlow } from './buffer-garbage.ts';
import { toObjectStoreError } from './errors.ts';
import { Intake, ObjectTooLarge, SourceBroken } from './intake.ts';
import { StagingFull } from './staging-area.ts';

export interface SourceOptions {
  /** More than this is ObjectTooLarge; default: no limit. */
  readonly maxBytes?: number;
  /** Also compute MD5. */
  readonly withMd5?: boolean;
  /** Also compute the CRC-32, for a store that gets the bytes as they come. */
  readonly withCrc32?: boolean;
  /** Aborting it stops the work. */
  readonly signal: AbortSignal;
  /** Whose share of the room for bytes on their way it uses; undefined: the platform's own. */
  readonly caller?: string | undefined;
  /** Called for each chunk that came. */
  readonly onBytes?: (count: number) => void;
}

/** What was received from a source. */
export interface StoredBytes {
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Lower-case hexadecimal; null unless requested. */
  readonly md5: string | null;
}

/**
 * Works on a stream, which is not destroyed when the work fails, only no longer read.
 * @throws ObjectTooLarge, SourceBroken, StagingFull; the signal's reason when it aborted; any other error of the work,
 *   unchanged where `isOwn` accepts it, else as an ObjectStoreError
 */
export async function withIntake<T>(
  source: Readable,
  options: SourceOptions,
  work: (intake: Intake) => Promise<T>,
  isOwn: (error: unknown) => boolean = () => false,
): Promise<T> {
  const intake = new Intake(source, {
    maxBytes: options.maxBytes ?? Number.POSITIVE_INFINITY,
    withMd5: options.withMd5 ?? false,
    withCrc32: options.withCrc32 ?? false,
    ...(options.onBytes === undefined ? {} : { onBytes: options.onBytes }),
  });
  const onAbort = () => intake.stop(reasonOf(options.signal));
  options.signal.addEventListener('abort', onAbort, { once: true });
  if (options.signal.aborted) onAbort();
  const ended = whileBytesFlow();
  try {
    return await work(intake);
  } catch (error) {
    if (isOwn(error)) throw error;
    if (options.signal.aborted) throw reasonOf(options.signal);
    const { failure } = intake;
    if (error instanceof StagingFull) throw error;
    throw failure instanceof ObjectTooLarge || failure instanceof SourceBroken
      ? failure
      : toObjectStoreError(error);
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    intake.release();
    ended();
  }
}

export function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('Broken off.');
}
