/** The embedded Temporal while it starts: what comes after it may begin, since its address is known before it serves. */
import type { Started, TemporalAddress } from './parts.ts';

export interface ComingTemporal {
  readonly server: Promise<Started<TemporalAddress>>;
  /**
   * Calls `use` with the address, and again with the next one when another program took the port. Ends as the call with
   * the last address does, and fails when Temporal does not start.
   */
  withAddress(use: (address: TemporalAddress) => Promise<void>): Promise<void>;
}

interface Choice {
  readonly address: TemporalAddress;
  /** Pending for ever when the server starts at this address. */
  readonly next: Promise<Choice>;
}

/** @param start reports each address that it chooses */
export function comingTemporal(
  start: (choose: (address: TemporalAddress) => void) => Promise<Started<TemporalAddress>>,
): ComingTemporal {
  let coming = choice();
  const first = coming.promise;
  const server = start((address) => {
    const next = choice();
    coming.resolve({ address, next: next.promise });
    coming = next;
  });
  server.catch((error: unknown) => coming.reject(error));
  return {
    server,
    async withAddress(use) {
      for (let chosen: Choice | undefined = await first; chosen !== undefined; ) {
        const work = use(chosen.address);
        // Of a call whose address was given up, nobody wants to know how it ended.
        work.catch(() => undefined);
        chosen = await Promise.race([work.then(() => undefined), chosen.next]);
      }
    },
  };
}

/** It may fail before anything waits for it. */
function choice() {
  const pending = Promise.withResolvers<Choice>();
  pending.promise.catch(() => undefined);
  return pending;
}
