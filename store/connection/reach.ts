/** Where the platform connects to on behalf of a caller: addresses are judged after resolution, in the connection itself. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isLinkLocal } from '../../domain/network/endpoint.ts';
import { isAddress, isInnerAddress } from '../../domain/network/inner-address.ts';

/** Where a client may connect to. */
export interface Reach {
  /** Also to addresses of the inside of this network; never to those of the network link. */
  readonly inside: boolean;
  /** Whether an address of the inside is admitted by itself. */
  readonly admits?: (address: string) => boolean;
}

type Resolved = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

type Lookup = (host: string, options: LookupOptions, done: Resolved) => void;

/**
 * Looks up the address of a host. A name that leads to a forbidden address fails as unknown, whenever it starts
 * to do so. @param ask other than the system's own, for tests
 */
export function lookupWithin(reach: Reach, ask: Lookup = lookup): Lookup {
  return (host, options, done) =>
    ask(host, options, (error, address, family) => {
      const found = typeof address === 'string' ? [address] : (address ?? []).map((one) => one.address);
      if (error !== null || !found.some((one) => isRefused(one, reach))) done(error, address, family);
      else done(refusal(), '');
    });
}

/** @param address as {@link isInnerAddress} */
function isRefused(address: string, reach: Reach): boolean {
  if (isLinkLocal(address)) return true;
  return !reach.inside && isInnerAddress(address) && reach.admits?.(address) !== true;
}

/** The same for a host that is written as an address: it is never looked up, so it is judged before each request. */
export function isRefusedHost(host: string, reach: Reach): boolean {
  return isAddress(host) && isRefused(host, reach);
}

/** As if the host did not exist: all failures to reach a host read alike. */
export function refusal(): Error {
  const message = 'The host has an internal address that may not be used.';
  return Object.assign(new Error(message), { code: 'ENOTFOUND' });
}
