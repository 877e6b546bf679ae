/**
 * Puts of small bytes without the SDK, which costs 0.4 ms of processor time for each where this costs 0.1: nearly every
 * output of a runner is one. It knows success alone: after anything else the caller puts the bytes by the SDK, which
 * knows errors, retries and clocks.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import aws4 from 'aws4';
import { isRefusedHost, lookupWithin, type Reach } from '../connection/reach.ts';
import { objectContentType } from './body.ts';
import { regionOf } from './client.ts';
import type { S3Access } from './data-sources.ts';

/** Larger bytes cost as much either way. */
export const directBytesAtMost = 256 * 1024;
/** A store that is silent for longer is left to the SDK. */
const silentMs = 5_000;
/** How long the SDK does the puts after a failure: else each put would ask a store that is away twice. */
const restMs = 10_000;
/** How long a connection is kept without a request. */
const idleMs = 60_000;
/** Paths that are signed as they are sent, whatever encoding a store applies. */
const plainPath = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;

export interface DirectObject {
  readonly bucket: string;
  readonly key: string;
  readonly bytes: Buffer;
  /** Lower-case hexadecimal; it is signed, so that the store refuses other bytes. */
  readonly sha256: string;
  /** Aborting it ends the request. */
  readonly signal: AbortSignal;
}

/** Direct puts to one store. */
export class DirectPuts {
  readonly #endpoint: URL;
  readonly #access: S3Access;
  readonly #reach: Reach;
  readonly #request: typeof httpRequest;
  readonly #agent: HttpAgent;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  /** Undefined for a store that needs the SDK: of another form of address, or without keys of its own. */
  static to(access: S3Access, reach: Reach): DirectPuts | undefined {
    const endpoint = URL.parse(access.endpoint);
    const hasKeys = access.usesOwnIdentity !== true && access.accessKeyId !== '';
    if (endpoint === null || endpoint.pathname !== '/' || endpoint.search !== '') return undefined;
    return access.forcePathStyle && hasKeys ? new DirectPuts(endpoint, access, reach) : undefined;
  }

  private constructor(endpoint: URL, access: S3Access, reach: Reach) {
    this.#endpoint = endpoint;
    this.#access = access;
    this.#reach = reach;
    const isSecure = endpoint.protocol === 'https:';
    this.#request = isSecure ? httpsRequest : httpRequest;
    const options = { keepAlive: true, maxFreeSockets: 32, timeout: idleMs, lookup: lookupWithin(reach) };
    this.#agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** @returns the store's etag as it was sent; undefined when the SDK should put the object */
  async put(object: DirectObject): Promise<string | undefined> {
    if (performance.now() < this.#restUntilMs || !plainPath.test(`${object.bucket}/${object.key}`))
      return undefined;
    if (isRefusedHost(this.#endpoint.hostname, this.#reach)) return undefined;
    return await this.#send(object);
  }

  #send(object: DirectObject): Promise<string | undefined> {
    return new Promise((resolve) => {
      const fail = (rests: boolean) => {
        if (rests && !object.signal.aborted) this.#restUntilMs = performance.now() + restMs;
        resolve(undefined);
      };
      const sent = this.#request(this.#signed(object), (answer) => {
        answer.on('error', () => undefined).resume();
        if (answer.statusCode === 200 && answer.headers.etag !== undefined) resolve(answer.headers.etag);
        else fail(true);
      });
      sent.setTimeout(silentMs, () => sent.destroy());
      // A store may close a kept connection at any time: that says nothing of it.
      sent.on('error', () => fail(!sent.reusedSocket));
      sent.end(object.bytes);
    });
  }

  #signed({ bucket, key, bytes, sha256, signal }: DirectObject) {
    const { hostname, host, port } = this.#endpoint;
    const { accessKeyId, secretAccessKey } = this.#access;
    const headers = {
      Host: host,
      'Content-Length': bytes.length,
      'Content-Type': objectContentType,
      'X-Amz-Content-Sha256': sha256,
    };
    const options = {
      service: 's3',
      region: regionOf(this.#access),
      method: 'PUT',
      hostname: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      path: `/${bucket}/${key}`,
      headers,
    };
    return { ...aws4.sign(options, { accessKeyId, secretAccessKey }), agent: this.#agent, signal };
  }

  close(): void {
    this.#agent.destroy();
  }
}
