/** Resumable uploads on the wire: the headers of tus, and their state for people. */
import type { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import { tusChecksums, tusExtensions, tusPieceMedia, tusVersion } from '../../domain/outputs/tus.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { ResumableUpload } from '../../store/uploads/resumable-uploads.ts';
import type { Services } from '../services.ts';
import type { ingestUploadSchema, resumableUploadSchema } from './schema.ts';

/** What the server supports of tus. */
export function supported({ settings }: Services): Record<string, string> {
  return {
    'tus-version': tusVersion,
    'tus-max-size': String(settings.MAX_UPLOAD_BYTES),
    'tus-extension': tusExtensions,
    'tus-checksum-algorithm': tusChecksums,
  };
}

/** @throws Problem `unsupportedMediaType` */
export function requirePieceType(headers: Readonly<Record<string, string | undefined>>): void {
  if (headers['content-type']?.trim().toLowerCase() === tusPieceMedia) return;
  throw new Problem('unsupportedMediaType', {
    message: `Content-Type must be ${tusPieceMedia}.`,
  });
}

export function offsetOf({ state, offsetBytes, expiresAt }: ResumableUpload): Record<string, string> {
  const expires = state === 'done' ? {} : { 'upload-expires': expiresAt.toUTCString() };
  return { 'upload-offset': String(offsetBytes), ...expires };
}

/** What was said of the upload when it began. */
export function announcedOf({ sizeBytes, uploadMetadata }: ResumableUpload): Record<string, string> {
  const metadata = uploadMetadata === null ? {} : { 'upload-metadata': uploadMetadata };
  return { 'upload-length': String(sizeBytes), ...metadata };
}

export function endOf(upload: ResumableUpload): Record<string, string> {
  const { outputId } = upload;
  const output = outputId === null ? {} : { 'x-platform-output-id': String(outputId) };
  return { 'x-platform-upload-state': stateOf(upload), ...output };
}

type Shown = z.input<typeof resumableUploadSchema>;

function stateOf({ state, outputId }: ResumableUpload): Shown['state'] {
  if (state === 'done') return outputId === null ? 'queued' : 'published';
  return state === 'whole' ? 'finishing' : 'receiving';
}

export function present(upload: ResumableUpload, nodeInstanceId: number): Shown {
  return { ...progressOf(upload), nodeInstanceId };
}

/** @param sessionId of its output; null until the ingest is performed, and when the session is gone */
export function presentIngest(
  upload: ResumableUpload,
  sessionId: string | null,
): z.input<typeof ingestUploadSchema> {
  return { ...progressOf(upload), nodeInstanceId: upload.nodeInstanceId, sessionId };
}

function progressOf(upload: ResumableUpload): Omit<Shown, 'nodeInstanceId'> {
  const { id, outputIdentifier, sizeBytes, offsetBytes, outputId, expiresAt } = upload;
  const state = stateOf(upload);
  return {
    ...{ id, outputIdentifier, sizeBytes, offsetBytes, state, outputId },
    expiresAt: formatTimestamp(expiresAt),
  };
}
