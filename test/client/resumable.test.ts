import { expect, test } from 'vitest';
import { sendResumable } from '../../client/resumable.ts';

test('an upload that is paused while it looks for its beginning ends with the reason of the signal, once', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const paused = new AbortController();
    const found = Promise.withResolvers<[]>();
    const sent = sendResumable({
      file: Buffer.from('0123456789'),
      endpoint: 'http://127.0.0.1:1/uploads',
      metadata: {},
      fingerprint: 'one',
      urlStorage: {
        findAllUploads: async () => [],
        findUploadsByFingerprint: () => found.promise,
        removeUpload: async () => undefined,
        addUpload: async () => 'one',
      },
      authorization: async () => ({}),
      onProgress: () => undefined,
      signal: paused.signal,
    });
    paused.abort(new Error('paused'));
    found.resolve([]);
    await expect(sent).rejects.toThrow('paused');
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
