import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { S3Client } from '@aws-sdk/client-s3';
import { isLinkLocal } from '../../domain/network/endpoint.ts';
import { isAddress, isInnerAddress } from '../../domain/network/inner-address.ts';
import type { S3Access } from './data-sources.ts';

const connectMs = 5_000;
/** A request fails when its store is silent for this long. Completing a large object takes time. */
const silentMs = 300_000;

/** Where a client may connect to. */
export interface Reach {
  /** Also to addresses of the inside of this network; never to those of the network link. */
  readonly inside: boolean;
}

/** A client for one store; `destroy` it to free its connections. */
export function openClient(access: S3Access, reach: Reach): S3Client {
  const agent = {
    keepAlive: true,
    maxSockets: Number.POSITIVE_INFINITY,
    maxFreeSockets: 32,
    timeout: silentMs,
    lookup: lookupWithin(reach),
  };
  const client = new S3Client({
    ...(access.endpoint === '' ? {} : { endpoint: access.endpoint }),
    region: access.region === '' ? 'us-east-1' : access.region,
    forcePathStyle: access.forcePathStyle,
    // Without keys the SDK searches for some on its own. A registered data source never gets those: they are the
    // platform's.
    ...(access.usesOwnIdentity === true ? {} : { credentials: keysOf(access) }),
    // We hash the bytes ourselves; a second checksum would cost a core-second for each few gigabytes.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    logger: silent,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: silentMs,
      // As options, not as agents: so requests with `Expect: 100-continue` get a connection of their own.
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
  // An address that is written out is never looked up, so it is checked when the request is sent.
  client.middlewareStack.add(
    (next) => (args) => {
      const { hostname } = args.request as { readonly hostname: string };
      if (isAddress(hostname) && isRefused(hostname, reach)) throw refusal();
      return next(args);
    },
    { step: 'finalizeRequest', name: 'refuseInnerAddresses' },
  );
  return client;
}

type Resolved = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

type Lookup = (host: string, options: LookupOptions, done: Resolved) => void;

/**
 * Looks up the address of a store's host. A name that leads to a forbidden address fails as unknown, whenever it starts
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

function isRefused(address: string, reach: Reach): boolean {
  return isLinkLocal(address) || (!reach.inside && isInnerAddress(address));
}

function refusal(): Error {
  const message = 'The host is at an address of the inside that no data source may reach.';
  return Object.assign(new Error(message), { code: 'ENOTFOUND' });
}

function keysOf({ accessKeyId, secretAccessKey }: S3Access) {
  return { accessKeyId, secretAccessKey };
}

const nothing = () => undefined;
/** The error that we throw holds what matters of a failure. */
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, trace: nothing };
