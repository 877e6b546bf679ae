/** Pictures and video among the outputs of a session, on the time axis of its dashboard. Pure: tested without a browser. */
import type { NodeOutput } from '../../../../client/types.ts';
import { outputTitle } from '../../names.ts';
import { parseMoment } from '../time.ts';

export interface Frame {
  readonly output: NodeOutput;
  readonly title: string;
  readonly type: string;
  readonly isVideo: boolean;
  /** When it begins. */
  readonly atMs: number;
}

const mebibyte = 1024 * 1024;
/** Larger ones would fill the memory of a browser. */
export const mostBytes = { picture: 32 * mebibyte, video: 256 * mebibyte } as const;
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

/** Those with `part` in their name, in the order of their beginnings. Without a time they begin at the start. */
export function framesOf(outputs: readonly NodeOutput[], part: string, startMs: number): Frame[] {
  const wanted = part.toLowerCase();
  const frames = outputs.flatMap((output): Frame[] => {
    const type = (output.contentType ?? '').split(';')[0]!.trim().toLowerCase();
    const isVideo = videoTypes.has(type);
    if (!isVideo && !pictureTypes.has(type)) return [];
    const title = outputTitle(output);
    const names = [title, output.outputIdentifier].map((name) => name.toLowerCase());
    if (!names.some((name) => name.includes(wanted))) return [];
    return [{ output, title, type, isVideo, atMs: beginOf(output, startMs) }];
  });
  return frames.sort((a, b) => a.atMs - b.atMs || a.output.id - b.output.id);
}

function beginOf({ metadata }: NodeOutput, startMs: number): number {
  const { capturedAt, offsetSeconds } = metadata ?? {};
  const at = typeof capturedAt === 'string' ? parseMoment(capturedAt) : Number.NaN;
  if (Number.isFinite(at)) return at;
  return typeof offsetSeconds === 'number' ? startMs + offsetSeconds * 1000 : startMs;
}

/** The last one that has begun; before all of them the first. */
export function frameAt(frames: readonly Frame[], timeMs: number | null): Frame | null {
  let found = frames[0] ?? null;
  if (timeMs === null || found === null) return found;
  let [low, high] = [0, frames.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const frame = frames[middle]!;
    if (frame.atMs <= timeMs) {
      found = frame;
      low = middle + 1;
    } else high = middle - 1;
  }
  return found;
}
