/** Reads that each may hold many megabytes until their reply is made. */
import { KeyedLimiter } from './keyed-limiter.ts';

type InTurns = <T>(callerId: string, signal: AbortSignal, read: () => Promise<T>) => Promise<T>;

/** Reads of one kind are done a few at a time, and fewer of one caller. A caller that is gone by then gets none. */
function inTurns(): InTurns {
  const reads = new KeyedLimiter(4, 2);
  return (callerId, signal, read) =>
    reads.run(async () => {
      signal.throwIfAborted();
      return await read();
    }, callerId);
}

/** Metadata of hundreds of sessions. */
export const inMetadataReads = inTurns();
/** Whole dashboards, of hundreds of recordings with thousands of channels. */
export const inDashboardReads = inTurns();
