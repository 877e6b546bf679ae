import { type ListedOutput, readOutputData } from '../api.ts';
import { type Media, maxBytes } from './media.ts';

/** Enough for a preview; an output can be far larger than a browser's memory. */
export const previewBytes = 512 * 1024;

export interface FirstBytes {
  bytes: Uint8Array;
  isWhole: boolean;
  contentType: string;
}

/** The first bytes of an output. The rest is not fetched: the request is aborted once there are enough. */
export async function firstBytes(outputId: number, signal: AbortSignal): Promise<FirstBytes> {
  const response = await readOutputData(outputId, signal);
  return readFirst(response, previewBytes);
}

/** The first `most` bytes of an answer's body. */
export async function readFirst(response: Response, most: number): Promise<FirstBytes> {
  const contentType = response.headers.get('Content-Type') ?? '';
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  while (reader !== undefined && length < most) {
    const { done, value } = await reader.read();
    if (done) {
      isWhole = true;
      break;
    }
    parts.push(value);
    length += value.length;
  }
  if (!isWhole) await reader?.cancel().catch(() => undefined);
  const bytes = new Uint8Array(Math.min(length, most));
  let at = 0;
  for (const part of parts) {
    const fitting = part.subarray(0, bytes.length - at);
    bytes.set(fitting, at);
    at += fitting.length;
  }
  return { bytes, isWhole: isWhole || reader === undefined, contentType };
}

/**
 * The bytes of a picture or video, counted while they come: what is stored packed is larger than its size says.
 * @throws {Error} for one that is too large to show
 */
export async function readMedia(
  output: ListedOutput,
  { type, isVideo }: Media,
  signal: AbortSignal,
): Promise<Blob> {
  const most = isVideo ? maxBytes.video : maxBytes.picture;
  const tooLarge = () =>
    new Error(`It is larger than ${most / 1024 ** 2} MB. Download it to open it in another program.`);
  if (output.sizeBytes > most) throw tooLarge();
  const reader = (await readOutputData(output.id, signal)).body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    bytes += next.value.length;
    if (bytes > most) {
      await reader?.cancel().catch(() => undefined);
      throw tooLarge();
    }
    parts.push(next.value);
  }
  return new Blob(parts, { type });
}
