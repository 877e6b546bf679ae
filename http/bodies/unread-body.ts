/** The rest of a request's body after the reply is out. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits } from '../../domain/limits.ts';

const graceSeconds = 10;

/**
 * A reply may go out before the request's body is in: a refused upload, or one whose bytes are known. The rest is read
 * and dropped, which keeps the connection. After a refusal that lasts for a moment. After a success it lasts as long as
 * the bytes come as an upload's have to: most clients send all of a body that is not refused, and a cut connection would
 * make them send it once more.
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
