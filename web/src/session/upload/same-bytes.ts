/**
 * Whether a file still has the bytes with which it was chosen. Other browsers refuse to read a file that was changed since.
 * Firefox reads the new bytes, so an upload that continues would store parts of both.
 */

const places = 32;
const placeBytes = 4096;

/** Samples of each file as they were when it was first asked for. A change between them is not seen. */
const firstRead = new WeakMap<Blob, Promise<Uint8Array>>();

/** The first call for a file only reads it. False where it cannot be read. */
export async function hasSameBytes(file: Blob): Promise<boolean> {
  const first = firstRead.get(file) ?? samplesOf(file);
  firstRead.set(file, first);
  try {
    const [before, now] = await Promise.all([first, samplesOf(file)]);
    return before.length === now.length && before.every((byte, index) => byte === now[index]);
  } catch {
    return false;
  }
}

/** Evenly from the beginning to the end of the file. */
async function samplesOf(file: Blob): Promise<Uint8Array> {
  const step = Math.max(0, file.size - placeBytes) / (places - 1);
  const parts = Array.from({ length: places }, (_, place) => {
    const from = Math.round(place * step);
    return file.slice(from, from + placeBytes);
  });
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
