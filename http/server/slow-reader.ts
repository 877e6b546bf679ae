/** Callers who ask for bytes and do not take them: they are cut, so that what serves them is free for others. */
import type { ServerResponse } from 'node:http';
import { limits } from '../../domain/limits.ts';

export type ReaderLimits = { readonly bytesPerSecond: number; readonly seconds: number };

const slowReader: ReaderLimits = {
  bytesPerSecond: limits.slowReaderBytesPerSecond,
  seconds: limits.slowReaderSeconds,
};

/**
 * Watches how a reply is taken, until it is out. Time counts only while bytes lie ready for the caller: waiting claims
 * and event streams may be silent for as long as they like. What lies ready at the beginning of a window is to be
 * taken at `bytesPerSecond`, but never sooner than after `seconds`; else the connection is destroyed.
 */
export function watchReader(response: ServerResponse, slow: ReaderLimits = slowReader): void {
  let takenBefore = -1;
  let until = 0;
  const timer = setInterval(
    () => {
      const { socket } = response;
      // Behind another reply on the same connection, or nothing lies ready.
      if (socket === null || response.writableLength === 0) {
        takenBefore = -1;
        return;
      }
      const taken = socket.bytesWritten - socket.writableLength;
      if (taken !== takenBefore) {
        takenBefore = taken;
        const seconds = Math.max(slow.seconds, socket.writableLength / slow.bytesPerSecond);
        until = performance.now() + seconds * 1000;
      } else if (performance.now() >= until) response.destroy();
    },
    Math.min(5_000, (slow.seconds * 1000) / 4),
  ).unref();
  response.once('close', () => clearInterval(timer));
}
