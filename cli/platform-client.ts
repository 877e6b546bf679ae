/** The platform over HTTP, as the command line uses it: JSON calls, streams of bytes, uploads with progress. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { ConnectionError } from './errors.ts';
import { parseReply, refusalOf } from './reply.ts';

export { type DocumentIssue, PlatformError } from './errors.ts';

const callDeadlineMs = 60_000;

/** Whose token is sent. */
export interface Bearer {
  /** The token as it is now; undefined sends none. */
  token(): string | undefined;
  /** Tries to get another one after a 401; true when there is one. */
  renew?(): Promise<boolean>;
}

interface Sent {
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export class PlatformClient {
  readonly address: string;
  private bearer: Bearer;

  /**
   * @param address base address, e.g. `http://127.0.0.1:8080`
   * @param bearer who has signed in already
   */
  constructor(address: string, bearer: Bearer = { token: () => undefined }) {
    this.address = address.replace(/\/+$/, '');
    this.bearer = bearer;
  }

  /** @throws PlatformError 401 when name or password is wrong */
  async signIn(username: string, password: string): Promise<void> {
    const reply = await this.post<{ accessToken: string }>('/api/authorization/token', {
      username,
      password,
      rememberMe: false,
    });
    this.bearer = { token: () => reply.accessToken };
  }

  get<T>(path: string): Promise<T> {
    return this.send<T>('GET', path);
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.send<T>('POST', path, body === undefined ? undefined : JSON.stringify(body));
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.send<T>('PATCH', path, JSON.stringify(body));
  }

  delete<T>(path: string): Promise<T> {
    return this.send<T>('DELETE', path);
  }

  /** As `post`, with a JSON document as it stands in its file. */
  postDocument<T>(path: string, document: string): Promise<T> {
    return this.send<T>('POST', path, document);
  }

  /**
   * The whole answer of a GET, for callers who read its bytes or its head themselves.
   * @throws PlatformError when the platform refuses
   */
  async open(path: string, headers: Readonly<Record<string, string>>, signal?: AbortSignal) {
    const response = await this.fetch('GET', path, { headers, signal });
    if (!response.ok) throw refusalOf(response.status, response.headers, await response.text());
    return response;
  }

  /**
   * Streams a file as raw bytes; memory stays flat whatever its size.
   * @param onProgress called with the bytes sent so far and the file's size
   */
  async upload<T>(
    path: string,
    file: string,
    headers: Readonly<Record<string, string>>,
    onProgress: (sentBytes: number, totalBytes: number) => void,
  ): Promise<T> {
    const { size } = await stat(file);
    const url = new URL(this.address + path);
    const outgoing = (url.protocol === 'https:' ? secureRequest : request)(url, {
      method: 'POST',
      headers: { ...this.headers(), ...headers, 'content-length': size },
    });
    const answered = answerOf<T>(outgoing, this.address);
    let sentBytes = 0;
    const body = createReadStream(file).on('data', (chunk) => {
      sentBytes += chunk.length;
      onProgress(sentBytes, size);
    });
    try {
      // A refused upload ends the pipe early; the answer says why.
      await Promise.race([pipeline(body, outgoing).catch(() => answered), answered]);
      return await answered;
    } finally {
      body.destroy();
      outgoing.destroy();
    }
  }

  /** Gets another token after a 401, when there is a way to. */
  async renew(): Promise<boolean> {
    return (await this.bearer.renew?.()) === true;
  }

  private async send<T>(method: string, path: string, body?: string): Promise<T> {
    const response = await this.fetch(method, path, { body, signal: AbortSignal.timeout(callDeadlineMs) });
    const text = await response.text().catch(() => {
      throw new ConnectionError(`The line to ${this.address} broke.`);
    });
    return parseReply<T>(response.status, response.headers, text);
  }

  private async fetch(method: string, path: string, sent: Sent): Promise<Response> {
    const first = await this.fetchOnce(method, path, sent);
    if (first.status !== 401 || !(await this.renew())) return first;
    await first.body?.cancel();
    return this.fetchOnce(method, path, sent);
  }

  private async fetchOnce(method: string, path: string, sent: Sent): Promise<Response> {
    const { body, signal } = sent;
    try {
      return await fetch(this.address + path, {
        method,
        headers: {
          ...this.headers(),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...sent.headers,
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (cause) {
      if (signal?.aborted && signal.reason?.name !== 'TimeoutError') throw cause;
      throw new ConnectionError(`${this.address} does not answer.`, { cause });
    }
  }

  private headers(): Record<string, string> {
    const token = this.bearer.token();
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }
}

function answerOf<T>(outgoing: ClientRequest, address: string): Promise<T> {
  const answered = new Promise<T>((resolve, reject) => {
    const broken = (cause: unknown) =>
      reject(new ConnectionError(`The line to ${address} broke during the upload.`, { cause }));
    outgoing.on('error', broken);
    outgoing.on('response', (response) => {
      textOf(response).then((text) => {
        try {
          resolve(parseReply<T>(response.statusCode ?? 0, headersOf(response), text));
        } catch (error) {
          reject(error);
        }
      }, broken);
    });
  });
  // It is awaited once the file is on its way.
  answered.catch(() => undefined);
  return answered;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
}

function headersOf(response: IncomingMessage): Headers {
  const pairs = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  return new Headers(pairs as [string, string][]);
}
