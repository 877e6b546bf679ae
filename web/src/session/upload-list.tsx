import { formatBytes } from '../format.ts';
import { Icon } from '../ui/icon.tsx';
import type { Upload } from './uploads.ts';
import { isRunning } from './uploads.ts';

const words: Record<Upload['phase'], string> = {
  sending: 'sending',
  storing: 'being stored',
  done: 'stored',
  queued: 'accepted, waits in the queue',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Running and ended uploads, each with its bar. */
export function UploadList(props: {
  uploads: Upload[];
  cancel: (id: number) => void;
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
            <button
              type="button"
              class="button button-icon"
              aria-label={`${isRunning(upload) ? 'Cancel' : 'Remove from this list'}: ${upload.fileName}`}
              title={isRunning(upload) ? 'Cancel' : 'Remove from this list'}
              onClick={() => (isRunning(upload) ? props.cancel(upload.id) : props.dismiss(upload.id))}
            >
              <Icon name="cross" />
            </button>
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
            {upload.phase === 'sending'
              ? `${formatBytes(upload.sentBytes)} of ${formatBytes(upload.sizeBytes)}`
              : `${formatBytes(upload.sizeBytes)}, ${words[upload.phase]}`}
            {upload.problem !== null && `: ${upload.problem}`}
          </div>
        </li>
      ))}
    </ul>
  );
}
