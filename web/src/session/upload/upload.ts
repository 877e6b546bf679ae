/** Uploads as the page shows them. */

/** A file on its way to a node. */
export interface FileToSend {
  readonly nodeInstanceId: number;
  readonly file: File;
  /** The identifier of the output that the file replaces; without it the file is a new one. */
  readonly identifier?: string | undefined;
}

export interface Upload {
  /** Counts up within the page. */
  id: number;
  nodeInstanceId: number;
  fileName: string;
  sizeBytes: number;
  sentBytes: number;
  phase: 'sending' | 'storing' | 'paused' | 'unfinished' | 'done' | 'queued' | 'failed' | 'cancelled';
  /** Whether it can be paused. */
  isResumable: boolean;
  /** Why it failed, or waits. */
  problem: string | null;
  /** The name under which the browser remembers an upload of an earlier visit. */
  fingerprint: string | null;
}

export function isRunning({ phase }: Upload): boolean {
  return phase === 'sending' || phase === 'storing';
}

/** Whether the upload may still become an output, by itself or when the person continues it. */
export const isOpen = (upload: Upload): boolean => isRunning(upload) || upload.phase === 'paused';

/** Whether `known` is an unfinished upload of an earlier visit that the new one continues. */
export const isSameFile = (known: Upload, { nodeInstanceId, fileName, sizeBytes }: Upload): boolean =>
  known.phase === 'unfinished' &&
  known.nodeInstanceId === nodeInstanceId &&
  known.fileName === fileName &&
  known.sizeBytes === sizeBytes;
