/** Files that are sent as one body. */
import { type Refused, refusalOf } from '../../../../client/errors.ts';
import { uploadPath } from '../../api.ts';
import { accessToken, endSignIn, renewAccess } from '../../auth.ts';
import { messageOf } from '../../http.ts';
import type { FileToSend, Upload } from './upload.ts';

interface Watchers {
  readonly progress: (part: Partial<Upload>) => void;
  /** Aborted: the request ends. */
  readonly signal: AbortSignal;
}

/** Sends the file's bytes as the whole body. After a 401 it tries once more with a renewed token. */
export async function sendWhole(
  { nodeInstanceId, file, identifier }: FileToSend,
  watchers: Watchers,
): Promise<Partial<Upload>> {
  const path = uploadPath(nodeInstanceId);
  let reply = await sendBytes(path, file, identifier, await accessToken(), watchers);
  if (reply.status === 401) {
    const renewed = await renewAccess();
    if (renewed !== null) reply = await sendBytes(path, file, identifier, renewed, watchers);
    if (reply.status === 401) endSignIn('Your sign-in has expired. Sign in again, then repeat the upload.');
  }
  if (reply.status === 202) return { phase: 'queued', sentBytes: file.size };
  if (reply.status >= 200 && reply.status < 300) return { phase: 'done', sentBytes: file.size };
  if (reply.status === 0) return { phase: 'failed', problem: 'The connection broke.' };
  return { phase: 'failed', problem: messageOf(refusalOf(reply)) };
}

/** XMLHttpRequest, because fetch still does not report upload progress. */
function sendBytes(
  path: string,
  file: File,
  identifier: string | undefined,
  token: string | null,
  watchers: Watchers,
): Promise<Refused> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', contentTypeOf(file));
    request.setRequestHeader('X-Platform-Output-Metadata', asciiJson({ fileName: file.name }));
    if (identifier !== undefined) request.setRequestHeader('X-Platform-Output-Identifier', utf8(identifier));
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
