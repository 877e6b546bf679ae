/** Downloads bytes into a file, which appears under its name when it is complete. */
import { createHash } from 'node:crypto';
import { createWriteStream, rmSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sha256Of } from '../client/checksum.ts';
import { NetworkError } from '../client/errors.ts';
import { whenInterrupted } from './interrupted.ts';
import { singleLine } from './output.ts';
import type { PlatformClient } from './platform-client.ts';
import type { Progress } from './progress.ts';

/** The platform decodes compressed bytes, so that length and bytes are those of the file. */
export const plainBytes = { 'accept-encoding': 'identity' };

/** How long a store may be silent before its answer begins. */
const storeSilenceMs = 10_000;

/** All bytes came, and they are not those of the platform. */
export class OtherBytes extends NetworkError {
  constructor() {
    super('The downloaded bytes do not match the checksum of the platform.');
  }
}

/**
 * Downloads an output: from the store where the platform names an address there and it can be reached, else through the
 * platform. Where other bytes come, it reads them once more, through the platform.
 * @param out as in {@link download}
 * @throws ApiError when the platform refuses; NetworkError when no answer comes, or the bytes are wrong again
 */
export async function downloadOutput(
  platform: PlatformClient,
  nodeOutputId: number,
  out: string | undefined,
  progress: Progress,
): Promise<Downloaded> {
  const name = `output-${nodeOutputId}`;
  try {
    return await download(await openOutput(platform, nodeOutputId), out, name, progress);
  } catch (error) {
    // What a stream has cannot be taken back.
    if (!(error instanceof OtherBytes) || (out !== undefined && (await isStream(out)))) throw error;
    return await download(await openThroughPlatform(platform, nodeOutputId), out, name, progress);
  }
}

const dataRoute = 'GET /api/v2/node-instance/outputs/{nodeOutputId}/data';

const openThroughPlatform = (platform: PlatformClient, nodeOutputId: number) =>
  platform.open(dataRoute, { params: { nodeOutputId }, headers: plainBytes });

async function openOutput(platform: PlatformClient, nodeOutputId: number): Promise<Response> {
  const answer = await platform.open(dataRoute, {
    params: { nodeOutputId },
    headers: plainBytes,
    query: { redirect: true },
    redirect: 'manual',
  });
  if (answer.ok) return answer;
  const stored = await openAtStore(answer.headers.get('location') ?? '');
  if (stored === undefined) return await openThroughPlatform(platform, nodeOutputId);
  // What answers in place of the store sends other bytes.
  if (stored.headers.get('content-length') !== answer.headers.get('x-platform-size-bytes')) {
    await stored.body?.cancel();
    return await openThroughPlatform(platform, nodeOutputId);
  }
  // The platform's tag is the checksum of the bytes.
  const headers = new Headers(stored.headers);
  headers.set('etag', answer.headers.get('etag') ?? '');
  return new Response(stored.body, { headers });
}

/** Undefined where the store cannot be reached or refuses. */
async function openAtStore(address: string): Promise<Response | undefined> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), storeSilenceMs);
  try {
    const stored = await fetch(address, { headers: plainBytes, signal: silence.signal });
    if (stored.ok) return stored;
    await stored.body?.cancel();
  } catch {
    // Through the platform the caller gets the bytes, or the reason.
  } finally {
    clearTimeout(timer);
  }
  return undefined;
}

export interface Downloaded {
  readonly file: string;
  readonly sizeBytes: number;
}

/**
 * @param response the answer with the bytes
 * @param out name of the file, or a folder for it; `-` writes to the standard output, undefined uses the name that the
 * platform sends
 * @throws NetworkError when the connection broke or the bytes differ from those of the platform
 */
export async function download(
  response: Response,
  out: string | undefined,
  fallbackName: string,
  progress: Progress,
): Promise<Downloaded> {
  const file = await fileFor(out, nameIn(response.headers.get('content-disposition')) ?? fallbackName);
  const totalBytes = Number(response.headers.get('content-length') ?? 0);
  // Of this process alone: two commands may download to the same name at once.
  const partial = (await isStream(file)) ? undefined : `${file}.${process.pid}.part`;
  const body = response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as never);
  const forget = partial === undefined ? undefined : whenInterrupted(() => rmSync(partial, { force: true }));
  let sizeBytes = 0;
  try {
    const to = file === '-' ? process.stdout : createWriteStream(partial ?? file);
    const sha256 = await writeMeasured(body, to, (writtenBytes) => {
      sizeBytes = writtenBytes;
      progress.update(file, sizeBytes, Math.max(totalBytes, sizeBytes));
    });
    checkWhole(response.headers, sha256);
    if (partial !== undefined) await rename(partial, file);
  } catch (error) {
    if (partial !== undefined) await rm(partial, { force: true });
    throw error;
  } finally {
    forget?.();
  }
  if (file !== '-') progress.end(file, `${file}: ${sizeBytes} bytes`);
  return { file, sizeBytes };
}

/**
 * Writes bytes as they come; the standard output stays open.
 * @param onWritten called with the number of bytes so far
 * @returns their SHA-256
 * @throws NetworkError when the connection broke; an error of the file as it is
 */
export async function writeMeasured(
  body: Readable,
  to: Writable,
  onWritten: (sizeBytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const measured = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      onWritten(sizeBytes);
      done(null, chunk);
    },
  });
  try {
    await pipeline(body, measured, to, { end: to !== process.stdout });
  } catch (cause) {
    const { syscall } = cause as NodeJS.ErrnoException;
    // A connection is read, a file is opened and written.
    if (syscall !== undefined && syscall !== 'read') throw cause;
    throw new NetworkError('The connection broke during the download. Repeat the command.', { cause });
  }
  return hash.digest('hex');
}

/** Checked before the bytes come. A name that the person did not choose replaces no file. */
async function fileFor(out: string | undefined, name: string): Promise<string> {
  if (out === '-') return out;
  const isFolder = async (path: string) => (await stateOf(path))?.isDirectory() === true;
  if (out === undefined || (await isFolder(out))) {
    const file = join(out ?? '', name);
    if ((await stateOf(file)) !== undefined)
      throw new Error(`${file} exists. Name the file in the command to replace it.`);
    return file;
  }
  if (!(await isFolder(dirname(out)))) throw new Error(`Folder not found: ${dirname(out)}.`);
  return out;
}

const stateOf = (path: string) => stat(path).catch(() => undefined);

/** Whether bytes go straight to it, as to the standard output, a pipe or /dev/null: a file must not take its place. */
async function isStream(file: string): Promise<boolean> {
  if (file === '-') return true;
  const state = await stateOf(file);
  return state !== undefined && !state.isFile() && !state.isDirectory();
}

/** The ETag is the checksum of the stored bytes; a length is sent when they are sent as stored. */
function checkWhole(headers: Headers, sha256: string): void {
  const wanted = sha256Of(headers.get('etag'));
  if (wanted === undefined || !headers.has('content-length') || wanted === sha256) return;
  throw new OtherBytes();
}

/**
 * The name that the platform sends, which an uploader may have chosen: only its last part, so that it leads into no other
 * folder, and without dots at its beginning, so that it is no file from which a shell or a program reads its settings.
 */
function nameIn(disposition: string | null): string | undefined {
  const [, encoded] = /filename\*=UTF-8''([^;]+)/.exec(disposition ?? '') ?? [];
  const [, plain] = /filename="([^"]+)"/.exec(disposition ?? '') ?? [];
  const name = basename(encoded === undefined ? (plain ?? '') : decodeURIComponent(encoded));
  return singleLine(name).replace(/^[.\s]+/, '') || undefined;
}
