/** Files as streams: from a place on, and not faster than allowed. */
import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileReader } from 'tus-js-client';

export interface PathReading {
  /** The file as it was before its first byte was sent. */
  readonly file: Stats;
  readonly bytesPerSecond: number | undefined;
  /** Called with the place from which it is read. */
  readonly onRead: (start: number) => void;
  /** Called when its last byte was read. */
  readonly onEnd: () => void;
  /** Aborted with the error when the file cannot be read on, which tus-js-client would not hear; aborting it closes the file. */
  readonly over: AbortController;
}

/** Reads a file by its path, so that every try begins where the upload is. */
export function pathReader(path: string, reading: PathReading): FileReader {
  const { file, bytesPerSecond, onRead, onEnd, over } = reading;
  const { size } = file;
  const slice = (start: number, end: number): Readable & { size?: number } => {
    const to = Math.min(end, size);
    const bytes = createReadStream(path, { start, end: to - 1 });
    const passed = throttled(bytesPerSecond, () => requireUnchanged(path, file));
    // A request that breaks leaves its body as it is, and with it the open file.
    pipeline(bytes, passed, { signal: over.signal }).then(onEnd, (error) => over.abort(error));
    return Object.assign(passed, { size: to - start });
  };
  const source = {
    size,
    async slice(start: number, end: number) {
      onRead(start);
      if (start >= size) return { value: null, done: true };
      return { value: slice(start, end), done: end >= size };
    },
    close() {},
  };
  return { openFile: async () => source };
}

/**
 * A file that is written anew while it is sent in pieces must not become an output of its old and new bytes. One that is
 * moved away meanwhile is sent to its end.
 */
export async function requireUnchanged(path: string, { size, mtimeMs }: Stats): Promise<void> {
  const now = await stat(path).catch(() => undefined);
  if (now !== undefined && (now.size !== size || now.mtimeMs !== mtimeMs))
    throw new Error('The file changed while it was being sent.');
}

/** Passes bytes on at this rate, on average over a second. @param check is done before each piece and at the end */
export function throttled(bytesPerSecond: number | undefined, check: () => Promise<void>): Transform {
  const startedAtMs = performance.now();
  let passedBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passedBytes += chunk.length;
      const dueMs = bytesPerSecond === undefined ? 0 : (passedBytes / bytesPerSecond) * 1000;
      const waitMs = dueMs - (performance.now() - startedAtMs);
      const waited = waitMs > 0 ? sleep(waitMs) : Promise.resolve();
      waited.then(check).then(() => done(null, chunk), done);
    },
    flush(done) {
      check().then(() => done(), done);
    },
  });
}
