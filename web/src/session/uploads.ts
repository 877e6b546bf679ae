import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Refused, refusalOf } from '../../../client/errors.ts';
import { uploadPath } from '../api.ts';
import { accessToken, endSignIn, renewAccess } from '../auth.ts';
import { messageOf } from '../http.ts';

export interface Upload {
  /** Counts up within the page. */
  id: number;
  nodeInstanceId: number;
  fileName: string;
  sizeBytes: number;
  sentBytes: number;
  phase: 'sending' | 'storing' | 'done' | 'queued' | 'failed' | 'cancelled';
  /** Why it failed. */
  problem: string | null;
}

export interface Uploads {
  uploads: Upload[];
  start: (nodeInstanceId: number, files: Iterable<File>) => void;
  cancel: (uploadId: number) => void;
  dismiss: (uploadId: number) => void;
}

let nextUploadId = 1;

/** The uploads of one page; each node gets one file at a time, in the order of selection. */
export function useUploads(): Uploads {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const requests = useRef(new Map<number, XMLHttpRequest>());
  const cancelled = useRef(new Set<number>());
  const tails = useRef(new Map<number, Promise<void>>());

  const change = useCallback((id: number, part: Partial<Upload>) => {
    setUploads((before) => before.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)));
  }, []);

  useWarningBeforeLeaving(uploads.some(isRunning));
  useEffect(() => () => abortAll(requests.current), []);

  const start = useCallback((nodeInstanceId: number, files: Iterable<File>) => {
    for (const file of files) {
      const id = nextUploadId;
      nextUploadId += 1;
      const fresh: Upload = {
        id,
        nodeInstanceId,
        fileName: file.name,
        sizeBytes: file.size,
        sentBytes: 0,
        phase: 'sending',
        problem: null,
      };
      setUploads((before) => [...before, fresh]);
      const before = tails.current.get(nodeInstanceId) ?? Promise.resolve();
      const run = before.then(async () => {
        if (cancelled.current.has(id)) return;
        const end = await sendFile(nodeInstanceId, file, {
          progress: (part) => change(id, part),
          began: (request) => requests.current.set(id, request),
        });
        requests.current.delete(id);
        if (cancelled.current.has(id)) return;
        change(id, end);
      });
      tails.current.set(nodeInstanceId, run);
    }
  }, []);

  const cancel = useCallback((id: number) => {
    cancelled.current.add(id);
    requests.current.get(id)?.abort();
    change(id, { phase: 'cancelled' });
  }, []);
  const dismiss = useCallback((id: number) => {
    setUploads((before) => before.filter((upload) => upload.id !== id));
  }, []);
  return { uploads, start, cancel, dismiss };
}

export function isRunning(upload: Upload): boolean {
  return upload.phase === 'sending' || upload.phase === 'storing';
}

interface Watchers {
  progress: (part: Partial<Upload>) => void;
  began: (request: XMLHttpRequest) => void;
}

/** Sends the file's bytes as the whole body. After a 401 it tries once more with a renewed token. */
async function sendFile(nodeInstanceId: number, file: File, watchers: Watchers): Promise<Partial<Upload>> {
  const path = uploadPath(nodeInstanceId);
  let reply = await sendBytes(path, file, await accessToken(), watchers);
  if (reply.status === 401) {
    const renewed = await renewAccess();
    if (renewed !== null) reply = await sendBytes(path, file, renewed, watchers);
    if (reply.status === 401)
      endSignIn('Your sign-in has ended. Sign in again, then upload the file once more.');
  }
  if (reply.status === 202) return { phase: 'queued', sentBytes: file.size };
  if (reply.status >= 200 && reply.status < 300) return { phase: 'done', sentBytes: file.size };
  if (reply.status === 0) return { phase: 'failed', problem: 'The connection broke.' };
  return { phase: 'failed', problem: messageOf(refusalOf(reply)) };
}

/** XMLHttpRequest, because fetch still does not report upload progress. */
function sendBytes(path: string, file: File, token: string | null, watchers: Watchers): Promise<Refused> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', contentTypeOf(file));
    request.setRequestHeader('X-Platform-Output-Metadata', asciiJson({ fileName: file.name }));
    if (token !== null) request.setRequestHeader('Authorization', `Bearer ${token}`);
    request.upload.onprogress = (event) => watchers.progress({ phase: 'sending', sentBytes: event.loaded });
    request.upload.onload = () => watchers.progress({ phase: 'storing', sentBytes: file.size });
    const header = (name: string) => request.getResponseHeader(name);
    request.onload = () => resolve({ status: request.status, header, text: request.responseText });
    request.onerror = () => resolve({ status: 0, header, text: '' });
    request.onabort = () => resolve({ status: 0, header, text: '' });
    watchers.began(request);
    request.send(file);
  });
}

/** JSON in a header: everything beyond ASCII is escaped, since a header cannot carry it. */
function asciiJson(value: object): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}

/** Browsers know the types of few recording formats. */
function contentTypeOf(file: File): string {
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

function abortAll(requests: Map<number, XMLHttpRequest>): void {
  for (const request of requests.values()) request.abort();
}

/** Leaving the page would break an upload, so the browser asks first. */
function useWarningBeforeLeaving(active: boolean): void {
  useEffect(() => {
    if (!active) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [active]);
}
