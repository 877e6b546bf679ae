/** Stored gzip as plain bytes. */
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { TaskFailure } from '../errors.ts';

/**
 * The decoded bytes.
 *
 * Where the decoder fails, the rest of the stored bytes is read before the failure is reported: bytes that were damaged on the
 * way differ from their SHA-256, which is checked at their end, and that failure comes first.
 */
export function unzip(stored: Readable): Readable {
  const decoder = createGunzip();
  const plain = Readable.from(decode(stored, decoder), { objectMode: false });
  const destroy = plain._destroy;
  // At once: the decoder may wait for bytes that come late.
  plain._destroy = function (this: Readable, error, callback) {
    stored.destroy();
    decoder.destroy();
    destroy.call(this, error, callback);
  };
  return plain;
}

async function* decode(stored: Readable, decoder: Gunzip): AsyncGenerator<Buffer, void, void> {
  stored.once('error', (fault) => decoder.destroy(fault)).pipe(decoder);
  try {
    yield* decoder;
  } catch (error) {
    if (!isBroken(error)) throw error;
    await finished(stored.unpipe(decoder).resume(), { writable: false });
    throw new TaskFailure('validation', `its gzip is broken: ${error.message}`, { cause: error });
  }
}

/** What the decoder itself finds in the bytes. */
function isBroken(error: unknown): error is Error {
  return (
    error instanceof Error &&
    'code' in error &&
    /^Z_(DATA_ERROR|BUF_ERROR|NEED_DICT)$/.test(String(error.code))
  );
}
