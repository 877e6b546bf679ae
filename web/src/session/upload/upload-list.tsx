import { formatBytes } from '../../format.ts';
import { Icon } from '../../ui/icon.tsx';
import { isOpen, isRunning, type Upload } from './upload.ts';
import { cancelUpload, dismissUpload, pauseUpload, resumeUpload } from './upload-store.ts';

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
export function UploadList({ uploads }: { uploads: readonly Upload[] }) {
  if (uploads.length === 0) return null;
  return (
    <ul class="upload-list" aria-label="Uploads">
      {uploads.map((upload) => (
        <li key={upload.id} class={`upload-item upload-${upload.phase}`}>
          <div class="upload-line">
            <span class="upload-name" title={upload.fileName}>
              {upload.fileName}
            </span>
            <span class="upload-actions">
              <PauseButton upload={upload} />
              <button
                type="button"
                class="button button-icon"
                aria-label={`${isOpen(upload) ? 'Cancel' : 'Remove from this list'}: ${upload.fileName}`}
                title={isOpen(upload) ? 'Cancel' : 'Remove from this list'}
                onClick={() => (isOpen(upload) ? cancelUpload(upload.id) : dismissUpload(upload.id))}
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

function PauseButton({ upload }: { upload: Upload }) {
  const { id, fileName, isResumable, phase } = upload;
  if (!isResumable || (phase !== 'sending' && phase !== 'paused')) return null;
  const word = phase === 'sending' ? 'Pause' : 'Resume';
  return (
    <button
      type="button"
      class="button button-small"
      aria-label={`${word}: ${fileName}`}
      onClick={() => (phase === 'sending' ? pauseUpload(id) : resumeUpload(id))}
    >
      {word}
    </button>
  );
}
