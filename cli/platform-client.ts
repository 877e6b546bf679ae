/** The platform over HTTP, as the command line uses it: JSON calls and uploads with progress. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';

/** An answer other than the expected one; `message` is the platform's own. */
export class PlatformError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class PlatformClient {
  readonly address: string;
  private accessToken: string | undefined;

  /** @param address base address, e.g. `http://127.0.0.1:8080` */
  constructor(address: string) {
    this.address = address.replace(/\/+$/, '');
  }

  /** @throws PlatformError 401 when name or password is wrong */
  async signIn(username: string, password: string): Promise<void> {
    const reply = await this.call<{ accessToken: string }>('POST', '/api/authorization/token', {
      username,
      password,
      rememberMe: false,
    });
    this.accessToken = reply.accessToken;
  }

  get<T>(path: string): Promise<T> {
    return this.call<T>('GET', path);
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.call<T>('POST', path, body);
  }

  /**
   * Streams a file as raw bytes; memory stays flat whatever its size.
   * @param onProgress called with the bytes sent so far and the file's size
   */
  async upload<T>(
    path: string,
    file: string,
    contentType: string,
    onProgress: (sentBytes: number, totalBytes: number) => void,
  ): Promise<T> {
    const { size } = await stat(file);
    const url = new URL(this.address + path);
    const send = (url.protocol === 'https:' ? secureRequest : request)(url, {
      method: 'POST',
      headers: { ...this.headers(), 'content-type': contentType, 'content-length': size },
    });
    const answered = new Promise<T>((resolve, reject) => {
      send.on('error', reject);
      send.on('response', async (response) => {
        try {
          let text = '';
          for await (const chunk of response.setEncoding('utf8')) text += chunk;
          resolve(parseReply<T>(response.statusCode ?? 0, text));
        } catch (error) {
          reject(error);
        }
      });
    });
    let sentBytes = 0;
    const body = createReadStream(file).on('data', (chunk) => {
      sentBytes += chunk.length;
      onProgress(sentBytes, size);
    });
    // A refused upload ends the pipe early; the answer says why.
    await Promise.race([pipeline(body, send).catch(() => answered), answered]);
    return answered;
  }

  private async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.address + path, {
      method,
      headers: { ...this.headers(), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return parseReply<T>(response.status, await response.text());
  }

  private headers(): Record<string, string> {
    return this.accessToken === undefined ? {} : { authorization: `Bearer ${this.accessToken}` };
  }
}

function parseReply<T>(status: number, text: string): T {
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  if (status >= 200 && status < 300) return body as T;
  const message = (body as { message?: unknown } | undefined)?.message;
  throw new PlatformError(status, typeof message === 'string' ? message : `The platform answered ${status}.`);
}
