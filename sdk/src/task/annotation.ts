import type { AnnotationWire } from '../calls/wire.ts';

/** A moment or a range of the session with words. */
export interface Annotation {
  /** A date, or milliseconds: since 1970, or since the beginning of a recording without dates. */
  readonly from: Date | number;
  /** Absent: a moment. */
  readonly to?: Date | number | undefined;
  /** What people see on the axis. */
  readonly label: string;
  readonly text?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Name of the channel that it is about. */
  readonly channel?: string | undefined;
}

/** @throws RangeError for a time that is none */
export function annotationWire(annotation: Annotation): AnnotationWire {
  const { from, to, label, text = '', tags = [], channel = null } = annotation;
  return { from: timeOf(from), to: to === undefined ? null : timeOf(to), label, text, tags, channel };
}

const timeOf = (time: Date | number) => new Date(time).toISOString();
