import type { TaskCalls } from '../calls/task-calls.ts';
import type { AnnotationWire } from '../calls/wire.ts';
import type { RunLog } from '../logs/task-log.ts';

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
function annotationWire(annotation: Annotation): AnnotationWire {
  const { from, to, label, text = '', tags = [], channel = null } = annotation;
  return { from: timeOf(from), to: to === undefined ? null : timeOf(to), label, text, tags, channel };
}

const timeOf = (time: Date | number) => new Date(time).toISOString();

/** The annotations of one task. */
export class Annotations {
  readonly #calls: TaskCalls;
  #count = 0;

  constructor(calls: TaskCalls) {
    this.#calls = calls;
  }

  async add(annotations: readonly Annotation[]): Promise<void> {
    await this.#calls.annotate(annotations.map(annotationWire));
    this.#count += annotations.length;
  }

  /** The platform publishes annotations with outputs, and drops those of a run that has none. */
  warnWithoutOutput(log: RunLog): void {
    if (this.#count > 0)
      log.warning(`The run wrote no output: its annotations (${this.#count}) are not published.`);
  }
}
