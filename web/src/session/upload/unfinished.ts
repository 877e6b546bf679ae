/** Uploads of an earlier visit that this browser can go on with, once the person chooses their files again. */
const prefix = 'tus::';
const expiryMs = 24 * 3_600_000;

export interface Unfinished {
  /** The fingerprint in the stored entry, without the part by which entries of one file differ. */
  readonly fingerprint: string;
  readonly nodeInstanceId: number;
  readonly fileName: string;
  readonly sizeBytes: number;
}

export function unfinishedUploads(): Unfinished[] {
  try {
    return Object.keys(localStorage).flatMap((key) => {
      try {
        return readEntry(key);
      } catch {
        // Nothing of ours, or cut.
        return [];
      }
    });
  } catch {
    // A browser may forbid its storage.
    return [];
  }
}

/** Forgets one, which then expires. */
export function forget(fingerprint: string): void {
  for (const key of Object.keys(localStorage))
    if (key.startsWith(`${prefix}${fingerprint}::`)) localStorage.removeItem(key);
}

function readEntry(key: string): Unfinished[] {
  if (!key.startsWith(prefix)) return [];
  const fingerprint = key.slice(prefix.length, key.lastIndexOf('::'));
  const [nodeInstanceId, , sizeBytes, , name = ''] = fingerprint.split('/');
  const { creationTime } = JSON.parse(localStorage.getItem(key) ?? '{}') as { creationTime?: string };
  if (Date.now() - Date.parse(creationTime ?? '') < expiryMs)
    return [
      {
        fingerprint,
        nodeInstanceId: Number(nodeInstanceId),
        fileName: decodeURIComponent(name),
        sizeBytes: Number(sizeBytes),
      },
    ];
  localStorage.removeItem(key);
  return [];
}
