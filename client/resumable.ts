/** Uploads that go on where they broke off, by tus, in a browser or in Node. */
import {
  DetailedError,
  type FileReader,
  type HttpRequest,
  type HttpResponse,
  Upload,
  type UploadOptions,
  type UrlStorage,
} from 'tus-js-client';
import { newKey } from './creations.ts';
import { ApiError, NetworkError, refusalOf } from './errors.ts';

/** Longer files are sent in pieces; shorter ones are sent again as a whole. */
export const resumableBytes = 16 * 1024 * 1024;

/** Statuses of `HEAD` for an upload that cannot be continued: another account began it, or it has ended. */
const endedStatuses = [403, 404, 410];

/** Idempotency keys of uploads whose creation is not answered yet: a repeat begins no second one. */
const beginKeys = new Map<string, string>();

export interface ResumableFile {
  /** A `File` in a browser; elsewhere what `fileReader` opens. */
  readonly file: object;
  readonly fileReader?: FileReader;
  /** Address of the uploads of a node or a managed ingest. */
  readonly endpoint: string;
  /** The metadata of the upload: `identifier`, `contentType`, `metadata`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The same for the same file to the same node, so that a later program finds where it was. */
  readonly fingerprint: string;
  /** Where addresses of unfinished uploads are remembered; default in a browser: its local storage. */
  readonly urlStorage?: UrlStorage;
  readonly authorization: () => Promise<Readonly<Record<string, string>>>;
  readonly onProgress: (sentBytes: number, totalBytes: number) => void;
  /** Aborting it pauses the upload: a later call goes on. */
  readonly signal?: AbortSignal;
}

export interface SentFile {
  /** Null where the project queues. */
  readonly outputId: number | null;
  /** The session that an upload to a managed ingest made or fed; else null. */
  readonly sessionId: string | null;
}

/**
 * Sends a file, or what is missing of it. It is tried once: the caller waits and calls again.
 * @throws ApiError when the platform refuses; NetworkError when no answer comes; the signal's reason
 */
export async function sendResumable(source: ResumableFile): Promise<SentFile> {
  const { file, fileReader, endpoint, metadata, fingerprint, urlStorage } = source;
  const { authorization, onProgress, signal } = source;
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<SentFile>();
  // It is awaited once the upload has started.
  promise.catch(() => undefined);
  const begun = JSON.stringify([endpoint, fingerprint, metadata]);
  const options: UploadOptions = {
    endpoint,
    metadata: { ...metadata },
    fingerprint: async () => fingerprint,
    retryDelays: null,
    removeFingerprintOnSuccess: true,
    onProgress,
    async onBeforeRequest(request) {
      for (const [name, value] of Object.entries(await authorization())) request.setHeader(name, value);
      if (request.getMethod() !== 'POST') return;
      const key = beginKeys.get(begun) ?? newKey();
      beginKeys.set(begun, key);
      request.setHeader('idempotency-key', `"${key}"`);
    },
    onAfterResponse: failOnRefusedQuestion,
    onUploadUrlAvailable: () => void beginKeys.delete(begun),
    onSuccess: ({ lastResponse }) => resolve(sentFileOf(lastResponse)),
    onError(error) {
      const own = asOwn(error);
      if (own instanceof ApiError && own.status < 500) beginKeys.delete(begun);
      reject(own);
    },
    ...(urlStorage === undefined ? {} : { urlStorage }),
    ...(fileReader === undefined ? {} : { fileReader }),
  };
  const upload = new Upload(file as File, options);
  const pause = () => void upload.abort().finally(() => reject(signal?.reason));
  signal?.addEventListener('abort', pause, { once: true });
  try {
    const [known] = await upload.findPreviousUploads();
    if (known !== undefined) upload.resumeFromPreviousUpload(known);
    signal?.throwIfAborted();
    upload.start();
    return await promise;
  } finally {
    signal?.removeEventListener('abort', pause);
  }
}

/** Gives an unfinished upload up. */
export async function terminateResumable(
  url: string,
  authorization: Readonly<Record<string, string>>,
): Promise<void> {
  await Upload.terminate(url, { headers: { ...authorization }, retryDelays: null });
}

/** At any refusal of HEAD, of an expired token or by a proxy, tus-js-client would forget the upload and begin another one. */
function failOnRefusedQuestion(request: HttpRequest, response: HttpResponse): void {
  const status = response.getStatus();
  if (request.getMethod() === 'HEAD' && status >= 300 && !endedStatuses.includes(status))
    throw refusalBy(response);
}

function sentFileOf(response: HttpResponse): SentFile {
  const id = response.getHeader('x-platform-output-id') ?? null;
  const sessionId = response.getHeader('x-platform-session-id') ?? null;
  return { outputId: id === null ? null : Number(id), sessionId };
}

function asOwn(error: Error): Error {
  const { originalResponse: response = null, causingError = null } =
    error instanceof DetailedError ? error : {};
  if (causingError instanceof ApiError) return causingError;
  if (response === null || response.getStatus() === 0)
    return new NetworkError('The connection broke during the upload.', { cause: error });
  return refusalBy(response);
}

function refusalBy(response: HttpResponse): ApiError {
  const header = (name: string) => response.getHeader(name);
  return refusalOf({ status: response.getStatus(), header, text: response.getBody() ?? '' });
}
