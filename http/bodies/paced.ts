/**
 * Sends the bytes of all downloads in portions. A caller that reads at once would get everything that the store has
 * ready before the event loop turns, so that hundreds of downloads would keep all other calls waiting for seconds.
 */
import { pipeline, type Readable, Transform } from 'node:stream';

/** About ten milliseconds of work. */
export const turnBytes = 1024 ** 2;

interface Waiting {
  readonly bytes: number;
  readonly pass: () => void;
}

const waiting: Waiting[] = [];
let leftBytes = turnBytes;
let isTurning = false;

/** The same bytes, at most {@link turnBytes} of all such streams in one turn of the event loop; first come, first served. */
export function paced(stream: Readable): Readable {
  const portions = new Transform({
    // One chunk is enough: a slow caller must not hold more.
    highWaterMark: 1,
    transform: (chunk: Buffer, _encoding, done) => waitForTurn(chunk.length, () => done(null, chunk)),
  });
  // The reply's own pipeline reports the failure; this one only ties the two streams together.
  return pipeline(stream, portions, () => undefined);
}

function waitForTurn(bytes: number, pass: () => void): void {
  waiting.push({ bytes, pass });
  serve();
}

function serve(): void {
  while (leftBytes > 0) {
    const next = waiting.shift();
    if (next === undefined) break;
    leftBytes -= next.bytes;
    next.pass();
  }
  if (isTurning) return;
  isTurning = true;
  setImmediate(() => {
    isTurning = false;
    leftBytes = turnBytes;
    if (waiting.length > 0) serve();
  });
}
