import { S3Client, type ServiceInputTypes, type ServiceOutputTypes } from '@aws-sdk/client-s3';
import type { FinalizeRequestMiddleware } from '@smithy/types';
import { isRefusedHost, lookupWithin, type Reach, refusal } from '../connection/reach.ts';
import type { S3Access } from './data-sources.ts';
import { httpStatusOf } from './errors.ts';

const connectMs = 5_000;
/** A request fails when its store is silent for this long. Completing a large object takes time. */
const silentMs = 300_000;

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
    region: regionOf(access),
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
      if (isRefusedHost(hostname, reach)) throw refusal();
      return next(args);
    },
    { step: 'finalizeRequest', name: 'refuseInnerAddresses' },
  );
  retryAfterClockSteps(client);
  return client;
}

/** The SDK adopts the store's time with each answer. */
const clockStepMs = 240_000;

/**
 * Lets the SDK retry a request that was refused because the clock had stepped. On its own it does so only where the
 * clock is then off, and not when the clock has come back.
 */
function retryAfterClockSteps({ config, middlewareStack }: S3Client): void {
  const marked: FinalizeRequestMiddleware<ServiceInputTypes, ServiceOutputTypes> = (next) => async (args) => {
    const before = config.systemClockOffset;
    try {
      return await next(args);
    } catch (error) {
      const isCorrected = Math.abs(config.systemClockOffset - before) >= clockStepMs;
      if (isCorrected && httpStatusOf(error) === 403) Object.assign(error as object, { $retryable: {} });
      throw error;
    }
  };
  const place = { relation: 'before', toMiddleware: 'httpSigningMiddleware' } as const;
  middlewareStack.addRelativeTo(marked, { ...place, name: 'retryAfterClockSteps' });
}

function keysOf({ accessKeyId, secretAccessKey }: S3Access) {
  return { accessKeyId, secretAccessKey };
}

/** What the signature names; stores without regions accept this one. */
export const regionOf = ({ region }: S3Access): string => (region === '' ? 'us-east-1' : region);

const nothing = () => undefined;
/** The error that we throw holds what matters of a failure. */
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, trace: nothing };
