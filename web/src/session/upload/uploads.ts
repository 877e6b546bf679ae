import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { resumablePath } from '../../api.ts';
import type { Followed } from '../follow.ts';
import { contentTypeOf, sendWhole } from './send-whole.ts';
import { forget, unfinishedUploads } from './unfinished.ts';
import type { FileToSend, Upload } from './upload.ts';

/** Longer files go on where they broke off. */
const resumableBytes = 16 * 1024 * 1024;

interface Uploads {
  uploads: Upload[];
  /** @param identifier of the output that the file replaces; without it the file is a new one */
  start: (nodeInstanceId: number, files: Iterable<File>, identifier?: string) => void;
  cancel: (uploadId: number) => void;
  /** Stops it, or goes on with it. */
  pause: (uploadId: number) => void;
  resume: (uploadId: number) => void;
  dismiss: (uploadId: number) => void;
}

let nextUploadId = 1;

/** Uploads under way, by their ids. */
interface Sending {
  readonly sent: FileToSend;
  stop: AbortController;
}

/** The uploads of one page; each node gets one file at a time, in the order of selection. */
function useUploads(): Uploads {
  const [uploads, setUploads] = useState<Upload[]>(unfinished);
  const change = useCallback((id: number, part: Partial<Upload>) => {
    setUploads((before) => before.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)));
  }, []);

  useWarningBeforeLeaving(uploads.some((upload) => isRunning(upload) && !upload.isResumable));
  const { sending, queue } = useQueue(change);

  const start = useCallback((nodeInstanceId: number, files: Iterable<File>, identifier?: string) => {
    for (const file of files) {
      const fresh = uploadOf({ nodeInstanceId, fileName: file.name, sizeBytes: file.size });
      setUploads((before) => [...before.filter((upload) => !isSameFile(upload, fresh)), fresh]);
      queue(fresh.id, { nodeInstanceId, file, identifier });
    }
  }, []);

  const pause = useCallback((id: number) => {
    sending.current.get(id)?.stop.abort();
    change(id, { phase: 'paused', problem: null });
  }, []);
  const resume = useCallback((id: number) => {
    const known = sending.current.get(id);
    if (known === undefined) return;
    change(id, { phase: 'sending' });
    queue(id, known.sent);
  }, []);
  const cancel = useCallback((id: number) => {
    const known = sending.current.get(id);
    known?.stop.abort();
    change(id, { phase: 'cancelled', problem: null });
    if (known !== undefined && known.sent.file.size > resumableBytes)
      void import('./send-pieces.ts').then(({ terminate }) => terminate(known.sent));
  }, []);
  const dismiss = useCallback((id: number) => {
    setUploads((before) => before.filter((upload) => upload.id !== id || forgotten(upload)));
  }, []);
  return { uploads, start, pause, resume, cancel, dismiss };
}

/** Sends each file once those before it to the same node have ended. */
function useQueue(change: (id: number, part: Partial<Upload>) => void) {
  const sending = useRef(new Map<number, Sending>());
  const tails = useRef(new Map<number, Promise<void>>());
  useEffect(() => () => abortAll(sending.current), []);
  const queue = useCallback((id: number, sent: FileToSend) => {
    const stop = new AbortController();
    sending.current.set(id, { sent, stop });
    const before = tails.current.get(sent.nodeInstanceId) ?? Promise.resolve();
    const run = before.then(async () => {
      if (stop.signal.aborted) return;
      const end = await sendFile(sent, (part) => change(id, part), stop.signal);
      if (!stop.signal.aborted) change(id, end);
    });
    tails.current.set(sent.nodeInstanceId, run);
  }, []);
  return { sending, queue };
}

function uploadOf(file: Pick<Upload, 'nodeInstanceId' | 'fileName' | 'sizeBytes'>): Upload {
  const id = nextUploadId;
  nextUploadId += 1;
  const isResumable = file.sizeBytes > resumableBytes;
  return { ...file, id, sentBytes: 0, phase: 'sending', isResumable, problem: null, fingerprint: null };
}

/** Those of earlier visits. */
function unfinished(): Upload[] {
  return unfinishedUploads().map((one) => ({
    ...uploadOf(one),
    phase: 'unfinished',
    fingerprint: one.fingerprint,
  }));
}

const isSameFile = (known: Upload, { nodeInstanceId, fileName, sizeBytes }: Upload): boolean =>
  known.phase === 'unfinished' &&
  known.nodeInstanceId === nodeInstanceId &&
  known.fileName === fileName &&
  known.sizeBytes === sizeBytes;

/** Forgets what the browser remembers of an upload. @returns false */
function forgotten({ fingerprint }: Upload): false {
  if (fingerprint !== null) forget(fingerprint);
  return false;
}

export interface SessionUploads {
  readonly list: Omit<Uploads, 'start'>;
  /** False while the session is frozen, and where it has no node for files. */
  readonly canUpload: boolean;
  /** To the only input node. */
  readonly upload: (files: File[]) => void;
  readonly uploadTo: (nodeInstanceId: number, files: File[], identifier?: string) => void;
  /** Why nothing was uploaded. */
  readonly said: string;
}

/** The uploads of a session's page, whichever part of it is shown. */
export function useSessionUploads({ nodes, window }: Followed): SessionUploads {
  const { start, ...all } = useUploads();
  const ids = new Set(nodes?.map(({ id }) => id));
  const list = { ...all, uploads: all.uploads.filter(({ nodeInstanceId }) => ids.has(nodeInstanceId)) };
  const [said, setSaid] = useState('');
  const frozen = window?.frozen === true;
  const inputs = nodes?.filter(({ parentIds }) => parentIds.length === 0) ?? [];
  const uploadTo = (nodeInstanceId: number, files: File[], identifier?: string) => {
    setSaid(frozen ? 'The session is frozen and accepts no uploads.' : '');
    if (!frozen) start(nodeInstanceId, files, identifier);
  };
  const upload = (files: File[]) => {
    if (inputs.length === 1) uploadTo(inputs[0]!.id, files);
    else setSaid('The session has several input nodes. Drop each file on its node in the pipeline.');
  };
  return { list, canUpload: !frozen && inputs.length > 0, upload, uploadTo, said };
}

export function isRunning(upload: Upload): boolean {
  return upload.phase === 'sending' || upload.phase === 'storing';
}

/**
 * Sends one file where no list shows its progress.
 * @throws {Error} with the reason when it was not accepted
 */
export async function uploadFile(nodeInstanceId: number, file: File): Promise<void> {
  const end = await sendFile({ nodeInstanceId, file }, () => undefined, new AbortController().signal);
  if (end.phase === 'failed') throw new Error(end.problem ?? 'The file was not accepted.');
}

async function sendFile(
  sent: FileToSend,
  progress: (part: Partial<Upload>) => void,
  signal: AbortSignal,
): Promise<Partial<Upload>> {
  if (sent.file.size <= resumableBytes) return await sendWhole(sent, { progress, signal });
  const type = { contentType: contentTypeOf(sent.file), endpoint: resumablePath(sent.nodeInstanceId) };
  // The code may be out of reach, too. A rejection would hold up every later file to the node.
  return await import('./send-pieces.ts')
    .then(({ sendPieces }) => sendPieces(sent, type, progress, signal))
    .catch(() => ({ phase: 'failed', problem: 'The connection broke.' }));
}

function abortAll(sending: Map<number, Sending>): void {
  for (const { stop } of sending.values()) stop.abort();
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
