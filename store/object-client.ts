import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { S3Client } from '@aws-sdk/client-s3';
import { isLinkLocal } from '../domain/endpoint.ts';
import type { S3Access } from './data-sources.ts';

const connectMs = 5_000;
/** A store that is silent for so long while we wait for it is given up. Completing a large object takes its time. */
const silentMs = 300_000;

/** A client for one store; `destroy` it to free its connections. */
export function openClient(access: S3Access): S3Client {
  const agent = {
    keepAlive: true,
    maxSockets: Number.POSITIVE_INFINITY,
    maxFreeSockets: 32,
    timeout: silentMs,
    lookup: lookupStore,
  };
  return new S3Client({
    ...(access.endpoint === '' ? {} : { endpoint: access.endpoint }),
    region: access.region === '' ? 'us-east-1' : access.region,
    forcePathStyle: access.forcePathStyle,
    // Without keys the SDK looks for some by itself. A registered data source never gets those: they are the platform's.
    ...(access.usesOwnIdentity === true ? {} : { credentials: keysOf(access) }),
    // We hash what passes ourselves; a second checksum would cost a core-second for each few gigabytes.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    logger: silent,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: silentMs,
      // As options, not as agents: so requests that ask `Expect: 100-continue` get a connection of their own.
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

type LookedUp = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * The address of a store's host. A name that leads to the network link itself is as good as unknown, at whatever moment
 * it comes to do so. @param ask other than the system's own, for tests
 */
export function lookupStore(
  host: string,
  options: LookupOptions,
  done: LookedUp,
  ask: (host: string, options: LookupOptions, done: LookedUp) => void = lookup,
): void {
  ask(host, options, (error, address, family) => {
    const found = typeof address === 'string' ? [address] : (address ?? []).map((one) => one.address);
    if (error !== null || !found.some(isLinkLocal)) done(error, address, family);
    else done(Object.assign(new Error('The host is at a link-local address.'), { code: 'ENOTFOUND' }), '');
  });
}

function keysOf({ accessKeyId, secretAccessKey }: S3Access) {
  return { accessKeyId, secretAccessKey };
}

const nothing = () => undefined;
/** What matters of a failure is in the error that we throw. */
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, trace: nothing };
