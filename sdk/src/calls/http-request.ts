/** One HTTP request, without repeats. Used by the main thread and the heartbeat thread. */
import {
  Agent,
  type AgentOptions,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { type ApiError, NetworkError, refusalOf } from '../../../client/errors.ts';
import { proxiesOf } from '../../../client/proxies.ts';

/** The body of a refusal is shorter. */
const errorBodyBytes = 64 * 1024;
const jsonBodyBytes = 16 * 1024 * 1024;

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** By lower-case name; each character one byte. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  /** Longest silence of the connection, while bytes go out or the answer's head is awaited. */
  readonly silenceMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Reuses connections for later requests, and goes through the proxies that the environment names. */
export class HttpClient {
  readonly #agents = agentsFor({ keepAlive: true, proxyEnv: proxiesOf(process.env) });

  /**
   * Sends a request and resolves with the answer's head, for every status. The caller reads or destroys the body.
   * @throws NetworkError when no answer comes; the signal's reason when it is aborted
   */
  open(request: HttpRequest): Promise<IncomingMessage> {
    const { url, body = [], signal } = request;
    const isSecure = url.protocol === 'https:';
    const sizeBytes = body.reduce((sum, chunk) => sum + chunk.length, 0);
    const options: RequestOptions = {
      method: request.method,
      agent: isSecure ? this.#agents['https:'] : this.#agents['http:'],
      timeout: request.silenceMs,
      headers: {
        ...request.headers,
        ...(request.method === 'GET' ? {} : { 'content-length': String(sizeBytes) }),
      },
    };
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const call = (isSecure ? httpsRequest : httpRequest)(url, options);
      const onAbort = () => call.destroy(new NetworkError('aborted'));
      signal?.addEventListener('abort', onAbort, { once: true });
      call.once('close', () => signal?.removeEventListener('abort', onAbort));
      call.once('timeout', () => call.destroy(new NetworkError(`silent for ${request.silenceMs} ms`)));
      // After the answer's head, errors belong to its body; an answer may come before the whole request was sent.
      call.on('error', (error) => reject(signal?.aborted ? signal.reason : asNetworkError(error)));
      call.once('response', (message) => {
        call.setTimeout(0);
        message.once('close', () => {
          if (!call.writableFinished) call.destroy();
        });
        resolve(message);
      });
      for (const chunk of body) call.write(chunk);
      call.end();
    });
  }

  close(): void {
    this.#agents['http:'].destroy();
    this.#agents['https:'].destroy();
  }
}

function agentsFor(options: AgentOptions) {
  return { 'http:': new Agent(options), 'https:': new SecureAgent(options) };
}

/**
 * The chunks of an answer's body. Silence counts only while waiting for a chunk, so readers may be slow.
 * @throws NetworkError when the body breaks off
 */
export async function* bodyOf(
  message: IncomingMessage,
  silenceMs: number,
): AsyncGenerator<Buffer, void, void> {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const silence = setTimeout(
        () => message.destroy(new NetworkError(`silent for ${silenceMs} ms`)),
        silenceMs,
      );
      const next = await chunks.next().finally(() => clearTimeout(silence));
      if (next.done) break;
      yield next.value;
    }
  } catch (error) {
    throw asNetworkError(error);
  } finally {
    message.destroy();
  }
  if (!message.complete) throw new NetworkError('the answer broke off');
}

/** The whole body, parsed; undefined for an empty one. */
export async function readJson(message: IncomingMessage, silenceMs: number): Promise<unknown> {
  const text = (await readBytes(message, silenceMs, jsonBodyBytes)).toString('utf8');
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NetworkError('the answer is not JSON', { cause: error });
  }
}

async function readBytes(message: IncomingMessage, silenceMs: number, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of bodyOf(message, silenceMs)) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new NetworkError(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a refusal. */
export async function readRefusal(message: IncomingMessage, silenceMs: number): Promise<ApiError> {
  const bytes = await readBytes(message, silenceMs, errorBodyBytes).catch(() => Buffer.alloc(0));
  const header = (name: string) => message.headers[name]?.toString();
  return refusalOf({ status: message.statusCode ?? 0, header, text: bytes.toString('utf8') });
}

function asNetworkError(error: unknown): NetworkError {
  if (error instanceof NetworkError) return error;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return new NetworkError(message || code || 'the connection broke', { cause: error });
}
