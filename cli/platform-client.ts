/** The platform over HTTP, as the command line uses it: calls with a deadline, and uploads with progress. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { ApiClient, type Bearer, filled, type Reply } from '../client/api-client.ts';
import { NetworkError, refusalOf, unanswered } from '../client/errors.ts';
import { type SentFile, sendResumable } from '../client/resumable.ts';
import { type PathReading, pathReader, requireUnchanged, throttled } from './uploads/file-parts.ts';
import { unfinishedUploads } from './uploads/unfinished.ts';

const uploadRoute = 'POST /api/v2/node-instance/{nodeInstanceId}/outputs/data';
const resumableRoute = 'POST /api/v2/node-instance/{nodeInstanceId}/uploads';
const ingestRoute = 'POST /ingest/{urlPath}';
const resumableIngestRoute = 'POST /api/v2/ingest-uploads/{pathOrId}';
export type UploadReply = Reply<typeof uploadRoute>;
export type OnProgress = (sentBytes: number, totalBytes: number) => void;

export interface SentInPieces extends SentFile {
  /** What the platform had of it from earlier tries. */
  readonly resumedAtBytes: number;
}

/** The token of a command. */
export interface CommandBearer extends Bearer {
  /** What a person does when the platform refuses it. */
  readonly remedy?: string;
}

export class PlatformClient extends ApiClient {
  readonly bearer: CommandBearer;
  /** A transfer in which no byte passes for so long is given up; the Python agent waits as long. */
  silenceMs = 120_000;
  /** The same after the last byte of a long upload: a store may need minutes to put it together. */
  assemblyMs = 600_000;
  /** Most bytes a second of an upload; absent: as fast as the line is. */
  bytesPerSecond: number | undefined;

  /**
   * @param address base address, e.g. `http://127.0.0.1:8080`
   * @param bearer the token of an earlier sign-in
   */
  constructor(address: string, bearer: CommandBearer = { token: () => undefined }) {
    super({ address, bearer, deadlineMs: 60_000 });
    this.bearer = bearer;
  }

  /**
   * Streams a file as raw bytes; memory stays constant for any size. It is sent once: after a 401 the caller decides.
   * @param onProgress called with the bytes sent so far and the file's size
   * @throws ApiError when the platform refuses; NetworkError when no answer comes
   */
  async upload(
    nodeInstanceId: number,
    file: string,
    headers: Readonly<Record<string, string>>,
    onProgress: OnProgress,
  ): Promise<UploadReply> {
    const path = filled(uploadRoute.slice('POST '.length), { params: { nodeInstanceId } });
    return (await this.#send(path, file, headers, onProgress)) as UploadReply;
  }

  /**
   * As `upload`, for long files: it goes on where an earlier call, or an earlier command, broke off.
   * @param metadata `identifier`, `contentType` and, as JSON, `metadata` of the output
   */
  async uploadResumable(
    nodeInstanceId: number,
    file: string,
    metadata: Readonly<Record<string, string>>,
    onProgress: OnProgress,
  ): Promise<SentInPieces> {
    const path = filled(resumableRoute.slice('POST '.length), { params: { nodeInstanceId } });
    return await this.#sendPieces(path, file, metadata, {}, onProgress);
  }

  /** As `uploadResumable`, to a managed ingest. @param headers with the secret */
  async ingestResumable(
    urlPath: string,
    file: string,
    metadata: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
    onProgress: OnProgress,
  ): Promise<SentFile> {
    const path = ingestPathOf(resumableIngestRoute, urlPath);
    return await this.#sendPieces(path, file, metadata, headers, onProgress);
  }

  async #sendPieces(
    path: string,
    file: string,
    metadata: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
    onProgress: OnProgress,
  ): Promise<SentInPieces> {
    const endpoint = this.address + path;
    const state = await stat(file);
    const over = new AbortController();
    let resumedAtBytes: number | undefined;
    const abortAfter = (ms: number) => setTimeout(() => over.abort(this.#silent(ms)), ms).unref();
    let timer = abortAfter(this.silenceMs);
    const reading: PathReading = {
      file: state,
      bytesPerSecond: this.bytesPerSecond,
      onRead: (start) => (resumedAtBytes ??= start),
      onEnd: () => {
        clearTimeout(timer);
        timer = abortAfter(this.assemblyMs);
      },
      over,
    };
    const sent = await sendResumable({
      file: { size: state.size },
      fileReader: pathReader(file, reading),
      endpoint,
      metadata,
      // An upload keeps the type and metadata with which it began: others begin another upload.
      fingerprint: `${endpoint} ${JSON.stringify(metadata)}`,
      urlStorage: unfinishedUploads,
      authorization: async () => ({ ...(await this.authorization()), ...headers }),
      onProgress(sentBytes, totalBytes) {
        timer.refresh();
        onProgress(sentBytes, totalBytes);
      },
      signal: over.signal,
    }).finally(() => {
      over.abort();
      clearTimeout(timer);
    });
    return { ...sent, resumedAtBytes: resumedAtBytes ?? 0 };
  }

  /** As `upload`, to a managed ingest. */
  async ingest(
    urlPath: string,
    file: string,
    headers: Readonly<Record<string, string>>,
    onProgress: OnProgress,
  ): Promise<Reply<typeof ingestRoute>> {
    const path = ingestPathOf(ingestRoute, urlPath);
    return (await this.#send(path, file, headers, onProgress)) as Reply<typeof ingestRoute>;
  }

  async #send(
    path: string,
    file: string,
    headers: Readonly<Record<string, string>>,
    onProgress: OnProgress,
  ): Promise<unknown> {
    const state = await stat(file);
    const { size } = state;
    const url = new URL(this.address + path);
    const outgoing = (url.protocol === 'https:' ? secureRequest : request)(url, {
      method: 'POST',
      headers: { ...(await this.authorization()), ...headers, 'content-length': size },
    });
    outgoing.setTimeout(this.silenceMs, () => outgoing.destroy(this.#silent()));
    const answered = answerOf(outgoing, this.address);
    let sentBytes = 0;
    let unreadable: Error | undefined;
    async function* body() {
      try {
        for await (const chunk of createReadStream(file)) {
          sentBytes += chunk.length;
          onProgress(sentBytes, size);
          yield chunk;
        }
      } catch (error) {
        unreadable = new Error(`${file} cannot be read: ${(error as Error).message}`);
        throw unreadable;
      }
    }
    try {
      // A refused upload ends the pipe early; the answer has the reason.
      const passed = throttled(this.bytesPerSecond, () => requireUnchanged(file, state));
      const sent = pipeline(body, passed, outgoing);
      await Promise.race([sent.catch(() => answered), answered]);
      return await answered;
    } catch (error) {
      await requireUnchanged(file, state);
      throw unreadable ?? error;
    } finally {
      outgoing.destroy();
    }
  }

  /**
   * The bytes of a route as they are stored: `fetch` would decode compressed ones.
   * @param path with its parameters filled in
   * @throws ApiError when the platform refuses; NetworkError when no answer comes
   */
  async openStored(path: string, isRenewed = false): Promise<IncomingMessage> {
    const url = new URL(this.address + path);
    const headers = { ...(await this.authorization()), 'accept-encoding': 'gzip' };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = (url.protocol === 'https:' ? secureRequest : request)(url, { headers }, resolve);
      outgoing.setTimeout(this.silenceMs, () => outgoing.destroy(this.#silent()));
      outgoing.on('error', (cause) => reject(unanswered(this.address, cause)));
      outgoing.end();
    });
    const { statusCode: status = 0 } = response;
    if (status === 200) return response;
    const text = await textOf(response);
    if (status === 401 && !isRenewed && (await this.renew())) return this.openStored(path, true);
    throw refusalOf({ status, header: (name) => response.headers[name]?.toString(), text });
  }

  #silent(ms = this.silenceMs): NetworkError {
    return new NetworkError(`${this.address} has been silent for ${ms / 1000} s.`);
  }
}

function ingestPathOf(route: string, urlPath: string): string {
  const segments = urlPath.split('/').map(encodeURIComponent).join('/');
  return route.slice('POST '.length).replace(/\{\w+\}/, segments);
}

function answerOf(outgoing: ClientRequest, address: string): Promise<unknown> {
  const answered = new Promise<unknown>((resolve, reject) => {
    const broken = (cause: unknown) => {
      if (cause instanceof NetworkError) return reject(cause);
      const { syscall = '' } = cause as NodeJS.ErrnoException;
      const isUnsent = ['connect', 'getaddrinfo'].includes(syscall);
      const sentence = `The connection to ${address} broke during the upload.`;
      reject(isUnsent ? unanswered(address, cause) : new NetworkError(sentence, { cause }));
    };
    outgoing.on('error', broken);
    outgoing.on('response', (response) => {
      textOf(response).then((text) => {
        try {
          resolve(parseReply(response, text));
        } catch (error) {
          reject(error);
        }
      }, broken);
    });
  });
  // It is awaited once the upload has started.
  answered.catch(() => undefined);
  return answered;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
}

function parseReply({ statusCode: status = 0, headers }: IncomingMessage, text: string): unknown {
  const refusal = () => refusalOf({ status, header: (name) => headers[name]?.toString(), text });
  if (status < 200 || status > 299) throw refusal();
  try {
    return JSON.parse(text);
  } catch {
    throw refusal();
  }
}
