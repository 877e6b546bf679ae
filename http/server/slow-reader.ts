/** Cuts callers that request bytes and do not read them, to free their resources for others. */
import type { ServerResponse } from 'node:http';
import { limits } from '../../domain/limits.ts';

export type ReaderLimits = { readonly bytesPerSecond: number; readonly seconds: number };

const slowReader: ReaderLimits = {
  bytesPerSecond: limits.slowReaderBytesPerSecond,
  seconds: limits.slowReaderSeconds,
};

/**
 * Watches how fast a reply is read, until it was sent. Time counts only while bytes are ready for the caller: waiting
 * claims and event streams may be silent for any time. The bytes that are ready when a window begins must be read at
 * `bytesPerSecond`, but the limit is never below `seconds`; else the connection is destroyed.
 */
export function watchReader(response: ServerResponse, slow: ReaderLimits = slowReader): void {
  let readBefore = -1;
  let untilMs = 0;
  const timer = setInterval(
    () => {
      const { socket } = response;
      // Behind another reply on the same connection, or nothing is ready.
      if (socket === null || response.writableLength === 0) {
        readBefore = -1;
        return;
      }
      const read = socket.bytesWritten - socket.writableLength;
      if (read !== readBefore) {
        readBefore = read;
        const seconds = Math.max(slow.seconds, socket.writableLength / slow.bytesPerSecond);
        untilMs = performance.now() + seconds * 1000;
      } else if (performance.now() >= untilMs) response.destroy();
    },
    Math.min(5_000, (slow.seconds * 1000) / 4),
  ).unref();
  response.once('close', () => clearInterval(timer));
}
