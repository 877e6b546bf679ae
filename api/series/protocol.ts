/** Messages between the API process and the process that reads series. */
import type { Derived } from '../../domain/recordings/derived-syntax.ts';
import type { SeriesRecording, SeriesValue } from './recording.ts';

/** An expression whose channels are named by their ids. */
export interface DerivedChannel {
  readonly id: string;
  readonly derived: Derived;
}

/** An id of a channel or a derived channel, and what a caller calls it. */
export interface NamedChannel {
  readonly id: string;
  readonly name: string;
}

export interface JobSource {
  readonly path: string;
  recording: Omit<SeriesRecording, 'channels'>;
  channels: SeriesRecording['channels'];
  /** Read after the channels. */
  derived: readonly DerivedChannel[];
  /** The channels that derived channels, `x` and `split` need. */
  inputs: SeriesRecording['channels'];
  /** Points over this one in place of time. */
  x?: NamedChannel | undefined;
  /** One trace for each value of this one. */
  split?: NamedChannel | undefined;
}

/** Inclusive; null: the recording's own bound. */
export interface Window {
  fromMs: number | null;
  toMs: number | null;
}

interface Sources extends Window {
  sources: readonly JobSource[];
}

export type PointsJob = Sources & { what: 'points'; maxPoints: number };
/** Points of derived channels, over other channels, in traces, or of the same rows for all channels of a source. */
export type TracesJob = Sources & { what: 'traces'; maxPoints: number; sameRows: boolean };
export type StatisticsJob = Sources & { what: 'statistics' };
export type ReadJob = PointsJob | TracesJob | StatisticsJob;

export interface ExportColumn {
  name: string;
  type: 'number' | 'integer' | 'boolean' | 'text';
  /** The id of its channel in each source, or null. */
  channels: (string | null)[];
}

/** The heading of the times, `seconds` since the start. */
export const timeHeadings = { dates: 'time', seconds: 'time [s]', 'row-numbers': 'row' } as const;
export const recordingHeading = 'recording';
export type ExportedTimes = keyof typeof timeHeadings;

/** The rows themselves, written to a file. */
export type ExportJob = Sources & {
  what: 'export';
  format: 'csv' | 'parquet';
  /** How the times of all sources are written. */
  timesAre: ExportedTimes;
  /** Times have digits below the millisecond. Found out by the process that reads. */
  hasFineTimes?: boolean;
  /** Name of each source. */
  recordings: readonly string[];
  columns: readonly ExportColumn[];
  /** A free path in the folder of copies. */
  path: string;
};
export type Job = ReadJob | ExportJob;

export type ToChild = { kind: 'read'; id: number; job: Job } | { kind: 'cancel'; id: number };

export interface ReadPoints {
  times: number[];
  values: SeriesValue[];
  /** Values of the channel that they are drawn over. */
  xs?: number[];
}

/** The points of a channel that belong to one value of a step channel, or all of them. */
export interface ReadTrace extends ReadPoints {
  /** Times of its first and its last row. */
  trace?: { value: SeriesValue; from: number; to: number };
}

export interface Extreme {
  value: number;
  /** Milliseconds as the recording's times are. */
  time: number;
}

export interface ReadStatistics {
  /** Rows with a value. */
  count: number;
  /** Rows without one. */
  missing: number;
  /** Null for channels of states, and where there is no value. */
  min: Extreme | null;
  max: Extreme | null;
  mean: number | null;
  /** The standard deviation of the sample; null below two values. */
  standardDeviation: number | null;
  /** The longest first. Null for numbers, for texts that hardly repeat, and where rows are not in the order of time. */
  states: { value: string | boolean; ms: number; share: number }[] | null;
}

/** What a job yields for each channel; an export yields its file alone. */
export type ResultOf<Asked extends Job> = Asked extends PointsJob
  ? ReadPoints
  : Asked extends TracesJob
    ? ReadTrace[]
    : Asked extends StatisticsJob
      ? ReadStatistics
      : never;

export type FromChild =
  | { kind: 'ready' }
  /** Results of each channel of each source. */
  | { kind: 'done'; id: number; results: ResultOf<ReadJob>[][] }
  /** `brokenSource`: index of the source whose file cannot be read; null when the fault is not a file's. */
  | { kind: 'failed'; id: number; message: string; brokenSource: number | null }
  /** The question does not fit the recording; `message` is a sentence for the caller. */
  | { kind: 'refused'; id: number; message: string };

export interface ChildSettings {
  cacheDir: string;
  databaseBytes: number;
  /** Above this the process ends when it is idle, and is started again. */
  residentBytes: number;
}
