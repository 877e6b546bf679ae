/** Long files, sent so that they go on where they broke off: after a pause, a lost connection or a reload of the page. */
import { defaultOptions } from 'tus-js-client';
import { BackOff, isTransient } from '../../../../client/back-off.ts';
import { ApiError } from '../../../../client/errors.ts';
import { type ResumableFile, sendResumable, terminateResumable } from '../../../../client/resumable.ts';
import { accessToken, renewSignIn } from '../../auth.ts';
import { messageOf } from '../../http.ts';
import { hasSameBytes } from './same-bytes.ts';
import type { FileToSend, Upload } from './upload.ts';

/** Tells from the fingerprint of an unfinished upload where and what it is: see unfinished.ts. */
const fingerprintOf = ({ nodeInstanceId, file, identifier = '' }: FileToSend): string =>
  [nodeInstanceId, identifier, file.size, file.lastModified, encodeURIComponent(file.name)].join('/');

/** Tries until it succeeds or is refused. @param signal aborted: the upload pauses */
export async function sendPieces(
  sent: FileToSend,
  { contentType, endpoint }: { readonly contentType: string; readonly endpoint: string },
  progress: (part: Partial<Upload>) => void,
  signal: AbortSignal,
): Promise<Partial<Upload>> {
  const { file, identifier } = sent;
  const metadata = { contentType, metadata: JSON.stringify({ fileName: file.name }) };
  let token: string | null = null;
  const source: ResumableFile = {
    file,
    endpoint,
    metadata: identifier === undefined ? metadata : { ...metadata, identifier },
    fingerprint: fingerprintOf(sent),
    authorization: async () => {
      token = await accessToken();
      return authorizationOf(token);
    },
    onProgress: (sentBytes) =>
      progress({ phase: sentBytes < file.size ? 'sending' : 'storing', sentBytes, problem: null }),
    signal,
  };
  const backOff = new BackOff({ firstMs: 500, maxMs: 20_000 });
  for (;;) {
    try {
      if (!(await hasSameBytes(file))) return { phase: 'failed', problem: unreadable };
      const { outputId } = await sendResumable(source);
      if (!(await hasSameBytes(file))) return { phase: 'failed', problem: changedMeanwhile };
      return { phase: outputId === null ? 'queued' : 'done', sentBytes: file.size, problem: null };
    } catch (error) {
      if (signal.aborted) return { phase: 'paused' };
      const isRenewed = error instanceof ApiError && error.status === 401 && (await renewSignIn(token));
      if (!isRenewed && !isTransient(error)) {
        if (error instanceof ApiError) return { phase: 'failed', problem: messageOf(error) };
        throw error;
      }
      progress({ problem: 'The connection broke; it goes on by itself.' });
      await backOff.wait(error, signal).catch(() => undefined);
    }
  }
}

const unreadable = 'The file can no longer be read: it was changed, moved or removed. Choose it again.';
const changedMeanwhile =
  'The file was changed while it was sent: what is stored may be parts of both. Upload it again.';

/** Removes what is stored of an upload. Where that fails, it expires. */
export async function terminate(sent: FileToSend): Promise<void> {
  const { urlStorage } = defaultOptions;
  for (const { uploadUrl, urlStorageKey } of await urlStorage.findUploadsByFingerprint(fingerprintOf(sent))) {
    await urlStorage.removeUpload(urlStorageKey);
    if (uploadUrl !== null)
      await terminateResumable(uploadUrl, authorizationOf(await accessToken())).catch(() => undefined);
  }
}

const authorizationOf = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };
