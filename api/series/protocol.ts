/** Messages between the API process and the process that reads series. */
import type { SeriesRecording, SeriesValue } from './recording.ts';

export interface ReadJob {
  sources: readonly {
    path: string;
    recording: Omit<SeriesRecording, 'channels'>;
    channels: SeriesRecording['channels'];
  }[];
  fromMs: number | null;
  toMs: number | null;
  maxPoints: number;
}

export type ToChild = { kind: 'read'; id: number; job: ReadJob } | { kind: 'cancel'; id: number };

export interface ReadPoints {
  times: number[];
  values: SeriesValue[];
}

export type FromChild =
  | { kind: 'ready' }
  /** Points of each channel of each source. */
  | { kind: 'done'; id: number; points: ReadPoints[][] }
  /** `brokenSource`: index of the source whose file cannot be read; null when the fault is not a file's. */
  | { kind: 'failed'; id: number; message: string; brokenSource: number | null };

export interface ChildSettings {
  cacheDir: string;
  databaseBytes: number;
  /** Above this the process ends when it is idle, and is started again. */
  residentBytes: number;
}
