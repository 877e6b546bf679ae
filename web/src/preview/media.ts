/** Pictures and video among outputs, as far as browsers show them. Pure: tested without a browser. */
import type { ListedOutput } from '../../../client/types.ts';

/** A picture or video that browsers show. */
export interface Media {
  /** Without parameters. */
  readonly type: string;
  readonly isVideo: boolean;
}

const mebibyte = 1024 * 1024;
/** Larger ones would fill the memory of a browser. */
export const maxBytes = { picture: 32 * mebibyte, video: 256 * mebibyte } as const;
/** What browsers draw, and what runs no script: no SVG. */
const pictureTypes = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/avif',
  'image/bmp',
]);
const videoTypes = new Set(['video/mp4', 'video/webm', 'video/ogg', 'video/quicktime']);

/** Null for an output that is neither a picture nor a video that browsers show. */
export function mediaOf(output: ListedOutput): Media | null {
  const type = (output.contentType ?? '').split(';')[0]!.trim().toLowerCase();
  const isVideo = videoTypes.has(type);
  return isVideo || pictureTypes.has(type) ? { type, isVideo } : null;
}
