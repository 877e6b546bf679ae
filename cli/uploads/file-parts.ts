/** Files as streams: from a place on, and not faster than allowed. */
import { createReadStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileReader } from 'tus-js-client';

/** Reads a file by its path, so that every try begins where the upload is. */
export function pathReader(path: string, size: number, bytesPerSecond: number | undefined): FileReader {
  const slice = (start: number, end: number): Readable & { size?: number } => {
    const to = Math.min(end, size);
    const bytes = createReadStream(path, { start, end: to - 1 });
    if (bytesPerSecond === undefined) return Object.assign(bytes, { size: to - start });
    const slow = throttled(bytesPerSecond);
    bytes.on('error', (error) => slow.destroy(error)).pipe(slow);
    return Object.assign(slow, { size: to - start });
  };
  const source = {
    size,
    async slice(start: number, end: number) {
      if (start >= size) return { value: null, done: true };
      return { value: slice(start, end), done: end >= size };
    },
    close() {},
  };
  return { openFile: async () => source };
}

/** Passes bytes on at this rate, on average over a second. */
export function throttled(bytesPerSecond: number): Transform {
  const startedAtMs = performance.now();
  let passedBytes = 0;
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      passedBytes += chunk.length;
      const dueMs = (passedBytes / bytesPerSecond) * 1000;
      await sleep(Math.max(0, dueMs - (performance.now() - startedAtMs)));
      done(null, chunk);
    },
  });
}
