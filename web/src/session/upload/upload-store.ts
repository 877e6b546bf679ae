/** The uploads of this tab. They go on while the person looks at other pages of the console. */
import { useEffect, useState } from 'preact/hooks';
import { resumablePath } from '../../api.ts';
import { authState, onAuthChange } from '../../auth.ts';
import { askBeforeClosing } from '../../router.ts';
import { contentTypeOf, sendWhole } from './send-whole.ts';
import { forget, unfinishedUploads } from './unfinished.ts';
import { type FileToSend, isOpen, isRunning, isSameFile, type Upload } from './upload.ts';

/** Longer files go on where they broke off. */
const resumableBytes = 16 * 1024 * 1024;

interface Sending {
  readonly sent: FileToSend;
  readonly stop: AbortController;
}

let nextUploadId = 1;
let uploads: readonly Upload[] = ofEarlierVisits();
const listeners = new Set<() => void>();
/** The uploads under way, by their ids. */
const sending = new Map<number, Sending>();
/** The end of the last upload to each node. */
const tails = new Map<number, Promise<void>>();

let owner = authState().signIn?.user.userId;
onAuthChange(({ signIn }) => {
  if (signIn?.user.userId === owner) return;
  owner = signIn?.user.userId;
  for (const { stop } of sending.values()) stop.abort();
  sending.clear();
  tails.clear();
  show(ofEarlierVisits());
});

export function useUploads(): readonly Upload[] {
  const [shown, setShown] = useState(uploads);
  useEffect(() => {
    const update = () => setShown(uploads);
    update();
    listeners.add(update);
    return () => {
      listeners.delete(update);
    };
  }, []);
  return shown;
}

/** @param identifier of the output that the file replaces; without it the file is a new one */
export function startUploads(nodeInstanceId: number, files: Iterable<File>, identifier?: string): void {
  for (const file of files) {
    const fresh = uploadOf({ nodeInstanceId, fileName: file.name, sizeBytes: file.size });
    show([...uploads.filter((upload) => !isSameFile(upload, fresh)), fresh]);
    queue(fresh.id, { nodeInstanceId, file, identifier });
  }
}

export function pauseUpload(id: number): void {
  sending.get(id)?.stop.abort();
  change(id, { phase: 'paused', problem: null });
}

export function resumeUpload(id: number): void {
  const known = sending.get(id);
  if (known === undefined) return;
  change(id, { phase: 'sending', problem: null });
  queue(id, known.sent);
}

export function cancelUpload(id: number): void {
  const known = sending.get(id);
  known?.stop.abort();
  change(id, { phase: 'cancelled', problem: null });
  if (known !== undefined && known.sent.file.size > resumableBytes)
    void import('./send-pieces.ts').then(({ terminate }) => terminate(known.sent));
}

/** Takes one off the list; what the browser remembers of it is forgotten. */
export function dismissUpload(id: number): void {
  const { fingerprint = null } = uploads.find((upload) => upload.id === id) ?? {};
  if (fingerprint !== null) forget(fingerprint);
  show(uploads.filter((upload) => upload.id !== id));
}

/** Takes those off the list that have ended. */
export function dismissEnded(nodeInstanceIds: ReadonlySet<number>): void {
  const stays = (upload: Upload) =>
    !nodeInstanceIds.has(upload.nodeInstanceId) || isOpen(upload) || upload.phase === 'unfinished';
  show(uploads.filter(stays));
}

async function sendFile(
  sent: FileToSend,
  progress: (part: Partial<Upload>) => void,
  signal: AbortSignal,
): Promise<Partial<Upload>> {
  if (sent.file.size <= resumableBytes) return await sendWhole(sent, { progress, signal });
  const type = { contentType: contentTypeOf(sent.file), endpoint: resumablePath(sent.nodeInstanceId) };
  // A rejection would hold up every later file to the node.
  const code = await import('./send-pieces.ts').catch(() => null);
  if (code === null)
    return { phase: 'paused', problem: 'The connection broke. Resume, or load the page again.' };
  return await code
    .sendPieces(sent, type, progress, signal)
    .catch(() => ({ phase: 'failed', problem: 'The connection broke.' }));
}

/** Sends a file once those before it to the same node have ended. */
function queue(id: number, sent: FileToSend): void {
  const stop = new AbortController();
  sending.set(id, { sent, stop });
  const before = tails.get(sent.nodeInstanceId) ?? Promise.resolve();
  const run = before.then(async () => {
    if (stop.signal.aborted) return;
    const end = await sendFile(sent, (part) => change(id, part), stop.signal);
    if (!stop.signal.aborted) change(id, end);
  });
  tails.set(sent.nodeInstanceId, run);
}

function change(id: number, part: Partial<Upload>): void {
  show(uploads.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)));
}

function show(next: readonly Upload[]): void {
  uploads = next;
  const breaks = uploads.some((upload) => isRunning(upload) && !upload.isResumable);
  askBeforeClosing('uploads', breaks ? () => true : null);
  for (const listener of listeners) listener();
}

function uploadOf(file: Pick<Upload, 'nodeInstanceId' | 'fileName' | 'sizeBytes'>): Upload {
  const id = nextUploadId;
  nextUploadId += 1;
  const isResumable = file.sizeBytes > resumableBytes;
  return { ...file, id, sentBytes: 0, phase: 'sending', isResumable, problem: null, fingerprint: null };
}

function ofEarlierVisits(): readonly Upload[] {
  return unfinishedUploads().map((one) => ({
    ...uploadOf(one),
    phase: 'unfinished',
    fingerprint: one.fingerprint,
  }));
}
