import { readOutputData } from '../api.ts';

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
