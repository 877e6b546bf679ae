/** Stored gzip as plain bytes. */
import { finished, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/**
 * The decoded bytes; the reader sees the failure of either by the last stream.
 *
 * Where the decoder fails, the rest of the stored bytes is read before the failure is told: bytes that were damaged on the
 * way differ from their SHA-256, which is checked at their end, and that failure comes first.
 */
export function unzip(stored: Readable): Readable {
  const decoder = createGunzip();
  const destroy = decoder._destroy;
  decoder._destroy = function (this: Readable, error, callback) {
    destroy.call(this, error, (failure) => {
      if (!isBroken(error)) return callback(failure);
      stored.unpipe(decoder);
      finished(stored, { writable: false }, (fault) => callback(fault ?? error));
      stored.resume();
    });
  };
  return pipeline(stored, decoder, () => undefined);
}

/** What the decoder itself finds, not what its source or its reader does. */
function isBroken(error: Error | null): boolean {
  return error !== null && 'code' in error && String(error.code).startsWith('Z_');
}
