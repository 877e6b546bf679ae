/** The rest of a request's body after the reply was sent. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits } from '../../domain/limits.ts';

const graceSeconds = 10;

/**
 * A reply may be sent before the request's body has arrived: a refused upload, or one whose bytes are known. The rest
 * is read and dropped, so that the connection stays open. After a refusal this lasts a moment. After a success it lasts
 * while the bytes arrive at an upload's minimum speed: most clients send the whole body, and a cut connection would
 * make them send it again.
 */
export function limitUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  const isRefused = response.statusCode >= 400;
  response.once('finish', () => {
    if (request.complete) return;
    const { socket } = request;
    const firstBytes = socket.bytesRead;
    let bytesBefore = firstBytes;
    request.resume();
    const timer = setInterval(() => {
      const bytes = socket.bytesRead;
      const isSlow = bytes - bytesBefore < graceSeconds * limits.slowUploadBytesPerSecond;
      bytesBefore = bytes;
      if (request.complete) clearInterval(timer);
      else if (isRefused || isSlow || bytes - firstBytes > limits.uploadBytesDefault) socket.destroy();
    }, graceSeconds * 1000).unref();
    request.once('close', () => clearInterval(timer));
  });
}
