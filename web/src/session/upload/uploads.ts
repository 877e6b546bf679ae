import { useEffect, useRef, useState } from 'preact/hooks';
import type { Followed } from '../follow.ts';
import type { Upload } from './upload.ts';
import { dismissEnded, startUploads, useUploads } from './upload-store.ts';

export const frozenRefusal = 'The session is frozen and accepts no uploads.';

export interface SessionUploads {
  /** The uploads to nodes of the session. */
  readonly list: readonly Upload[];
  /** Why the session takes no file now; null: it takes files. */
  readonly refusal: string | null;
  /** Starts uploads to the only input node. */
  readonly upload: (files: File[]) => void;
  readonly uploadTo: (nodeInstanceId: number, files: File[], identifier?: string) => void;
  /** Why nothing was uploaded. */
  readonly message: string;
}

/** The uploads of a session's page, whichever part of it is shown. */
export function useSessionUploads({ nodes, window }: Followed): SessionUploads {
  const ids = new Set(nodes?.map(({ id }) => id));
  const list = useUploads().filter(({ nodeInstanceId }) => ids.has(nodeInstanceId));
  const shownIds = useRef(ids);
  shownIds.current = ids;
  // The person has seen how they ended.
  useEffect(() => () => dismissEnded(shownIds.current), []);
  const [message, setMessage] = useState('');
  const inputs = nodes?.filter(({ parentIds }) => parentIds.length === 0) ?? [];
  let refusal: string | null = null;
  if (nodes === null) refusal = 'The session is not loaded yet.';
  else if (window?.frozen === true) refusal = frozenRefusal;
  else if (inputs.length === 0) refusal = 'The session has no node that takes files.';
  const uploadTo = (nodeInstanceId: number, files: File[], identifier?: string) => {
    setMessage(refusal ?? '');
    if (refusal === null) startUploads(nodeInstanceId, files, identifier);
  };
  const upload = (files: File[]) => {
    if (refusal !== null) setMessage(refusal);
    else if (inputs.length === 1) uploadTo(inputs[0]!.id, files);
    else setMessage('The session has several input nodes. Drop each file on its node in the pipeline.');
  };
  return { list, refusal, upload, uploadTo, message };
}
