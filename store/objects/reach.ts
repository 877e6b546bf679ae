/** Where object stores may be. */
import { isEndpointAllowed, isLinkLocal, readEndpoint } from '../../domain/network/endpoint.ts';
import type { Reach } from '../connection/reach.ts';

export class ObjectReach {
  readonly #own: string;
  readonly #allowlist: readonly string[] | undefined;

  /** @param own endpoint of the platform's own store */
  constructor(own: string, allowlist: readonly string[] | undefined) {
    this.#own = own;
    this.#allowlist = allowlist;
  }

  /**
   * Whether a data source may be registered at this endpoint, by its text; where it leads is checked when it is used.
   */
  isAllowed(endpoint: string): boolean {
    const url = readEndpoint(endpoint);
    if (url === null || isLinkLocal(url.hostname)) return false;
    return this.#allowlist === undefined || isEndpointAllowed(url, this.#allowlist);
  }

  /** Into this network only as the environment says: to the platform's own store, and to hosts allowed by name. */
  of(endpoint: string): Reach {
    if (endpoint === this.#own) return { inside: true };
    const url = readEndpoint(endpoint);
    const isOwn = url !== null && url.origin === readEndpoint(this.#own)?.origin;
    return { inside: isOwn || (url !== null && isEndpointAllowed(url, this.#allowlist ?? [])) };
  }
}
