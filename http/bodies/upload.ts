/** The bytes of a request: read only when a handler opens them, and cut when they arrive too slowly (decisions 8). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';

export type SlowLimits = { readonly bytesPerSecond: number; readonly windowSeconds: number };

const slowUpload: SlowLimits = {
  bytesPerSecond: limits.slowUploadBytesPerSecond,
  windowSeconds: limits.slowUploadSeconds,
};

const expectsContinue = new WeakSet<IncomingMessage>();

/** Marks that this caller waits for `100 Continue`, which is sent only when the body is opened. */
export function rememberContinue(request: IncomingMessage): void {
  expectsContinue.add(request);
}

/**
 * Opens a request's bytes. `onSlow` runs, once, when fewer than `bytesPerSecond` arrived on average during a whole
 * window in which we were ready for more; time in which our own side did not read does not count. After it the
 * stream is destroyed with a 408 problem.
 */
export function openBody(
  request: IncomingMessage,
  response: ServerResponse,
  onSlow: (problem: Problem) => Promise<unknown>,
  slow: SlowLimits = slowUpload,
): IncomingMessage {
  if (expectsContinue.delete(request)) response.writeContinue();
  if (request.complete) return request;
  const minBytes = slow.bytesPerSecond * slow.windowSeconds;
  let windowStartMs = performance.now();
  let bytesAtStart = request.socket.bytesRead;
  const restart = () => {
    windowStartMs = performance.now();
    bytesAtStart = request.socket.bytesRead;
  };
  const timer = setInterval(
    () => {
      if (request.complete || request.destroyed) clearInterval(timer);
      // Bytes are waiting to be read, so the caller is not the slow side.
      else if (request.readableLength > 0) restart();
      else if (performance.now() - windowStartMs >= slow.windowSeconds * 1000) {
        if (request.socket.bytesRead - bytesAtStart >= minBytes) restart();
        else {
          clearInterval(timer);
          const problem = new Problem('requestTimeout');
          void onSlow(problem).finally(() => request.destroy(problem));
        }
      }
    },
    Math.min(1000, (slow.windowSeconds * 1000) / 4),
  ).unref();
  request.once('close', () => clearInterval(timer));
  request.once('end', () => clearInterval(timer));
  return request;
}
