/** The platform over HTTP, as the command line uses it: JSON calls and uploads with progress. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';

/** An answer other than the expected one; `message` is the platform's own. */
export class PlatformError extends Error {
  readonly status: number;
  /** What is wrong with a document that was sent, and where. */
  readonly issues: readonly DocumentIssue[];
  constructor(status: number, message: string, issues: readonly DocumentIssue[] = []) {
    super(message);
    this.status = status;
    this.issues = issues;
  }
}

export interface DocumentIssue {
  readonly path: string;
  readonly message: string;
}

export class PlatformClient {
  readonly address: string;
  private accessToken: string | undefined;

  /**
   * @param address base address, e.g. `http://127.0.0.1:8080`
   * @param accessToken of somebody who has signed in already
   */
  constructor(address: string, accessToken?: string) {
    this.address = address.replace(/\/+$/, '');
    this.accessToken = accessToken;
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

  /** As `post`, with a JSON document as it stands in its file. */
  postDocument<T>(path: string, document: string): Promise<T> {
    return this.send<T>('POST', path, document);
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

  private call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.send<T>(method, path, body === undefined ? undefined : JSON.stringify(body));
  }

  private async send<T>(method: string, path: string, body: string | undefined): Promise<T> {
    const response = await fetch(this.address + path, {
      method,
      headers: { ...this.headers(), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body }),
    }).catch((cause: unknown) => {
      throw new Error(`${this.address} does not answer.`, { cause });
    });
    return parseReply<T>(response.status, await response.text());
  }

  private headers(): Record<string, string> {
    return this.accessToken === undefined ? {} : { authorization: `Bearer ${this.accessToken}` };
  }
}

function parseReply<T>(status: number, text: string): T {
  const body = parseJson(text);
  if (status >= 200 && status < 300 && body !== invalid) return body as T;
  const { message, errors } = (typeof body === 'object' && body !== null ? body : {}) as {
    message?: unknown;
    errors?: unknown;
  };
  const issues = Array.isArray(errors) ? errors.filter(isIssue) : [];
  const told = typeof message === 'string' ? message : `The platform answered ${status}.`;
  throw new PlatformError(status, told, issues);
}

const invalid = Symbol('invalid JSON');

/** What answers may be something else than the platform, for example a balancer that has lost it. */
function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return invalid;
  }
}

function isIssue(value: unknown): value is DocumentIssue {
  const { path, message } = (value ?? {}) as Partial<DocumentIssue>;
  return typeof path === 'string' && typeof message === 'string';
}
