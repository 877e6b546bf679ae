import { formatBytes } from '../../format.ts';
import { Icon } from '../../ui/icon.tsx';
import type { Upload } from './upload.ts';
import { isRunning } from './uploads.ts';

const words: Record<Upload['phase'], string> = {
  sending: 'sending',
  storing: 'being stored',
  paused: 'paused',
  unfinished: 'not finished: choose the file again, and it goes on where it was',
  done: 'stored',
  queued: 'accepted, waiting in the queue',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Running and ended uploads, each with its bar. */
export function UploadList(props: {
  uploads: Upload[];
  cancel: (id: number) => void;
  pause: (id: number) => void;
  resume: (id: number) => void;
  dismiss: (id: number) => void;
}) {
  if (props.uploads.length === 0) return null;
  return (
    <ul class="upload-list" aria-label="Uploads">
      {props.uploads.map((upload) => (
        <li key={upload.id} class={`upload-item upload-${upload.phase}`}>
          <div class="upload-line">
            <span class="upload-name" title={upload.fileName}>
              {upload.fileName}
            </span>
            <span class="upload-actions">
              <PauseButton upload={upload} pause={props.pause} resume={props.resume} />
              <button
                type="button"
                class="button button-icon"
                aria-label={`${isOpen(upload) ? 'Cancel' : 'Remove from this list'}: ${upload.fileName}`}
                title={isOpen(upload) ? 'Cancel' : 'Remove from this list'}
                onClick={() => (isOpen(upload) ? props.cancel(upload.id) : props.dismiss(upload.id))}
              >
                <Icon name="cross" />
              </button>
            </span>
          </div>
          <progress
            aria-label={`Upload of ${upload.fileName}`}
            max={Math.max(1, upload.sizeBytes)}
            value={
              upload.phase === 'done' || upload.phase === 'queued'
                ? Math.max(1, upload.sizeBytes)
                : upload.sentBytes
            }
          />
          <div class="faint" role={isRunning(upload) ? undefined : 'status'}>
            {upload.phase === 'sending' || upload.phase === 'paused'
              ? `${formatBytes(upload.sentBytes)} of ${formatBytes(upload.sizeBytes)}${upload.phase === 'paused' ? ', paused' : ''}`
              : `${formatBytes(upload.sizeBytes)}, ${words[upload.phase]}`}
            {upload.problem !== null && `: ${upload.problem}`}
          </div>
        </li>
      ))}
    </ul>
  );
}

const isOpen = (upload: Upload) => isRunning(upload) || upload.phase === 'paused';

function PauseButton(props: { upload: Upload; pause: (id: number) => void; resume: (id: number) => void }) {
  const { id, fileName, isResumable, phase } = props.upload;
  if (!isResumable || (phase !== 'sending' && phase !== 'paused')) return null;
  const word = phase === 'sending' ? 'Pause' : 'Resume';
  return (
    <button
      type="button"
      class="button button-small"
      aria-label={`${word}: ${fileName}`}
      onClick={() => (phase === 'sending' ? props.pause(id) : props.resume(id))}
    >
      {word}
    </button>
  );
}
