import { useEffect, useRef, useState } from 'preact/hooks';
import type { Followed } from '../follow.ts';
import type { Upload } from './upload.ts';
import { dismissEnded, startUploads, useUploads } from './upload-store.ts';

export interface SessionUploads {
  /** The uploads to nodes of the session. */
  readonly list: readonly Upload[];
  /** False while the session is frozen, and where it has no node for files. */
  readonly canUpload: boolean;
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
  const frozen = window?.frozen === true;
  const inputs = nodes?.filter(({ parentIds }) => parentIds.length === 0) ?? [];
  const uploadTo = (nodeInstanceId: number, files: File[], identifier?: string) => {
    setMessage(frozen ? 'The session is frozen and accepts no uploads.' : '');
    if (!frozen) startUploads(nodeInstanceId, files, identifier);
  };
  const upload = (files: File[]) => {
    if (inputs.length === 1) uploadTo(inputs[0]!.id, files);
    else setMessage('The session has several input nodes. Drop each file on its node in the pipeline.');
  };
  return { list, canUpload: !frozen && inputs.length > 0, upload, uploadTo, message };
}
