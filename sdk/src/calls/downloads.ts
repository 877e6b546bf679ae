/** Downloads, from the store where the platform names an address there. */
import type { IncomingMessage } from 'node:http';
import type { HttpClient } from './http-request.ts';

/** A store that cannot be reached from here is not tried again for this long. */
const restMs = 300_000;
/** How long a store may be silent before its answer begins. */
const silenceMs = 10_000;

export interface DownloadRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

/** Opens all bytes of routes: at the store, or through the platform when that fails. */
export class Downloads {
  readonly #http: HttpClient;
  #restsUntilMs = 0;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /**
   * @param atPlatform makes the platform's call with a query: `?redirect=true`, or nothing
   * @throws what `atPlatform` throws; the signal's reason when it is aborted
   */
  async open(
    atPlatform: (query: string) => Promise<IncomingMessage>,
    { headers, signal }: DownloadRequest,
  ): Promise<IncomingMessage> {
    if (performance.now() < this.#restsUntilMs) return await atPlatform('');
    const answer = await atPlatform('?redirect=true');
    if (answer.statusCode !== 307) return answer;
    answer.resume();
    const { location = '', etag, 'x-platform-size-bytes': sizeBytes } = answer.headers;
    const found = await this.#openAt(location, { headers, signal });
    // What answers in place of a store sends other bytes.
    if (found === undefined || found.headers['content-length'] !== sizeBytes) {
      found?.destroy();
      this.avoidStore();
      return await atPlatform('');
    }
    // The platform's tag is the same for both ways, so a read may begin at one and continue at the other.
    if (etag === undefined) delete found.headers.etag;
    else found.headers.etag = etag;
    return found;
  }

  /** Reads through the platform for a while: the store, or another server at its address, failed or sent other bytes. */
  avoidStore(): void {
    this.#restsUntilMs = performance.now() + restMs;
  }

  async #openAt(address: string, { headers, signal }: DownloadRequest): Promise<IncomingMessage | undefined> {
    const url = URL.parse(address);
    if (url === null) return undefined;
    try {
      const found = await this.#http.open({
        method: 'GET',
        url,
        // The token and all else are for the platform alone.
        headers: { 'accept-encoding': headers['accept-encoding'] ?? 'identity' },
        silenceMs,
        signal,
      });
      if ((found.statusCode ?? 0) < 300) return found;
      found.destroy();
      return undefined;
    } catch {
      signal?.throwIfAborted();
      return undefined;
    }
  }
}
