/** Reads that each may hold a hundred megabytes of metadata until their reply is made. */
import { KeyedLimiter } from './keyed-limiter.ts';

const reads = new KeyedLimiter(4, 2);

/**
 * Does such a read when it is its turn: a few are done at a time, and fewer of one caller.
 * @param signal a caller that is gone by then gets no read
 */
export function inLongReads<T>(callerId: string, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  return reads.run(async () => {
    signal.throwIfAborted();
    return await read();
  }, callerId);
}
