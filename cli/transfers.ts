/** Uploads of files that may be repeated: each file's identifier is made from its name and its bytes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { BackOff, isTransient } from '../client/back-off.ts';
import { ApiError } from '../client/errors.ts';
import { metadataHeader } from '../client/metadata-header.ts';
import { resumableBytes } from '../client/resumable.ts';
import { outputNamed } from '../client/session-outputs.ts';
import type { NodeOutput } from '../client/types.ts';
import type { OnProgress, PlatformClient } from './platform-client.ts';
import type { Progress } from './progress.ts';
import { requireUnchanged } from './uploads/file-parts.ts';

const identifierCharacters = 100;
const digestCharacters = 16;

/** A file to send. */
interface FileToSend {
  readonly file: string;
  readonly contentType: string;
  /** A JSON object as text. */
  readonly metadata?: string | undefined;
  /** In place of the one made from the file's name and bytes. */
  readonly identifier?: string | undefined;
}

export interface UploadRequest extends FileToSend {
  readonly nodeInstanceId: number;
  /** Further tries after a temporary failure. */
  readonly retries: number;
}

export interface Uploaded {
  readonly file: string;
  /** `there`: the node had the same upload under this identifier already; `queued`: stored, and published later. */
  readonly outcome: 'uploaded' | 'there' | 'queued';
  readonly identifier: string;
  readonly outputId: number | null;
  readonly sizeBytes: number;
  /** What the platform had of it from earlier tries, also of another command. */
  readonly resumedAtBytes: number;
}

/** A file that was read. */
type ReadFile = Pick<FileToSend, 'contentType' | 'metadata'> & {
  readonly identifier: string;
  readonly sha256: string;
};

/** The headers of an upload in one body. */
const headersOf = ({ contentType, metadata, identifier, sha256 }: ReadFile) => ({
  'content-type': contentType,
  'x-platform-output-identifier': identifier,
  'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
  ...(metadata === undefined ? {} : { 'x-platform-output-metadata': metadataHeader(metadata) }),
});

/** The metadata of an upload in pieces. */
const uploadMetadataOf = ({ contentType, metadata, identifier }: ReadFile) => ({
  identifier,
  contentType,
  ...(metadata === undefined ? {} : { metadata }),
});

/** Metadata that the caller does not name may be any. */
const isSame = (output: NodeOutput, { sha256, contentType, metadata }: ReadFile) =>
  output.sha256 === sha256 &&
  output.contentType === contentType &&
  output.contentEncoding === null &&
  (metadata === undefined || isDeepStrictEqual(output.metadata, JSON.parse(metadata)));

/** The output that the upload would leave unchanged. */
async function findSame(
  platform: PlatformClient,
  nodeInstanceId: number,
  read: ReadFile,
): Promise<NodeOutput | undefined> {
  const found = await outputNamed(platform, nodeInstanceId, read.identifier);
  if (found === undefined || !isSame(found, read) || !(await hasBytes(platform, found))) return undefined;
  return found;
}

/** False where the store has lost them: the same upload brings them back. */
async function hasBytes(platform: PlatformClient, { id, sizeBytes }: NodeOutput): Promise<boolean> {
  if (sizeBytes === 0) return true;
  try {
    const answer = await platform.open('GET /api/v2/node-instance/outputs/{nodeOutputId}/data', {
      params: { nodeOutputId: id },
      headers: { range: 'bytes=0-0' },
    });
    await answer.body?.cancel();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** @throws ApiError when it is refused for good, or still after all tries */
export async function uploadFile(
  platform: PlatformClient,
  request: UploadRequest,
  progress: Progress,
): Promise<Uploaded> {
  const { file, nodeInstanceId, contentType, metadata } = request;
  const state = await stat(file);
  const { size: sizeBytes } = state;
  progress.update(file, 0, sizeBytes, 'reading');
  const sha256 = await digestOf(file);
  const identifier = request.identifier ?? identifierOf(file, sha256);
  const read = { contentType, metadata, identifier, sha256 };
  const send = sizeBytes > resumableBytes ? sendInPieces : sendWhole;
  type Sent = Pick<Uploaded, 'outputId' | 'resumedAtBytes'>;
  async function sendInPieces(onProgress: OnProgress): Promise<Sent> {
    // The digest of a long file takes minutes, and pieces are not compared with it.
    await requireUnchanged(file, state);
    return await platform.uploadResumable(nodeInstanceId, file, uploadMetadataOf(read), onProgress);
  }
  async function sendWhole(onProgress: OnProgress): Promise<Sent> {
    const reply = await platform.upload(nodeInstanceId, file, headersOf(read), onProgress);
    return { outputId: 'id' in reply ? reply.id : null, resumedAtBytes: 0 };
  }
  const isMended = async (error: unknown) =>
    error instanceof ApiError && error.status === 401 && (await platform.renew());
  return withRetries({ ...request, isMended }, progress, async (onProgress) => {
    const there = await findSame(platform, nodeInstanceId, read);
    if (there !== undefined)
      return { file, outcome: 'there', identifier, outputId: there.id, sizeBytes, resumedAtBytes: 0 };
    const { outputId, resumedAtBytes } = await send(onProgress);
    const outcome = outputId === null ? 'queued' : 'uploaded';
    return { file, outcome, identifier, outputId, sizeBytes, resumedAtBytes };
  });
}

export interface IngestRequest extends FileToSend {
  readonly urlPath: string;
}

export interface Ingested {
  readonly status: string;
  readonly identifier: string;
  readonly sessionId: string | null;
  /** Null where the project queues. */
  readonly nodeOutputId: number | null;
}

/**
 * Sends a file to a managed ingest, once; SDP_INGEST_SECRET is its secret. A long file goes on where an earlier call
 * broke off.
 * @throws ApiError, NetworkError
 */
export async function ingestFile(
  platform: PlatformClient,
  request: IngestRequest,
  onProgress: OnProgress,
): Promise<Ingested> {
  const { urlPath, file, contentType, metadata } = request;
  const { SDP_INGEST_SECRET: secret } = process.env;
  const credentials: Record<string, string> = secret ? { 'x-ingest-secret': secret } : {};
  const state = await stat(file);
  const sha256 = await digestOf(file);
  const identifier = request.identifier ?? identifierOf(file, sha256);
  const read = { contentType, metadata, identifier, sha256 };
  if (state.size > resumableBytes) {
    await requireUnchanged(file, state);
    const sent = await platform.ingestResumable(
      urlPath,
      file,
      uploadMetadataOf(read),
      credentials,
      onProgress,
    );
    const status = sent.outputId === null ? 'queued' : 'ok';
    return { status, identifier, sessionId: sent.sessionId, nodeOutputId: sent.outputId };
  }
  const headers = { ...headersOf(read), ...credentials };
  const reply = await platform.ingest(urlPath, file, headers, onProgress);
  return { ...reply, identifier, nodeOutputId: 'nodeOutputId' in reply ? reply.nodeOutputId : null };
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** The same file has the same identifier every time; files with the same name and other bytes have others. */
function identifierOf(file: string, sha256: string): string {
  const digest = sha256.slice(0, digestCharacters);
  const name = basename(file).replaceAll(/[^A-Za-z0-9._-]/g, '_');
  return `${name.slice(0, identifierCharacters - digestCharacters - 1)}-${digest}`;
}

/** What is tried again, and how often. */
export interface Retries {
  readonly file: string;
  /** Further tries after a temporary failure. */
  readonly retries: number;
  /** Whether a failure that would last has been put right, as by a renewed token. */
  readonly isMended?: (error: unknown) => Promise<boolean>;
}

/**
 * Transfers a file, and after a temporary failure says why and tries again.
 * @throws the error of the last try
 */
export async function withRetries<Result>(
  { file, retries, isMended = async () => false }: Retries,
  progress: Progress,
  transfer: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const backOff = new BackOff({ firstMs: 500, maxMs: 10_000 });
  for (let attempt = 1; ; attempt++) {
    const note = attempt === 1 ? '' : `attempt ${attempt}`;
    try {
      return await transfer((sent, total) => progress.update(file, sent, total, note));
    } catch (error) {
      const isTemporary = isTransient(error);
      if ((!isTemporary && !(await isMended(error))) || attempt > retries) throw error;
      if (isTemporary)
        progress.say(
          `${file}: ${(error as Error).message} Attempt ${attempt + 1} of ${retries + 1} follows.`,
        );
      await backOff.wait(error);
    }
  }
}
