/** Files that are sent as one body. */
import { ApiError, NetworkError, type Refused, refusalOf } from '../../../../client/errors.ts';
import { uploadPath } from '../../api.ts';
import { accessToken, renewSignIn } from '../../auth.ts';
import { messageOf, platform } from '../../http.ts';
import type { FileToSend, Upload } from './upload.ts';

interface Watchers {
  readonly progress: (part: Partial<Upload>) => void;
  /** Aborted: the request ends. */
  readonly signal: AbortSignal;
}

/**
 * Sends the file's bytes as the whole body, again while the answer is lost: it becomes one output. After a 401 it tries
 * once more with a renewed token.
 */
export async function sendWhole(sent: FileToSend, watchers: Watchers): Promise<Partial<Upload>> {
  const { nodeInstanceId, file, identifier } = sent;
  const request = [nodeInstanceId, identifier, file.name, file.size, file.lastModified].join('/');
  try {
    const { status } = await platform.creations.make(
      request,
      (headers) => sendOnce(sent, headers, watchers),
      watchers.signal,
    );
    return { phase: status === 202 ? 'queued' : 'done', sentBytes: file.size };
  } catch (error) {
    if (error instanceof ApiError) return { phase: 'failed', problem: messageOf(error) };
    return { phase: 'failed', problem: 'The connection broke.' };
  }
}

/** @throws ApiError, NetworkError */
async function sendOnce(
  { nodeInstanceId, file, identifier }: FileToSend,
  headers: Readonly<Record<string, string>>,
  watchers: Watchers,
): Promise<Refused> {
  const requestHeaders: Record<string, string> = {
    ...headers,
    Accept: 'application/json',
    'Content-Type': contentTypeOf(file),
    'X-Platform-Output-Metadata': asciiJson({ fileName: file.name }),
  };
  if (identifier !== undefined) requestHeaders['X-Platform-Output-Identifier'] = utf8(identifier);
  const path = uploadPath(nodeInstanceId);
  const token = await accessToken();
  let reply = await sendBytes(path, file, requestHeaders, token, watchers);
  if (reply.status === 401 && (await renewSignIn(token)))
    reply = await sendBytes(path, file, requestHeaders, await accessToken(), watchers);
  watchers.signal.throwIfAborted();
  if (reply.status === 0) throw new NetworkError('The connection broke.');
  if (reply.status < 200 || reply.status > 299) throw refusalOf(reply);
  return reply;
}

/** XMLHttpRequest, because fetch still does not report upload progress. */
function sendBytes(
  path: string,
  file: File,
  headers: Readonly<Record<string, string>>,
  token: string | null,
  watchers: Watchers,
): Promise<Refused> {
  return new Promise((resolve) => {
    // It may have been cancelled while the person signed in again.
    watchers.signal.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open('POST', path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    if (token !== null) request.setRequestHeader('Authorization', `Bearer ${token}`);
    request.upload.onprogress = (event) => watchers.progress({ phase: 'sending', sentBytes: event.loaded });
    request.upload.onload = () => watchers.progress({ phase: 'storing', sentBytes: file.size });
    const header = (name: string) => request.getResponseHeader(name);
    request.onload = () => resolve({ status: request.status, header, text: request.responseText });
    request.onerror = () => resolve({ status: 0, header, text: '' });
    request.onabort = () => resolve({ status: 0, header, text: '' });
    watchers.signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

/** UTF-8 in a header: each character stands for one byte. */
const utf8 = (text: string) => String.fromCharCode(...new TextEncoder().encode(text));

/** JSON in a header: everything beyond ASCII is escaped, since a header cannot carry it. */
function asciiJson(value: object): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}

/** Browsers know the types of few recording formats. */
export function contentTypeOf(file: File): string {
  const ending = file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase();
  const known: Record<string, string> = {
    csv: 'text/csv',
    tsv: 'text/tab-separated-values',
    json: 'application/json',
    ndjson: 'application/x-ndjson',
    jsonl: 'application/x-ndjson',
    parquet: 'application/vnd.apache.parquet',
    gz: 'application/gzip',
  };
  return known[ending] ?? (file.type === '' ? 'application/octet-stream' : file.type);
}
