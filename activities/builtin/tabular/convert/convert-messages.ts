/** Messages to the process that converts a file, and its answers. */

import type { RecordingDescription } from '../description.ts';
import type { TabularPlace } from '../errors.ts';
import type { Conversion, ConvertInput, ConvertProgress } from './convert.ts';

export interface IsolatedInput extends ConvertInput {
  /** Longest time; then the file is refused. */
  readonly maxSeconds: number;
  /** How long to wait for the process to stop by itself; default 10. */
  readonly overtimeSeconds?: number;
}

/** The message to the process, one for each file: to convert it, or to read the description of a recording. */
export type ToConvertChild =
  | ({ readonly what: 'conversion' } & Omit<IsolatedInput, 'signal' | 'onProgress' | 'overtimeSeconds'>)
  | { readonly what: 'description'; readonly path: string; readonly maxSeconds: number };

/** The end of a conversion, and the memory of the process after it. */
export type ConvertEnd = { readonly residentBytes: number } & (
  | { kind: 'done'; conversion: Conversion }
  | { kind: 'described'; description: RecordingDescription }
  /** The conversion exceeded its time limit. */
  | { kind: 'late' }
  | { kind: 'refused'; message: string; place: TabularPlace; isEmpty: boolean }
  | { kind: 'failed'; message: string }
);

export type FromConvertChild = { kind: 'progress'; progress: ConvertProgress } | ConvertEnd;
