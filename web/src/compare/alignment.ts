/** What recordings are aligned at, and by how much that moves them. Pure: tested without a browser. */
import type { Annotation } from '../../../client/types.ts';
import type { TimeSpan } from '../dashboard/model.ts';
import type { Alignment } from './address.ts';
import { measureOf, type Recording } from './model.ts';

/** For each recording, when a step channel first has each of its values. */
export type StepStarts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** What recordings are aligned at. */
export interface Anchors {
  annotations: ReadonlyMap<string, readonly Annotation[]>;
  starts: StepStarts;
}

/** When the anchor of an alignment is within a recording; null without one. */
export function anchorOf(
  { id, span, sessionId }: Recording,
  align: Alignment,
  { annotations, starts }: Anchors,
): number | null {
  if (align.by === 'label') return labelled(annotations.get(sessionId), align.label, span);
  return align.by === 'step' ? (starts.get(id)?.get(align.value) ?? null) : null;
}

/** Measures of which each value is kept for a while (laps, gears, states), in most recordings first. */
export function stepMeasures(recordings: readonly Recording[]): string[] {
  const counts = new Map<string, number>();
  for (const { channels, steps } of recordings)
    for (const measure of new Set(channels.filter(({ key }) => steps.has(key)).map(measureOf)))
      counts.set(measure, (counts.get(measure) ?? 0) + 1);
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!);
}

/** The values that recordings have, those of most first, then in the order of their starts. */
export function commonValues(starts: StepStarts): string[] {
  const counts = new Map<string, number>();
  for (const own of starts.values())
    for (const value of own.keys()) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!);
}

/** By how much each recording is moved on the common axis: by its alignment, and by its own offset. */
export function shiftsOf(
  recordings: readonly Recording[],
  align: Alignment,
  offsets: ReadonlyMap<string, number>,
  anchors: Anchors,
): Map<string, number> {
  return new Map(
    recordings.map((recording) => {
      const { id, span } = recording;
      const at = anchorOf(recording, align, anchors);
      const anchorMs = align.by === 'clock' ? 0 : (at ?? span.fromMs);
      return [id, (offsets.get(id) ?? 0) - anchorMs];
    }),
  );
}

/** When the annotation of a label begins within a recording; null without one. */
function labelled(
  annotations: readonly Annotation[] | undefined,
  label: string,
  { fromMs, toMs }: TimeSpan,
): number | null {
  const times = (annotations ?? []).filter((one) => one.label === label).map(({ from }) => Date.parse(from));
  return times.sort((a, b) => a - b).find((at) => at >= fromMs && at <= toMs) ?? null;
}
