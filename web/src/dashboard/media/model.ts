/** Pictures and video among the outputs of a session, on the time axis of its dashboard. Pure: tested without a browser. */
import type { ListedOutput } from '../../../../client/types.ts';
import { outputTitle } from '../../names.ts';
import { type Media, mediaOf } from '../../preview/media.ts';
import { parseMoment } from '../time.ts';

export interface Frame extends Media {
  readonly output: ListedOutput;
  readonly title: string;
  /** When it begins, on the time axis. */
  readonly atMs: number;
}

/** What the time axis counts: the time of a clock, time since a start, or rows. */
export type AxisKind = 'clock' | 'elapsed' | 'rows';

/**
 * Those with `part` in their name, in the order of their beginnings. Without a time they begin at the start. Where the axis has
 * no clock the first that a clock timed begins at the start, and the others as much later as they were captured later; over
 * rows all begin there, as nothing says at which row they were captured.
 */
export function framesOf(
  outputs: readonly ListedOutput[],
  part: string,
  startMs: number,
  axis: AxisKind = 'clock',
): Frame[] {
  const wanted = part.toLowerCase();
  const media = outputs.filter(({ contentType }) => /^(image|video)\//i.test(contentType ?? ''));
  const firstMs = axis === 'clock' ? startMs : earliest(media.map(capturedMs), startMs);
  const frames = outputs.flatMap((output): Frame[] => {
    const shown = mediaOf(output);
    if (shown === null) return [];
    const title = outputTitle(output);
    const names = [title, output.outputIdentifier].map((name) => name.toLowerCase());
    if (!names.some((name) => name.includes(wanted))) return [];
    return [{ output, title, ...shown, atMs: startMs + distance(output, axis !== 'clock', firstMs) }];
  });
  frames.sort((a, b) => a.atMs - b.atMs || a.output.id - b.output.id);
  return axis === 'rows' ? frames.map((frame) => ({ ...frame, atMs: startMs })) : frames;
}

/** From the start of the axis, whose clock time is `firstMs`; a known distance counts first where that is a guess. */
function distance(output: ListedOutput, isGuessed: boolean, firstMs: number): number {
  const { offsetSeconds } = output.metadata ?? {};
  const capturedAfter = capturedMs(output) - firstMs;
  const offset = typeof offsetSeconds === 'number' ? offsetSeconds * 1000 : Number.NaN;
  const given = isGuessed ? [offset, capturedAfter] : [capturedAfter, offset];
  return given.find(Number.isFinite) ?? 0;
}

function capturedMs({ metadata }: ListedOutput): number {
  const { capturedAt } = metadata ?? {};
  return typeof capturedAt === 'string' ? parseMoment(capturedAt) : Number.NaN;
}

function earliest(times: readonly number[], otherwise: number): number {
  const known = times.filter(Number.isFinite);
  return known.length === 0 ? otherwise : Math.min(...known);
}

/** The last one that has begun, the first of those that begin together; before all of them the first. */
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
  return frames.find(({ atMs }) => atMs === found?.atMs) ?? null;
}
